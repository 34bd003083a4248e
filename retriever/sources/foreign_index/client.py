"""Searches on a foreign Elasticsearch or OpenSearch server, with `_msearch` only.

It does not use the official clients, because they refuse servers of other versions and vendors.
"""

import asyncio
import base64
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pydantic import SecretStr

from base.net.backoff import TRANSIENT_STATUSES
from base.net.http_client import exchange, open_client
from base.untrusted import message_in, message_of, one_line, without_key
from retriever.errors import SourceFailed, SourceSilent
from retriever.sources.foreign_index.queries import Body
from retriever.sources.foreign_index.records import has_hits
from retriever.sources.foreign_index.settings import Settings
from retriever.sources.web.records import Unreadable, json_in

if TYPE_CHECKING:  # loaded where a source is opened
    import httpx

TRIES, PAUSE_S = 3, 0.3
MOST_NOTES = 3


class ElasticsearchClient:
    """The connections to a server, for one index."""

    def __init__(
        self, name: str, settings: Settings, transport: "httpx.AsyncBaseTransport | None" = None
    ) -> None:
        """Create a client, which connects when needed."""
        self._name, self._settings = name, settings
        self._client = open_client(settings.url, None, ca_certs=settings.ca_certs, transport=transport)
        if settings.api_key.get_secret_value():
            self._client.headers["Authorization"] = f"ApiKey {settings.api_key.get_secret_value()}"
        elif settings.user:
            pair = f"{settings.user}:{settings.password.get_secret_value()}".encode()
            self._client.headers["Authorization"] = f"Basic {base64.b64encode(pair).decode()}"
        sent = SecretStr(self._client.headers.get("Authorization", "").partition(" ")[2])
        self._secrets = [secret for secret in (settings.api_key, settings.password, sent) if secret]

    async def search(self, bodies: Sequence[Body]) -> tuple[list[dict[str, Any]], list[str]]:
        """Send searches in one request; return one answer each, empty with a note if the search failed.

        Raises:
            SourceFailed: the request failed, or all of its searches.
        """
        lines = [line for body in bodies for line in (b"{}", json.dumps(body, ensure_ascii=False).encode())]
        index = quote(self._settings.index, safe="*,-+.:")
        response = await self._post(f"{index}/_msearch", b"\n".join(lines) + b"\n")
        return await asyncio.to_thread(self._answers_in, response, len(bodies))

    async def close(self) -> None:
        """Close connections."""
        await self._client.aclose()

    def _answers_in(self, response: dict[str, Any], count: int) -> tuple[list[dict[str, Any]], list[str]]:
        answers = response.get("responses")
        if not isinstance(answers, list) or len(answers) != count:
            raise self._failed(f"its answer is not that of _msearch: {message_of(response)}")
        notes, failures = [], 0
        for place, answer in enumerate(answers):
            if not isinstance(answer, dict) or answer.get("error") or not has_hits(answer):
                failures += 1
                notes.append(f"a query failed: {self._line(message_of(answer))}")
                answers[place] = {}
            elif answer.get("timed_out") or _failed_shards(answer):
                notes.append("a part of it did not answer in time: some papers may be missing")
        if failures == len(answers):
            raise self._failed(notes[0])
        return answers, list(dict.fromkeys(notes))[:MOST_NOTES]

    async def _post(self, path: str, content: bytes) -> dict[str, Any]:
        """Send a request, with retries if they may help, and parse the answer as a JSON object.

        Raises:
            SourceSilent: no answer within `timeout_s`, including retries.
            SourceFailed: no answer, or an invalid one.
        """
        import httpx

        now = asyncio.get_running_loop().time
        until = now() + self._settings.timeout_s
        for tries_left in reversed(range(TRIES)):
            try:
                response = await exchange(
                    self._client,
                    "POST",
                    f"{self._settings.url}/{path}",
                    content,
                    seconds=max(0.0, until - now()),
                    most_bytes=self._settings.answer_bytes,
                )
            except httpx.ReadTimeout as error:
                raise SourceSilent(self._told(str(error))) from None
            except (httpx.RequestError, httpx.InvalidURL) as error:
                if tries_left and isinstance(error, httpx.ConnectError):
                    await asyncio.sleep(PAUSE_S)
                    continue
                why = str(error) or type(error).__name__
                unreached = isinstance(error, httpx.ConnectError)
                raise self._failed(f"it cannot be reached: {why}" if unreached else why) from None
            if response.status_code not in TRANSIENT_STATUSES or not tries_left:
                return await asyncio.to_thread(self._read, response)
            await asyncio.sleep(PAUSE_S)
        raise AssertionError  # the last attempt returned or raised

    def _read(self, response: "httpx.Response") -> dict[str, Any]:
        if response.has_redirect_location:
            raise self._failed("it answers with a redirect, which is not followed: set the final address")
        if not response.is_success:
            raise self._failed(f"status {response.status_code}: {message_in(response.content)}")
        try:
            answer = json_in(response.content)
        except Unreadable as error:
            raise self._failed(str(error)) from None
        if not isinstance(answer, dict):
            raise self._failed("its answer is no JSON object")
        return answer

    def _failed(self, why: str) -> SourceFailed:
        return SourceFailed(self._told(why))

    def _told(self, why: str) -> str:
        """Return an error about the source; it does not contain the server's address."""
        where = f" at {self._settings.url}" if self._settings.private else ""
        return f"source {self._name!r}{where}: {self._line(why)}"

    def _line(self, text: str) -> str:
        """Make one line, with credentials hidden, plain and encoded, before the line is cut."""
        for secret in self._secrets:
            text = without_key(text, secret)
        return one_line(text)


def _failed_shards(answer: dict[str, Any]) -> bool:
    shards = answer.get("_shards")
    return bool(isinstance(shards, dict) and shards.get("failed"))
