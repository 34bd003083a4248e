"""ScienceON: Korean papers from KISTI's API gateway; the reader of corpora reads the records.

A call needs a token that is valid for two hours. A request for a token contains the registered MAC address
and the time, encrypted with the key (AES-256 in CBC mode, with a fixed initialization vector).

Format: https://scienceon.kisti.re.kr/apigateway (token guide, search API).
"""

import asyncio
import json
import re
from base64 import urlsafe_b64encode
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Annotated

from pydantic import Field, StringConstraints

from base.errors import LibraryMissing
from base.extras import extra_remedy
from indexer.corpora.papers import FIRST_YEAR, LAST_YEAR
from indexer.corpora.readers.mapping import first
from indexer.corpora.readers.scienceon import ROOT, STATUS, STATUS_OK, fields_of, paper_record
from indexer.corpora.readers.xml_records import text_in
from indexer.settings import IndexerSettings
from retriever.sources.settings import Address, AtOnce, Key, Rate, WebSettings
from retriever.sources.web.boolean import Syntax, in_address
from retriever.sources.web.client import Call, NoAnswer, WebRequest
from retriever.sources.web.records import json_in, xml_in
from retriever.sources.web.source import AskedQuery, Page, Result, WebSource, bounds

PER_PAGE = 100
KEY_CHARACTERS = 32
NUMBER = re.compile(r"\b[A-Z]{2,8}[0-9A-Z]{4,40}\b")
TOKEN = re.compile(r"[0-9A-Za-z._-]{8,500}")
VECTOR = b"jvHJ1EFA0IXBrxxz"
KOREA = timezone(timedelta(hours=9))
CODE = re.compile(r"E?[0-9]{3,5}")
TOKEN_REFUSED = frozenset({"401", "E4103"})


class Settings(WebSettings):
    """Address of the gateway, and the values of the registration."""

    url: Address = "https://apigateway.kisti.re.kr"
    client_id: Key = Field(description="client id of the registration")
    api_key: Key = Field(
        min_length=KEY_CHARACTERS,
        max_length=KEY_CHARACTERS,
        description="authentication key of the gateway, 32 characters",
    )
    mac_address: Annotated[str, StringConstraints(pattern=r"^(?:[0-9A-F]{2}-){5}[0-9A-F]{2}$")] = Field(
        description="MAC address of the registration: AA-BB-CC-DD-EE-FF"
    )
    requests_per_second: Rate = 2
    at_once: AtOnce = 2


class TokenRefused(NoAnswer):
    """The token is no longer valid."""


class ScienceON(WebSource):
    """The gateway, open until `close`."""

    settings: Settings
    service = "ScienceON"
    syntax = Syntax(either="|", both=" ", without=" !", titles=False, length=in_address, longest=3_000)
    identifiers = NUMBER
    batch = 50
    per_page = PER_PAGE

    def __init__(self, name: str, settings: Settings, _: IndexerSettings | None = None) -> None:
        """Create the source; the first question connects. LibraryMissing without the encryption library."""
        super().__init__(name, settings)
        accounts("k" * KEY_CHARACTERS, settings.mac_address, datetime.now(KOREA))
        self._token, self._asking = "", asyncio.Lock()

    def _page_request(self, asked: AskedQuery, start: int, size: int) -> WebRequest:
        years = bounds(asked.filters, FIRST_YEAR, LAST_YEAR)
        fields = {"BI": asked.text} | ({"PY": f"{years[0]}~{years[1]}"} if years else {})
        return self._records(fields, start // size + 1, size)

    def _id_request(self, ids: Sequence[str]) -> WebRequest:
        return self._records({"CN": "|".join(ids)}, 1, PER_PAGE)

    def _records(self, fields: dict[str, str], page: int, size: int) -> WebRequest:
        search = {"version": "1.0", "action": "search", "target": "ARTI"}
        query = {"searchQuery": json.dumps(fields, ensure_ascii=False)}
        return WebRequest("/openapicall.do", search | query | {"curPage": str(page), "rowCount": str(size)})

    async def ask(self, request: WebRequest, call: Call, read: Callable[[bytes], Result]) -> Result:
        """Send a request with a token, again with a new one if it is refused."""
        client_id, refused = self.settings.client_id.get_secret_value(), ""
        while True:
            token = await self._other_token(refused, call)
            identity = {"client_id": client_id, "token": token}
            try:
                signed = replace(request, parameters={**identity, **request.parameters})
                return await super().ask(signed, call, read)
            except TokenRefused:
                if refused:
                    raise
                refused = token

    async def _other_token(self, refused: str, call: Call) -> str:
        """Return the known token; a new one if there is none, or if it was refused."""
        async with self._asking:
            if self._token in {"", refused}:
                key = self.settings.api_key.get_secret_value()
                told = accounts(key, self.settings.mac_address, datetime.now(KOREA))
                identity = {"client_id": self.settings.client_id.get_secret_value(), "accounts": told}
                request = WebRequest("/tokenrequest.do", identity)
                self._token = read_token(await self.client.send(request, call))
                self.client.secrets = [*self.client.secrets, self._token]
            return self._token

    def _read(self, content: bytes) -> Page:
        if content.lstrip()[:1] == b"{":  # some errors are not XML
            raise _refusal([first(json_in(content), "errorCode")])
        answer = xml_in(content, ROOT)
        status = text_in(answer, f"resultSummary/{STATUS}")
        if status != STATUS_OK:
            raise _refusal([status, *(text_in(each) for each in answer.iter("errorCode"))])
        records = map(fields_of, answer.iterfind("recordList/record"))
        return [self._paper(paper_record(fields)) for fields in records]


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
            "a source of the kind scienceon needs the library cryptography", remedy=extra_remedy("server")
        ) from None
    told = {"datetime": now.astimezone(KOREA).strftime("%Y%m%d%H%M%S"), "mac_address": mac_address}
    padder = padding.PKCS7(128).padder()
    padded = padder.update(json.dumps(told, separators=(",", ":")).encode()) + padder.finalize()
    encryptor = Cipher(algorithms.AES(key.encode()), modes.CBC(VECTOR)).encryptor()
    return urlsafe_b64encode(encryptor.update(padded) + encryptor.finalize()).decode()


def read_token(content: bytes) -> str:
    """Parse a token; NoAnswer, with only the gateway's code, if there is none."""
    answer = json_in(content)
    token = first(answer, "access_token")
    if not TOKEN.fullmatch(token):
        code = first(answer, "errorCode")
        raise NoAnswer(f"it gives no token{f' ({code})' if CODE.fullmatch(code) else ''}")
    return token


def _refusal(codes: Sequence[str]) -> NoAnswer:
    known = [code for code in codes if CODE.fullmatch(code)]
    what = f"it answers with the status {', '.join(known) or 'of no search'}"
    return TokenRefused(what) if TOKEN_REFUSED.intersection(known) else NoAnswer(what)


open_source = ScienceON
