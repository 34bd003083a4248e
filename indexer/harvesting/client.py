"""Requests to a repository, one at a time and bounded in bytes and time, and the parser of the answers.

A pause that the repository requests (Retry-After) is kept, up to the longest one of the settings. Redirects
are followed on the same host only, since the operator named the host and nothing else.
"""

import asyncio
import html
import re
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from io import BytesIO
from typing import Self
from xml.etree.ElementTree import Element, ParseError, tostring

import httpx
from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import iterparse

from base.amounts import plain
from base.logs import get_logger
from base.net.backoff import TRANSIENT_STATUSES, growing_pauses, retry_after_s
from base.net.http_client import ResponseTooLarge, exchange, open_client
from base.net.user_agent import user_agent
from base.untrusted import message_in, one_line
from indexer.harvesting.repository import Repository
from indexer.settings import HarvestSettings

log = get_logger("harvest")

MOST_REDIRECTS = 5
LONGEST_OWN_PAUSE_S = 60.0  # between retries that the repository did not request
MOST_ELEMENTS, NESTING = 2_000_000, 50  # of an answer
DECLARATION_BYTES = 1_000
DECLARATION = re.compile(rb"""^\s*<\?xml[^>]*?(?:encoding\s*=\s*["']([\w.-]{1,40})["'][^>]*)?\?>""")
# Characters that XML 1.0 forbids (section 2.2), and references, of which HTML knows more than XML.
FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
REFERENCE = re.compile(r"&(?:#?\w{1,32};)?")


class RequestFailed(Exception):
    """A request that failed; if it is transient, a retry after `wait_s` seconds may succeed."""

    def __init__(self, why: str, *, transient: bool = False, wait_s: float = 0.0, status: int = 0) -> None:
        super().__init__(why)
        self.transient, self.wait_s, self.status = transient, wait_s, status


@dataclass(frozen=True, slots=True)
class ListedRecord:
    """A record of a page: its metadata as XML, empty if it is deleted or has a problem."""

    identifier: str
    datestamp: str = ""
    deleted: bool = False
    metadata: bytes = b""
    problem: str = ""


@dataclass(slots=True)
class Answer:
    """The content of an answer: records, errors of the protocol (code, message), and values by element."""

    verb: str = ""  # the element beside responseDate and request
    records: list[ListedRecord] = field(default_factory=list)
    nameless: int = 0  # records without an identifier
    errors: list[tuple[str, str]] = field(default_factory=list)
    values: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    size: int = 0  # of the complete list, as announced; 0 if it is not
    repaired: bool = False

    def last(self, name: str) -> str:
        """Return the last value of an element outside of records, "" without one."""
        return self.values[name][-1] if self.values[name] else ""


class RepositoryClient:
    """The connection to one repository; a context manager that closes it."""

    def __init__(
        self, repository: Repository, settings: HarvestSettings, pause: Callable[[float], None] = time.sleep
    ) -> None:
        """Prepare; the first request connects."""
        self.repository, self.settings, self.pause = repository, settings, pause
        self.requests = self.retries = 0
        headers = {"User-Agent": user_agent(settings.contact), "Accept": "text/xml, */*;q=0.1"}
        if "@" in settings.contact and "://" not in settings.contact:
            headers["From"] = settings.contact
        # A redirect may lead from http to https.
        self._client = open_client(f"https://{repository.host}", None, connections=1, headers=headers)
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
        most = self.settings.retries if retries is None else min(retries, self.settings.retries)
        for done, own_pause_s in enumerate(growing_pauses(longest_s=min(LONGEST_OWN_PAUSE_S, longest_s))):
            try:
                return self._answer(arguments)
            except RequestFailed as failure:
                if not failure.transient or done >= most:
                    raise
                if failure.wait_s > longest_s:
                    why = f"it requests a pause of {plain(failure.wait_s)} s ({failure})"
                    raise RequestFailed(why) from None
                pause_s = max(failure.wait_s, own_pause_s)
                log.info("request repeated", repository=self.repository.name, reason=str(failure))
            self.retries += 1
            self.pause(pause_s)
        raise AssertionError("pauses have no end")

    def _answer(self, arguments: dict[str, str]) -> Answer:
        """Return an answer; follow redirects on the same host."""
        address = self.repository.request(arguments)
        for _ in range(MOST_REDIRECTS + 1):
            response = self._get(address)
            if response.has_redirect_location:
                address = _redirected(address, response.headers["Location"])
                continue
            answer = parse_answer(response.content, self.settings.record_bytes)
            if answer.verb == arguments["verb"] or answer.errors:
                return answer
            raise RequestFailed(f"it does not answer to the verb {arguments['verb']}", transient=True)
        raise RequestFailed(f"it redirects more than {MOST_REDIRECTS} times")

    def _get(self, address: str) -> httpx.Response:
        """Return a complete response; RequestFailed unless its status is 200 or a redirect's."""
        if self.requests:
            self.pause(self.settings.delay_s)
        self.requests += 1
        seconds, most = self.settings.timeout_s, self.settings.answer_bytes
        try:
            response = self._runner.run(
                exchange(self._client, "GET", address, seconds=seconds, most_bytes=most)
            )
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            useless = isinstance(error, (ResponseTooLarge, httpx.DecodingError, httpx.InvalidURL))
            unreached = isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout))
            why = "it cannot be reached" if unreached else "no complete answer"
            said = one_line(str(error)) or type(error).__name__
            raise RequestFailed(f"{why}: {said}", transient=not useless) from None
        status = response.status_code
        if status == httpx.codes.OK or response.has_redirect_location:
            return response
        content = response.content[:10_000]
        said = "" if b"<" in content[:200] else one_line(message_in(content))
        raise RequestFailed(
            f"it answers {status}{said and f': {said}'}",
            transient=status in TRANSIENT_STATUSES,
            wait_s=retry_after_s(response.headers.get("Retry-After", ""), datetime.now(UTC)) or 0.0,
            status=status,
        )


def _redirected(address: str, location: str) -> str:
    """Return the address of a redirect; RequestFailed if it leads to another host or port, or from https."""
    try:
        old, new = httpx.URL(address), httpx.URL(address).join(location)
    except (httpx.InvalidURL, ValueError):
        raise RequestFailed(f"it redirects to an invalid address ({one_line(location)})") from None
    is_same = (old.host, old.port) == (new.host, new.port)  # a default port is None
    if is_same and new.scheme in {"https", old.scheme}:
        return str(new)
    raise RequestFailed(
        f"it redirects to {one_line(str(new.copy_with(query=None)))}, which is not followed; "
        "name that address if it is the repository's"
    )


def parse_answer(content: bytes, record_bytes: int) -> Answer:
    """Parse an answer, repaired if single characters make it invalid XML.

    A record that is larger than `record_bytes` or too deep is kept without its metadata, with the problem.

    Raises:
        RequestFailed: it is no valid answer of the protocol.
    """
    try:
        try:
            return _parse(content, record_bytes)
        except ParseError:
            answer = _parse(_repaired(content), record_bytes)
            answer.repaired = True
            return answer
    except DefusedXmlException:
        why = "it is XML with a DOCTYPE or custom entities, which is refused"
    except (ParseError, LookupError, ValueError) as error:
        why = f"it is not valid XML: {error}"
    if b"<html" in content[:2_000].lower():
        why = "it is a web page, not an answer of the protocol"
    raise RequestFailed(why, transient=True)


def _parse(content: bytes, record_bytes: int) -> Answer:
    """Parse an answer; names are compared without their namespace, which some repositories omit."""
    answer, path, deepest, elements = Answer(), list[str](), 0, 0
    for event, element in iterparse(BytesIO(content), ("start", "end"), forbid_dtd=True):
        name = _name(element)
        if event == "start":
            path.append(name)
            elements, deepest = elements + 1, max(deepest, len(path))
            if len(path) == 1 and name != "OAI-PMH":
                raise ValueError(f"its root is <{one_line(name)}>, not that of the protocol")
            if len(path) == 2:  # noqa: PLR2004 - OAI-PMH/ListRecords
                answer.verb = name
            if elements > MOST_ELEMENTS or (deepest > NESTING and "record" not in path):
                raise ValueError(
                    f"more than {MOST_ELEMENTS:,} elements, or nested deeper than {NESTING} levels"
                )
            continue
        path.pop()
        if path == ["OAI-PMH", "ListRecords"] and name == "record":
            record = _record(element, deepest, record_bytes)
            answer.records += [record] if record.identifier else []
            answer.nameless += not record.identifier
            element.clear()
            deepest = 0
        elif path == ["OAI-PMH"] and name == "error":
            answer.errors.append((element.get("code", ""), one_line(element.text or "")))
        elif "record" not in path:
            answer.values[name].append((element.text or "").strip())
            if name == "resumptionToken" and (size := element.get("completeListSize", "")).isdecimal():
                answer.size = int(size[:12])
    return answer


def _record(element: Element, deepest: int, record_bytes: int) -> ListedRecord:
    parts = {_name(part): part for part in element}
    header = parts.get("header", element)
    named = {_name(part): (part.text or "").strip() for part in header}
    metadata = next(iter(parts.get("metadata", ())), None)
    deleted = header.get("status") == "deleted"
    written, problem = b"", ""
    if metadata is None:
        problem = "no metadata"
    elif deepest > NESTING:
        problem = f"nested deeper than {NESTING} levels"
    else:
        metadata.tail = None
        written = tostring(metadata, encoding="utf-8")
    if len(written) > record_bytes:
        written, problem = b"", f"a record of more than {record_bytes:,} bytes"
    found = ListedRecord(named.get("identifier", ""), named.get("datestamp", ""), deleted)
    return found if deleted else replace(found, metadata=written, problem=problem)


def _name(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _repaired(content: bytes) -> bytes:
    """Return a document in UTF-8 without forbidden characters.

    Bytes that are invalid in the declared encoding become U+FFFD. Names of HTML characters (&nbsp;) are
    replaced, and an ampersand without a name is escaped.
    """
    declared = DECLARATION.match(content[:DECLARATION_BYTES])
    encoding = declared[1].decode("ascii") if declared and declared[1] else "utf-8"
    text = content[declared.end() if declared else 0 :].decode(encoding, "replace")
    text = REFERENCE.sub(lambda found: html.escape(html.unescape(found[0])), text)
    return FORBIDDEN.sub("", text).encode("utf-8", "replace")
