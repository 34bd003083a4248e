"""One request to an OpenAI-compatible endpoint: sent, read as it comes, ended by its limits."""

import asyncio
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from generator.errors import ModelTooSlow, ModelUnreachable
from generator.llm.completion import Completion, NoCompletion
from generator.llm.limits import Limit
from generator.llm.reading import ListenerFailed, OnGrowth, Reading
from generator.llm.refusals import LOOK_INTO_THE_LOG, refusal_of
from generator.settings import LanguageModelSettings
from indexer.untrusted import one_line, read_json

if TYPE_CHECKING:  # a command that calls no model does not wait for it
    import httpx

MOST_BYTES = 4_000_000  # of an answer; of a stream beside those of its tokens
BYTES_A_TOKEN = 1_000  # of a stream, each token in an event of its own
NO_SUCH_ADDRESS = frozenset({404, 405, 501})


class Endpoint:
    """The connections to one server; opened and closed by whoever sends."""

    def __init__(
        self, settings: LanguageModelSettings, transport: "httpx.AsyncBaseTransport | None" = None
    ) -> None:
        self.url = f"{settings.base_url}/chat/completions"
        self.settings = settings
        self._transport = transport
        self._client: httpx.AsyncClient  # from `open` on

    async def open(self) -> None:
        """Make the client, whose connections are kept between requests."""
        from indexer.http_client import open_client

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
        """Send a chat call and read its answer; whoever cancels this closes the connection.

        Raises:
            ModelUnreachable, ModelTooSlow, ModelRefusedCall, ModelAnswerInvalid: it failed.
            Exception: what `on_growth` raised, as it was.
        """
        import httpx

        reading = Reading(self.url, self.settings, limit, on_growth)
        most = MOST_BYTES + BYTES_A_TOKEN * self.settings.max_tokens
        try:
            async with (
                asyncio.timeout_at(reading.limit.at) as reading.timer,
                self._client.stream("POST", self.url, content=content, extensions={"most_bytes": most}) as it,
            ):
                await reading.read(it)
        except ListenerFailed as failed:
            raise failed.error from None
        except httpx.ConnectTimeout:
            raise self._no_connection() from None
        except TimeoutError:
            raise reading.too_slow() from None
        except httpx.RequestError as error:
            raise self._broken_off(error) if reading.begun else self._unreachable(error) from None
        except NoCompletion as error:
            raise self._broken_off(f"{error}, behind {reading.answer.pieces} pieces") from None
        return reading.answer

    async def exchange(
        self, method: str, url: str, body: Mapping[str, Any] | None, seconds: float
    ) -> "httpx.Response":
        """Send a small request beside the calls, and return its answer, read to its end.

        Raises:
            ModelUnreachable, ModelTooSlow: nothing came, or not all of it.
        """
        import httpx

        from indexer.http_client import exchange

        content = None if body is None else json_bytes(body)
        try:
            return await exchange(self._client, method, url, content, seconds=seconds, most_bytes=MOST_BYTES)
        except httpx.ConnectTimeout:
            raise self._no_connection() from None
        except httpx.ReadTimeout as error:
            raise ModelTooSlow(f"{url} {error}. Look at its load.") from None
        except httpx.RequestError as error:
            raise self._unreachable(error) from None

    async def ask(self, method: str, url: str, body: Mapping[str, Any] | None, limit: Limit) -> Any:
        """Send a small request, and return the JSON it is answered with; None without one.

        A status that says that there is no such address is None too: not every server has these.

        Raises:
            ModelUnreachable, ModelTooSlow, ModelRefusedCall: nothing came, or a refusal.
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

    def _no_connection(self) -> ModelTooSlow:
        return ModelTooSlow(f"{self._unreachable('no connection in time')}")

    def _unreachable(self, why: Exception | str) -> ModelUnreachable:
        return ModelUnreachable(
            f"cannot reach {self.url}: {self._shown(why)}. Start the server, or set SHRAG_LLM__BASE_URL to "
            "where it runs."
        )

    def _broken_off(self, why: Exception | str) -> ModelUnreachable:
        return ModelUnreachable(f"{self.url} broke off its answer: {self._shown(why)}. {LOOK_INTO_THE_LOG}")

    def _shown(self, why: Exception | str) -> str:
        return one_line(str(why), self.settings.api_key) or type(why).__name__


def json_bytes(body: Mapping[str, Any]) -> bytes:
    """Write a body; half of a surrogate pair, which no UTF-8 can hold, goes as "?"."""
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
