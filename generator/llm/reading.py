"""One answer on its way: read as it comes, and which limit it runs against meanwhile."""

import asyncio
from collections.abc import AsyncIterable, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeAlias

from generator.errors import ModelFailed, ModelRefusedCall
from generator.llm.completion import (
    DONE,
    Completion,
    Growing,
    NoChoices,
    NoCompletion,
    ServerError,
    read_whole,
)
from generator.llm.events import CONTENT_TYPE, EventTooLong, read_events
from generator.llm.limits import Limit, now
from generator.llm.refusals import SERVER_ERROR, Refusals
from generator.settings import LanguageModelSettings
from indexer.backoff import retry_after_s

if TYPE_CHECKING:
    import httpx

NEARLY_ALL = 0.9  # of a stage's time; what is asked with less may be late without the server's fault
DRAIN_S = 0.5  # for what comes behind the end of a stream, so that its connection can be kept

OnGrowth: TypeAlias = Callable[[Growing], None]


@dataclass(frozen=True, slots=True)
class Sent:
    """A chat call's body, its number among the attempts, and until when it may take."""

    content: bytes
    attempt: int
    limit: Limit
    on_growth: OnGrowth | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """What came, and how many seconds after sending the first of it did, where it came as a stream."""

    completion: Completion
    first_token_s: float | None


class ListenerFailed(Exception):
    """Whoever listens raised `error`: it is theirs, and says nothing of the server, whatever its kind."""

    def __init__(self, error: Exception) -> None:
        """Keep the error."""
        self.error = error
        super().__init__(str(error))


class Reading:
    """One answer on its way, and which limit it runs against now."""

    def __init__(self, settings: LanguageModelSettings, refusals: Refusals, sent: Sent) -> None:
        self._settings = settings
        self._refusals = refusals
        self._sent = sent
        self._had_the_stage = sent.limit.left >= NEARLY_ALL * sent.limit.seconds
        self._whole = sent.limit.or_sooner(settings.timeout_s, "timeout_s")
        self.first_until = (
            self._whole.or_sooner(settings.first_token_s, "first_token_s") if settings.stream else self._whole
        )
        self._limit = self.first_until
        self.timer: asyncio.Timeout | None = None
        self.begun = False
        self._growing = Growing(settings.model or "")
        self._started = now()
        self._first_token_s: float | None = None

    async def read(self, response: "httpx.Response") -> Answered:
        """Read a response to its end, whole or as a stream; ModelFailed where it is none of use."""
        if not response.is_success:
            self._within(self._whole)
            await response.aread()
            raise self._refused(response)
        if response.headers.get("Content-Type", "").partition(";")[0].strip().lower() != CONTENT_TYPE:
            self._within(self._whole)
            return Answered(self._whole_answer(await response.aread()), None)
        return Answered(self._accepted(await self._stream(response)), self._first_token_s)

    def _within(self, limit: Limit) -> None:
        self._limit = limit
        if self.timer:
            self.timer.reschedule(limit.at)

    def _refused(self, response: "httpx.Response") -> ModelFailed:
        refusal = self._refusals.of_status(
            response.status_code,
            response.text,
            response.reason_phrase,
            self._sent.attempt,
            redirect=response.is_redirect,
        )
        if isinstance(refusal, ModelRefusedCall):
            header = response.headers.get("Retry-After", "")
            refusal.retry_after_s = retry_after_s(header, datetime.now(UTC))
        return refusal

    def _whole_answer(self, content: bytes) -> Completion:
        try:
            return self._accepted(read_whole(content, self._settings.model or ""))
        except ServerError as error:
            raise self._refusals.of_error(error.said, error.status or 200) from None
        except NoChoices:
            raise self._refusals.of_no_choices(content.decode("utf-8", "replace")) from None
        except NoCompletion:
            raise self._refusals.of_no_completion(content.decode("utf-8", "replace")) from None

    async def _stream(self, response: "httpx.Response") -> Completion:
        try:
            async with aclosing(read_events(response.aiter_bytes())) as events:
                async for event in events:
                    if event == DONE:
                        await _drain(events)
                        return self._growing.whole
                    self._add(event)
        except ServerError as error:
            raise self._refusals.of_error(error.said, error.status or SERVER_ERROR) from None
        except (NoCompletion, EventTooLong) as error:
            raise self._refusals.of_break(str(error), self._sent.attempt) from None
        told = f"the stream ended behind {self._growing.pieces} pieces, without {DONE}"
        raise self._refusals.of_break(told, self._sent.attempt)

    def _add(self, event: str) -> None:
        if not self._growing.add(event):
            return
        if self._first_token_s is None:
            self._first_token_s = now() - self._started
        self._within(self._whole.or_sooner(self._settings.between_tokens_s, "between_tokens_s"))
        if self._sent.on_growth:
            try:
                self._sent.on_growth(self._growing)
            except Exception as error:
                raise ListenerFailed(error) from error

    def _accepted(self, completion: Completion) -> Completion:
        if completion.refusal or completion.finish_reason == "content_filter":
            raise self._refusals.of_model(completion.model, completion.refusal)
        return completion

    def too_slow(self) -> ModelFailed:
        """Say which limit has passed, and how far the answer had come."""
        setting, attempt = self._limit.setting, self._sent.attempt
        if setting == "first_token_s":
            return self._refusals.of_slowness(
                "no first token",
                self._limit,
                attempt,
                "Raise it where the server is slow, or set SHRAG_LLM__STREAM=false where it cannot stream.",
            )
        if setting == "between_tokens_s":
            what = f"no further token behind {self._growing.pieces}"
            return self._refusals.of_slowness(what, self._limit, attempt, "Look into the server's log.")
        step = f"Raise SHRAG_LLM__{setting.upper()}, or lower SHRAG_LLM__MAX_TOKENS."
        what = (
            f"no whole answer, {self._growing.pieces} pieces of one,"
            if self._growing.pieces
            else "no whole answer"
        )
        # A limit of the request begins with it; the stage may have passed in a queue, a pause, another call.
        of_server = self._limit is not self._sent.limit or self._had_the_stage
        return self._refusals.of_slowness(what, self._limit, attempt, step, of_server=of_server)


async def _drain(events: AsyncIterable[str]) -> None:
    """Read on to the end of a stream, if it is near: a connection that is read to its end can be kept."""
    import httpx

    with suppress(TimeoutError, httpx.RequestError):
        async with asyncio.timeout(DRAIN_S):
            async for _ in events:
                pass
