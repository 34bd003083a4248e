"""Requests and answers of OAI-PMH 2.0 (https://www.openarchives.org/OAI/openarchivesprotocol.html).

The client is own code. oaipmh-scythe 0.16, the maintained library, takes an answer that breaks off for the
last page of a list, bounds neither answers nor pauses, and fails at a Retry-After date.
"""

import asyncio
import hashlib
import html
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, Self
from urllib.parse import parse_qs, quote, urlencode, urlsplit
from xml.etree.ElementTree import Element, ParseError, tostring

import httpx
from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

from base.amounts import plain
from base.errors import UnknownPath
from base.logs import get_logger
from base.net.backoff import TRANSIENT_STATUSES, growing_pauses, retry_after_s
from base.net.http_client import ResponseTooLarge, exchange, open_client
from base.net.user_agent import user_agent
from base.untrusted import FORBIDDEN_IN_XML, message_in, one_line
from indexer.settings import HarvestSettings

log = get_logger("harvest")

PREFIX = "oai:"
OAI_DC = "oai_dc"  # the metadata format that every repository has
EXAMPLE = "oai:https://repository.example.ac.kr/oai"
MOST_REDIRECTS = 5
LONGEST_OWN_PAUSE_S = 60.0  # between retries that the repository did not request
MOST_TAGS = 4_000_000  # of an answer
REFERENCE = re.compile(r"&(?:#?\w{1,32};)?")  # HTML knows more names than XML
NAMELESS = "record without an identifier"


@dataclass(frozen=True, slots=True)
class Repository:
    """An OAI-PMH repository, or one of its sets, in one metadata format."""

    url: str
    set: str = ""
    metadata_prefix: str = OAI_DC

    @classmethod
    def of(cls, path: str, *, set_: str = "", metadata_prefix: str = OAI_DC) -> Self:
        """Parse a path `oai:URL`.

        Raises:
            UnknownPath: the address is not one of a web server, has a password, or is that of a request.
        """
        url = path.removeprefix(PREFIX)
        try:
            parts = urlsplit(url)
            is_valid = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
        except ValueError:
            is_valid = False
        if not is_valid or not url.isprintable() or " " in url:
            raise UnknownPath(f"{path}: a repository is named by its web address, for example {EXAMPLE}")
        if "@" in parts.netloc:
            raise UnknownPath(f"{PREFIX}…: the address of a repository cannot contain a name or password")
        if parts.fragment or "verb" in parse_qs(parts.query):
            raise UnknownPath(f"{path}: name the address of the repository, without ?verb=… and #…")
        return cls(url, set_, metadata_prefix)

    @property
    def path(self) -> str:
        """The path `oai:URL` of the command line."""
        return f"{PREFIX}{self.url}"

    @property
    def name(self) -> str:
        """The path, and the set if there is one, for messages."""
        return f"{self.path} (set {self.set})" if self.set else self.path

    @property
    def host(self) -> str:
        """The host, which is the source of its papers."""
        return urlsplit(self.url).hostname or ""

    @property
    def slug(self) -> str:
        """A file name for the repository and set; another metadata format has the same one."""
        digest = hashlib.sha256(f"{self.url}\n{self.set}".encode()).hexdigest()
        return f"{re.sub(r'[^a-z0-9.-]', '-', self.host)[:60]}-{digest[:12]}"

    def as_record(self) -> dict[str, Any]:
        """Return the values as JSON."""
        return asdict(self)

    def request(self, arguments: Mapping[str, str]) -> str:
        """Return the address of a request; the addresses of some repositories contain a query."""
        return f"{self.url}{'&' if '?' in self.url else '?'}{urlencode(arguments, quote_via=quote, safe='')}"

    def list_arguments(self, *, from_: str = "", token: str = "") -> dict[str, str]:
        """Return the arguments for the first page of records, or for the page of a token (section 3.5)."""
        first = {"metadataPrefix": self.metadata_prefix, "set": self.set, "from": from_}
        given = {"resumptionToken": token} if token else first
        return {"verb": "ListRecords"} | {name: value for name, value in given.items() if value}


class RequestFailed(Exception):
    """A request that failed; if it is transient, a retry after `wait_s` seconds may succeed."""

    def __init__(self, why: str, *, transient: bool = False, wait_s: float = 0.0, status: int = 0) -> None:
        super().__init__(why)
        self.transient, self.wait_s, self.status = transient, wait_s, status


@dataclass(frozen=True, slots=True)
class ListedRecord:
    """A record of a page: its metadata as XML, empty if it is deleted or has a problem."""

    identifier: str
    deleted: bool = False
    metadata: bytes = b""
    problem: str = ""


@dataclass(slots=True)
class Answer:
    """The content of an answer: records, the last value of each other element, errors by code."""

    verb: str = ""  # the element beside responseDate and request
    records: list[ListedRecord] = field(default_factory=list)
    errors: dict[str, str] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)
    size: int = 0  # of the complete list, as announced; 0 if it is not

    def value(self, name: str) -> str:
        """Return the value of an element outside of records, "" without one."""
        return self.values.get(name, "")

    @property
    def error(self) -> str:
        """The errors in one line."""
        return "; ".join(f"{code}: {message}" for code, message in self.errors.items())


class RepositoryClient:
    """The connection to one repository; a context manager that closes it.

    One request is sent at a time. Answers are bounded in bytes and time, and a pause that the repository
    requests (Retry-After) is kept. Redirects are followed on the same host only, which the operator named.
    """

    def __init__(
        self, repository: Repository, settings: HarvestSettings, pause: Callable[[float], None] = time.sleep
    ) -> None:
        """Prepare; the first request connects."""
        self.repository, self.settings, self.pause = repository, settings, pause
        self.requests = self.retries = 0
        headers = {"User-Agent": user_agent(settings.contact), "Accept": "text/xml, */*;q=0.1"}
        # A redirect may lead from http to https.
        self._client = open_client(f"https://{repository.host}", None, connections=1, headers=headers)
        self._client.follow_redirects, self._client.max_redirects = True, MOST_REDIRECTS
        self._client.event_hooks["request"].append(self._check_host)
        self._runner = asyncio.Runner()

    def __enter__(self) -> Self:
        """Return the client."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection."""
        self._runner.run(self._client.aclose())
        self._runner.close()

    def ask(self, arguments: dict[str, str], *, retries: int | None = None) -> Answer:
        """Send a request and parse its answer, with at most `retries` retries, by default the setting.

        Raises:
            RequestFailed: the last retry failed, a retry is useless, or the requested pause is too long.
        """
        longest_s = self.settings.longest_pause_s
        left = self.settings.retries if retries is None else min(retries, self.settings.retries)
        pauses = growing_pauses(longest_s=min(LONGEST_OWN_PAUSE_S, longest_s))
        while True:
            try:
                return self._answer(arguments)
            except RequestFailed as failure:
                if not failure.transient or not left:
                    raise
                if failure.wait_s > longest_s:
                    why = f"it requests a pause of {plain(failure.wait_s)} s ({failure})"
                    raise RequestFailed(why) from None
                pause_s = max(failure.wait_s, next(pauses))
                log.info("request repeated", repository=self.repository.name, reason=str(failure))
            left, self.retries = left - 1, self.retries + 1
            self.pause(pause_s)

    def _answer(self, arguments: dict[str, str]) -> Answer:
        if self.requests:
            self.pause(self.settings.delay_s)
        self.requests += 1
        seconds, most = self.settings.timeout_s, self.settings.answer_bytes
        url = self.repository.request(arguments)
        try:
            response = self._runner.run(exchange(self._client, "GET", url, seconds=seconds, most_bytes=most))
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            unreached = isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, httpx.InvalidURL))
            why = "it cannot be reached" if unreached else "no complete answer"
            said = one_line(str(error)) or type(error).__name__
            transient = isinstance(error, httpx.TransportError) and not isinstance(error, ResponseTooLarge)
            raise RequestFailed(f"{why}: {said}", transient=transient) from None
        if response.status_code != httpx.codes.OK:
            raise _refusal(response)
        answer = parse_answer(response.content, self.settings.record_bytes)
        if answer.verb == arguments["verb"] or answer.errors:
            return answer
        raise RequestFailed(f"it does not answer to the verb {arguments['verb']}", transient=True)

    async def _check_host(self, request: httpx.Request) -> None:
        """Refuse a redirect to another host or port, or from https."""
        named, new = httpx.URL(self.repository.url), request.url
        if (named.host, named.port) == (new.host, new.port) and new.scheme in {"https", named.scheme}:
            return
        raise RequestFailed(
            f"it redirects to {one_line(str(new.copy_with(query=None)))}, which is not followed; "
            "name that address if it is the repository's"
        )


def _refusal(response: httpx.Response) -> RequestFailed:
    status, content = response.status_code, response.content[:10_000]
    said = "" if b"<" in content else one_line(message_in(content))
    return RequestFailed(
        f"it answers {status}{said and f': {said}'}",
        transient=status in TRANSIENT_STATUSES,
        wait_s=retry_after_s(response.headers.get("Retry-After", ""), datetime.now(UTC)) or 0.0,
        status=status,
    )


def parse_answer(content: bytes, record_bytes: int) -> Answer:
    """Parse an answer, repaired if single characters make it invalid XML.

    A record that is larger than `record_bytes` or too deep is kept without its metadata, with the problem.
    Names are compared without their namespace, which some repositories omit.

    Raises:
        RequestFailed: it is no valid answer of the protocol.
    """
    try:
        return _answer_of(_parsed(content), record_bytes)
    except DefusedXmlException:
        why = "it is XML with a DOCTYPE or custom entities, which is refused"
    except (ParseError, LookupError, ValueError) as error:
        why = f"it is not valid XML: {error}"
    if b"<html" in content[:2_000].lower():
        why = "it is a web page, not an answer of the protocol"
    raise RequestFailed(why, transient=True)


def _parsed(content: bytes) -> Element:
    if content.count(b"<") > MOST_TAGS:
        raise ValueError(f"more than {MOST_TAGS:,} tags")
    try:
        root = fromstring(content, forbid_dtd=True)
    except ParseError:
        root = fromstring(_repaired(content), forbid_dtd=True)
    if _name(root) != "OAI-PMH":
        raise ValueError(f"its root is <{one_line(_name(root))}>, not that of the protocol")
    return root


def _repaired(content: bytes) -> str:
    """Return a document in UTF-8, which the protocol demands, without what XML forbids.

    Names of HTML characters (&nbsp;) are replaced, and an ampersand without a name is escaped.
    """
    text = content.strip().decode("utf-8", "replace")
    text = REFERENCE.sub(lambda found: html.escape(html.unescape(found[0])), text)
    return FORBIDDEN_IN_XML.sub("", text)


def _answer_of(root: Element, record_bytes: int) -> Answer:
    answer = Answer()
    for part in root:
        if (name := _name(part)) == "error":
            answer.errors[one_line(part.get("code", ""))] = one_line(part.text or "")
        elif name not in {"responseDate", "request"}:
            answer.verb = name
        for element in part if name == "ListRecords" else ():
            if _name(element) == "record":
                answer.records.append(_record(element, record_bytes))
                element.clear()
    for element in root.iter():
        answer.values[_name(element)] = (element.text or "").strip()
        if (size := element.get("completeListSize", "")).isdecimal():
            answer.size = int(size[:12])
    return answer


def _record(element: Element, record_bytes: int) -> ListedRecord:
    parts = {_name(part): part for part in element}
    header = parts.get("header", element)
    named = {_name(part): (part.text or "").strip() for part in header}
    identifier = named.get("identifier")
    if not identifier:
        return ListedRecord(NAMELESS, problem="no identifier")
    if header.get("status") == "deleted":
        return ListedRecord(identifier, deleted=True)
    try:
        written = [tostring(metadata, encoding="utf-8") for metadata in parts.get("metadata", ())]
    except RecursionError:
        return ListedRecord(identifier, problem="nested too deeply")
    if not written:
        return ListedRecord(identifier, problem="no metadata")
    if len(written[0]) > record_bytes:
        return ListedRecord(identifier, problem=f"a record of more than {record_bytes:,} bytes")
    return ListedRecord(identifier, metadata=written[0].strip())


def _name(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]
