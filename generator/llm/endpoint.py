"""One request to an OpenAI-compatible endpoint: sent, read as it comes, ended by its limits."""

import asyncio
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from generator.errors import ModelTooSlow, ModelUnreachable
from generator.llm.completion import NoCompletion
from generator.llm.events import TooLong
from generator.llm.limits import Limit
from generator.llm.reading import ListenerFailed, OnGrowth, Reading
from generator.llm.refusals import LOOK_INTO_THE_LOG, refusal_of, shown
from generator.settings import LanguageModelSettings

if TYPE_CHECKING:  # a command that calls no model does not wait for it
    import httpx

CONNECT_S = 10.0
NO_SUCH_ADDRESS = frozenset({404, 405, 501})


class Endpoint:
    """The connections to one server; opened and closed by whoever sends.

    Environment variables for proxies, certificates and .netrc are not read: the settings alone say where to.
    """

    def __init__(
        self, settings: LanguageModelSettings, transport: "httpx.AsyncBaseTransport | None" = None
    ) -> None:
        self.url = f"{settings.base_url}/chat/completions"
        self.settings = settings
        self._transport = transport
        self._client: httpx.AsyncClient  # from `open` on

    async def open(self) -> None:
        """Make the client, whose connections are kept between requests."""
        import httpx

        headers = {"Content-Type": "application/json"}
        if self.settings.api_key:
            headers["Authorization"] = f"Bearer {self.settings.api_key.get_secret_value()}"
        self._client = httpx.AsyncClient(
            transport=self._transport,
            headers=headers,
            timeout=httpx.Timeout(None, connect=min(CONNECT_S, self.settings.timeout_s)),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=self.settings.concurrency),
            trust_env=False,
            # Redirects are not followed, so http stays http; reading certificates takes longer than a search.
            verify=self.url.startswith("https:"),
        )

    async def close(self) -> None:
        """Close the client and its connections."""
        await self._client.aclose()

    async def complete(self, content: bytes, limit: Limit, on_growth: OnGrowth | None = None) -> Reading:
        """Send a chat call and read its answer; whoever cancels this closes the connection.

        Raises:
            ModelUnreachable, ModelTooSlow, ModelRefusedCall, ModelAnswerInvalid: it failed.
            Exception: what `on_growth` raised, as it was.
        """
        import httpx

        reading = Reading(self.url, self.settings, limit, on_growth)
        try:
            async with asyncio.timeout_at(reading.limit.at) as reading.timer:
                async with self._client.stream("POST", self.url, content=content) as response:
                    reading.begun = True
                    await reading.read(response)
                    return reading
        except ListenerFailed as failed:
            raise failed.error from None
        except httpx.ConnectTimeout as error:
            raise self.unreachable(error) from error
        except (TimeoutError, httpx.TimeoutException):
            raise reading.too_slow() from None
        except httpx.RequestError as error:
            if reading.begun:
                raise self.broken_off(str(error) or type(error).__name__) from error
            raise self.unreachable(error) from error
        except (NoCompletion, TooLong) as error:
            raise self.broken_off(f"{error}, behind {reading.growing.pieces} pieces") from None

    async def ask(self, method: str, url: str, body: Mapping[str, Any] | None, limit: Limit) -> Any:
        """Send a small request beside the calls, and return the JSON it is answered with; None without one.

        A status that says that there is no such address is None too: not every server has these.

        Raises:
            ModelUnreachable, ModelTooSlow, ModelRefusedCall: nothing came, or a refusal.
        """
        import httpx

        content = None if body is None else json_bytes(body)
        try:
            async with asyncio.timeout_at(limit.at):
                response = await self._client.request(method, url, content=content)
        except (TimeoutError, httpx.TimeoutException):
            raise ModelTooSlow(f"{url} gave nothing within {limit}. Look at its load.") from None
        except httpx.RequestError as error:
            raise self.unreachable(error) from error
        if response.status_code in NO_SUCH_ADDRESS:
            return None
        if not response.is_success:
            raise refusal_of(response, response.content, url, self.settings)
        try:
            return response.json()
        except ValueError:
            return None

    def unreachable(self, error: Exception) -> ModelUnreachable:
        """Return the error for a call of whose answer nothing came."""
        why = shown(str(error), self.settings) or type(error).__name__
        return ModelUnreachable(
            f"cannot reach {self.url}: {why}. Start the server, or set SHRAG_LLM__BASE_URL to where it runs."
        )

    def broken_off(self, why: str) -> ModelUnreachable:
        """Return the error for an answer that began and did not come to its end."""
        return ModelUnreachable(
            f"{self.url} broke off its answer: {shown(why, self.settings)}. {LOOK_INTO_THE_LOG}"
        )


def json_bytes(body: Mapping[str, Any]) -> bytes:
    """Write a body; half of a surrogate pair, which no UTF-8 can hold, goes as "?"."""
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
