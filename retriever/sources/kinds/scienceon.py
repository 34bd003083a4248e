"""ScienceON: Korean papers from KISTI's API gateway, whose answers `indexer.corpora.readers` parses.

A call needs a token that is valid for two hours. A request for a token contains the registered MAC address
and the time, encrypted with the key (AES-256 in CBC mode, with a fixed initialization vector).

Format: https://scienceon.kisti.re.kr/apigateway (token guide, search API).
"""

import asyncio
import json
import re
import time
from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Annotated, Any
from urllib.parse import quote_plus

from pydantic import AfterValidator, Field, SecretStr, StringConstraints

from base.errors import LibraryMissing
from base.extras import extra_remedy
from indexer.corpora.papers import FIRST_YEAR, LAST_YEAR
from indexer.corpora.readers.scienceon import ROOT, STATUS, STATUS_OK, paper_record
from retriever.queries.filters import Filters
from retriever.sources import SourceFeatures, SourcePaper
from retriever.sources.settings import Address, AtOnce, Key, Rate, WebSettings
from retriever.sources.web.boolean import Syntax, searched_everywhere
from retriever.sources.web.client import WebRequest
from retriever.sources.web.records import (
    Unreadable,
    address,
    at,
    doi,
    json_in,
    paper_of,
    text,
    text_in,
    xml_in,
)
from retriever.sources.web.source import AskedQuery, Conversation, Page, WebSource

PER_PAGE = 100
KEY_CHARACTERS = 32
NUMBER = re.compile(r"[A-Z]{2,8}[0-9A-Z]{4,40}")
TOKEN = re.compile(r"[0-9A-Za-z._-]{8,500}")
TOKEN_S = 100 * 60.0  # renewed before it expires after two hours
VECTOR = b"jvHJ1EFA0IXBrxxz"
KOREA = timezone(timedelta(hours=9))
CODE = re.compile(r"E?[0-9]{3,5}")
TOKEN_REFUSED = frozenset({"401", "E4103"})


def _as_long_as_the_cipher_wants(value: SecretStr) -> SecretStr:
    if len(value.get_secret_value()) != KEY_CHARACTERS:
        raise ValueError(f"the authentication key has {KEY_CHARACTERS} characters")
    return value


class Settings(WebSettings):
    """Address of the gateway, and the values of the registration."""

    url: Address = "https://apigateway.kisti.re.kr"
    client_id: Key = Field(description="client id of the registration")
    api_key: Annotated[Key, AfterValidator(_as_long_as_the_cipher_wants)] = Field(
        description="authentication key of the gateway, 32 characters"
    )
    mac_address: Annotated[str, StringConstraints(pattern=r"^(?:[0-9A-F]{2}-){5}[0-9A-F]{2}$")] = Field(
        description="MAC address of the registration: AA-BB-CC-DD-EE-FF"
    )
    requests_per_second: Rate = 2
    at_once: AtOnce = 2


SYNTAX = Syntax(
    word=searched_everywhere,
    either="|",
    both=" ",
    without=" !",
    titles=False,
    length=lambda query: len(quote_plus(query)),
    longest=3_000,
)


def search_text(query: str, filters: Filters) -> str:
    """Format the parameter `searchQuery`: words of all fields, and years."""
    fields = {"BI": query}
    years = filters.years
    if years and (years.low or years.high):
        fields["PY"] = f"{years.low or FIRST_YEAR}~{years.high or LAST_YEAR}"
    return json.dumps(fields, ensure_ascii=False)


def accounts(key: str, mac_address: str, now: datetime) -> str:
    """Encrypt the contents of a request for a token.

    Raises:
        LibraryMissing: the encryption library is not installed.
    """
    try:
        from cryptography.hazmat.primitives import padding
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    except ImportError:
        raise LibraryMissing(
            "a source of the kind scienceon needs the library cryptography",
            remedy=extra_remedy("server"),
        ) from None
    told = {"datetime": now.astimezone(KOREA).strftime("%Y%m%d%H%M%S"), "mac_address": mac_address}
    padder = padding.PKCS7(128).padder()
    padded = padder.update(json.dumps(told, separators=(",", ":")).encode()) + padder.finalize()
    encryptor = Cipher(algorithms.AES(key.encode()), modes.CBC(VECTOR)).encryptor()
    return urlsafe_b64encode(encryptor.update(padded) + encryptor.finalize()).decode()


def read_token(content: bytes) -> str:
    """Parse a token; Unreadable, with only the gateway's code, if there is none."""
    answer = json_in(content)
    token = text(at(answer, "access_token"))
    if not TOKEN.fullmatch(token):
        code = text(at(answer, "errorCode"))
        raise Unreadable(f"it gives no token{f' ({code})' if CODE.fullmatch(code) else ''}")
    return token


class TokenRefused(Unreadable):
    """The token is no longer valid."""


def read_records(content: bytes, source: str) -> list[SourcePaper | None]:
    """Parse the records of a search; TokenRefused if a new token may help."""
    if content.lstrip()[:1] == b"{":  # some errors are not XML
        raise _refusal([text(at(json_in(content), "errorCode"))])
    answer = xml_in(content, ROOT)
    status = text_in(answer.find(f"resultSummary/{STATUS}")).strip()
    if status != STATUS_OK:
        raise _refusal([status, *(text_in(each).strip() for each in answer.iter("errorCode"))])
    return [_read_record(record, source) for record in answer.iterfind("recordList/record")]


def _refusal(codes: Sequence[str]) -> Unreadable:
    known = [code for code in codes if CODE.fullmatch(code)]
    what = f"it answers with the status {', '.join(known) or 'of no search'}"
    return TokenRefused(what) if TOKEN_REFUSED.intersection(known) else Unreadable(what)


def _read_record(record: Any, source: str) -> SourcePaper | None:
    fields: dict[str, str] = {}
    for item in record.iterfind("item"):
        code, value = item.get("metaCode", ""), text_in(item).strip()
        fields[code] = f"{fields[code]};{value}" if fields.get(code) and value else fields.get(code) or value
    paper: dict[str, Any] = dict(paper_record(fields))
    if not NUMBER.fullmatch(str(paper.get("id", ""))):
        return None
    return paper_of(source, {**paper, "doi": doi(paper.get("doi", "")), "url": address(paper.get("url", ""))})


class ScienceON(WebSource):
    """The gateway, open until `close`."""

    service = "ScienceON"
    features = SourceFeatures(private=False)
    syntax = SYNTAX
    identifiers = NUMBER
    batch = 50
    per_page = PER_PAGE
    whole_pages = True

    def __init__(self, name: str, settings: Settings) -> None:
        """Create the source; the first question connects."""
        super().__init__(name, settings)
        self._settings = settings
        # Raises now if the library is missing.
        accounts("k" * KEY_CHARACTERS, settings.mac_address, datetime.now(KOREA))
        self._token, self._good_until = "", 0.0
        self._asking = asyncio.Lock()

    async def page(self, asked: AskedQuery, start: int, size: int, conversation: Conversation) -> Page:
        """Return a page by relevance."""
        query = search_text(asked.text, asked.filters)
        return await self._records(query, start // size + 1, size, conversation)

    async def fetch(self, ids: Sequence[str], conversation: Conversation) -> Page:
        """Return records by number."""
        return await self._records(json.dumps({"CN": "|".join(ids)}), 1, PER_PAGE, conversation)

    async def _records(self, query: str, page: int, size: int, conversation: Conversation) -> Page:
        parameters = {
            "version": "1.0",
            "action": "search",
            "target": "ARTI",
            "searchQuery": query,
            "curPage": str(page),
            "rowCount": str(size),
        }
        token = await self._good_token(conversation)
        try:
            return await self._call(parameters, token, conversation)
        except TokenRefused:
            return await self._call(parameters, await self._good_token(conversation, but=token), conversation)

    async def _call(self, parameters: Mapping[str, str], token: str, conversation: Conversation) -> Page:
        identity = {"client_id": self._settings.client_id.get_secret_value(), "token": token}
        content = await conversation.ask(WebRequest("/openapicall.do", {**identity, **parameters}))
        return await self.read(read_records, content, self.name)

    async def _good_token(self, conversation: Conversation, *, but: str = "") -> str:
        """Return a token; a new one if there is none, or if it is old or was refused."""
        async with self._asking:
            if self._token in {"", but} or time.monotonic() > self._good_until:
                key, now = self._settings.api_key.get_secret_value(), datetime.now(KOREA)
                parameters = {
                    "client_id": self._settings.client_id.get_secret_value(),
                    "accounts": accounts(key, self._settings.mac_address, now),
                }
                content = await conversation.ask(WebRequest("/tokenrequest.do", parameters))
                self._token = await self.read(read_token, content)
                self._good_until = time.monotonic() + TOKEN_S
                self.client.hide(self._token)
            return self._token


open_source = ScienceON.open
