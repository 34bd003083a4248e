"""Requests to an OpenAI-compatible endpoint, with limits of time and size."""

import asyncio
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from base.untrusted import one_line, read_json
from generator.errors import ModelFailed, ModelTooSlow, ModelUnreachable
from generator.llm.limits import Limit
from generator.llm.replies import Completion, NoCompletion
from generator.llm.responses import SEE_THE_LOG, OnGrowth, Reading, refusal_of
from generator.settings import LanguageModelSettings

if TYPE_CHECKING:  # commands without model calls do not import it
    import httpx

MOST_BYTES = 4_000_000  # of a small response: a list of models, or the tokens of a long prompt
BASE_BYTES, BYTES_A_TOKEN = 1_000_000, 1_000  # limit of a chat response; in a stream, each token is an event
NO_SUCH_ADDRESS = frozenset({404, 405, 501})


class Endpoint:
    """The connections to one server; the caller opens and closes them."""

    def __init__(
        self, settings: LanguageModelSettings, transport: "httpx.AsyncBaseTransport | None" = None
    ) -> None:
        self.url = f"{settings.base_url}/chat/completions"
        self.settings = settings
        self._transport = transport
        self._client: httpx.AsyncClient  # set by `open`

    async def open(self) -> None:
        """Make the client, which keeps connections alive between requests."""
        from base.net.http_client import open_client

        self._client = open_client(
            self.url,
            self.settings.api_key,
            ca_certs=self.settings.ca_certs,
            connections=self.settings.concurrency,
            transport=self._transport,
        )

    async def close(self) -> None:
        """Close the client and its connections."""
        await self._client.aclose()

    async def complete(self, content: bytes, limit: Limit, on_growth: OnGrowth | None = None) -> Completion:
        """Send a chat call and read its answer; cancelling closes the connection.

        Raises:
            ModelUnreachable, ModelTooSlow, ModelRefusedCall, ModelAnswerInvalid: the call failed.
            ListenerFailed: `on_growth` raised.
        """
        import httpx

        reading = Reading(self.url, self.settings, limit, on_growth)
        most = BASE_BYTES + BYTES_A_TOKEN * self.settings.max_tokens
        try:
            async with (
                asyncio.timeout_at(reading.limit.at) as reading.timer,
                self._client.stream("POST", self.url, content=content, extensions={"most_bytes": most}) as it,
            ):
                await reading.read(it)
        except TimeoutError:
            raise reading.too_slow() from None
        except httpx.RequestError as error:
            raise self._failed(self.url, error) from None
        except NoCompletion as error:
            raise self._broken_off(self.url, f"{error}, after {reading.answer.pieces} pieces") from None
        return reading.answer

    async def exchange(
        self, method: str, url: str, body: Mapping[str, Any] | None, seconds: float
    ) -> "httpx.Response":
        """Send a small request outside the chat calls and return its complete response.

        Raises:
            ModelUnreachable, ModelTooSlow: no response, or an incomplete one.
        """
        import httpx

        from base.net.http_client import exchange

        content = None if body is None else json_bytes(body)
        try:
            return await exchange(self._client, method, url, content, seconds=seconds, most_bytes=MOST_BYTES)
        except httpx.RequestError as error:
            raise self._failed(url, error) from None

    async def ask(self, method: str, url: str, body: Mapping[str, Any] | None, limit: Limit) -> Any:
        """Send a small request and return the JSON of its response.

        None if the response is not JSON or the server does not have this endpoint.

        Raises:
            ModelUnreachable, ModelTooSlow, ModelRefusedCall: no response, or a refusal.
        """
        response = await self.exchange(method, url, body, limit.left)
        if response.status_code in NO_SUCH_ADDRESS:
            return None
        if not response.is_success:
            raise refusal_of(response, response.content, url, self.settings)
        try:
            return read_json(response.content)
        except ValueError:
            return None

    def _failed(self, url: str, error: "httpx.RequestError") -> ModelFailed:
        """Return the error of a request without a complete response."""
        import httpx

        why = one_line(str(error), self.settings.api_key) or type(error).__name__
        start = "Start the server, or set SHRAG_LLM__BASE_URL to its address."
        if isinstance(error, httpx.ConnectTimeout):
            return ModelTooSlow(f"cannot reach {url}: no connection in time. {start}")
        if isinstance(error, httpx.TimeoutException):
            return ModelTooSlow(f"{url} {why}. Check its load.")
        if isinstance(error, httpx.ConnectError):
            return ModelUnreachable(f"cannot reach {url}: {why}. {start}")
        return self._broken_off(url, why)

    def _broken_off(self, url: str, why: str) -> ModelUnreachable:
        return ModelUnreachable(f"{url} gave no complete answer: {why}. {SEE_THE_LOG}")


def json_bytes(body: Mapping[str, Any]) -> bytes:
    """Encode a body as UTF-8; a lone surrogate, which UTF-8 cannot encode, becomes "?"."""
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
