"""One answer on its way: read as it comes, and which limit it runs against meanwhile."""

import asyncio
import json
from collections.abc import AsyncIterable, Callable
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, TypeAlias

from generator.errors import ModelAnswerInvalid, ModelFailed, ModelRefusedCall, ModelTooSlow
from generator.llm.completion import DONE, Completion, NoCompletion, ServerError
from generator.llm.events import CONTENT_TYPE, read_events, read_whole
from generator.llm.limits import Limit, now
from generator.llm.refusals import LOOK_INTO_THE_LOG, SERVER_ERROR, message_in, refusal_of, shown, without_key
from generator.settings import LanguageModelSettings

if TYPE_CHECKING:
    import httpx

DRAIN_S = 0.5  # for what comes behind the end of a stream, so that its connection can be kept
NEARLY_ALL = 0.9  # of a stage's time; what is asked with less may be late without the server's fault

OnGrowth: TypeAlias = Callable[[str, int], None]  # what has come of an answer, and in how many pieces


class ListenerFailed(Exception):
    """Whoever listens raised `error`: it is theirs, and says nothing of the server, whatever its kind."""

    def __init__(self, error: Exception) -> None:
        """Keep the error."""
        self.error = error
        super().__init__(str(error))


class Reading:
    """One answer on its way, and which limit it runs against now."""

    def __init__(
        self, url: str, settings: LanguageModelSettings, stage: Limit, on_growth: OnGrowth | None
    ) -> None:
        self._url = url
        self._settings = settings
        self._on_growth = on_growth
        self._stage = stage
        self._had_the_stage = stage.left >= NEARLY_ALL * stage.seconds
        self._whole = self.limit = stage.or_sooner(self._settings.timeout_s, "timeout_s")
        if self._settings.stream:
            self.limit = self._whole.or_sooner(self._settings.first_token_s, "first_token_s")
        self._started = now()
        self.first_token_s: float | None = None  # from sending, where the answer came as a stream
        self.timer: asyncio.Timeout | None = None
        self.begun = False
        self.growing = Completion(model=self._settings.model or "")

    async def read(self, response: "httpx.Response") -> None:
        """Read a response to its end, whole or as a stream, into `growing`."""
        content_type = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        streamed = response.is_success and content_type == CONTENT_TYPE
        try:
            if streamed:
                await self._read_stream(response)
            else:
                await self._read_whole(response)
        except ServerError as error:
            status = error.status or (SERVER_ERROR if streamed else 200)
            said = shown(message_in(json.dumps({"error": error.said})), self._settings)
            raise ModelRefusedCall(
                f"{self._settings.model} at {self._url} answered with an error: {said}. {LOOK_INTO_THE_LOG}",
                status=status,
            ) from None
        completion = self.growing
        if completion.refusal or completion.finish_reason == "content_filter":
            why = shown(completion.refusal or "its content filter stopped the answer", self._settings)
            raise ModelRefusedCall(
                f"{completion.model} at {self._url} declined: {why}. Ask in other words, or use "
                "another model.",
                status=200,
            )

    async def _read_whole(self, response: "httpx.Response") -> None:
        self._run_against(self._whole)
        content = await read_whole(response.aiter_bytes())
        if not response.is_success:
            raise refusal_of(response, content, self._url, self._settings)
        try:
            self.growing.add(content, whole=True)
        except NoCompletion as error:
            raise ModelAnswerInvalid(
                f"{self._url} answered, but not with a chat completion ({error}). Set "
                "SHRAG_LLM__BASE_URL to where the server's OpenAI-compatible API begins (most end in /v1).",
                text=without_key(content.decode("utf-8", "replace"), self._settings),
            ) from None

    async def _read_stream(self, response: "httpx.Response") -> None:
        async with aclosing(read_events(response.aiter_bytes())) as events:
            async for event in events:
                if event == DONE:
                    await _drain(events)
                    return
                if self.growing.add(event):
                    self._grew()
        raise NoCompletion(f"the stream ended without {DONE}")

    def _grew(self) -> None:
        if self.first_token_s is None:
            self.first_token_s = now() - self._started
        self._run_against(self._whole.or_sooner(self._settings.between_tokens_s, "between_tokens_s"))
        if self._on_growth:
            try:
                self._on_growth(self.growing.text, self.growing.pieces)
            except Exception as error:
                raise ListenerFailed(error) from error

    def _run_against(self, limit: Limit) -> None:
        self.limit = limit
        if self.timer:
            self.timer.reschedule(limit.at)

    def too_slow(self) -> ModelFailed:
        """Say which limit has passed, and how far the answer had come."""
        pieces = self.growing.pieces
        what, step = {
            "first_token_s": (
                "no first token",
                "Raise it where the server is slow, or set SHRAG_LLM__STREAM=false where it cannot stream.",
            ),
            "between_tokens_s": (f"no further token behind {pieces}", LOOK_INTO_THE_LOG),
        }.get(
            self.limit.setting,
            (
                f"no whole answer, {pieces} pieces of one," if pieces else "no whole answer",
                f"Raise SHRAG_LLM__{self.limit.setting.upper()}, or lower SHRAG_LLM__MAX_TOKENS.",
            ),
        )
        # A limit of the request begins with it; the stage may have passed in a queue, a pause, another call.
        of_server = self.limit is not self._stage or self._had_the_stage
        return ModelTooSlow(f"{self._url} gave {what} within {self.limit}. {step}", of_server=of_server)


async def _drain(events: AsyncIterable[str]) -> None:
    """Read on to the end of a stream, if it is near: a connection that is read to its end can be kept."""
    import httpx

    with suppress(TimeoutError, httpx.RequestError):
        async with asyncio.timeout(DRAIN_S):
            async for _ in events:
                pass
