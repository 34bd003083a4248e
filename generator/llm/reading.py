"""One answer on its way: read as it comes, and which limit it runs against meanwhile.

A stream holds server-sent events (WHATWG HTML, section 9.2). Of an event only its data are read; a chat
completion gives it no name, no id and no time to reconnect.
"""

import asyncio
import codecs
import io
from collections.abc import AsyncGenerator, AsyncIterable, Callable
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, TypeAlias

from base.untrusted import message_of, one_line, without_key
from generator.errors import ModelAnswerInvalid, ModelRefusedCall, ModelTooSlow
from generator.llm.completion import DONE, Completion, NoCompletion, ServerError
from generator.llm.limits import Limit, now
from generator.llm.refusals import LOOK_INTO_THE_LOG, SERVER_ERROR, refusal_of
from generator.settings import LanguageModelSettings

if TYPE_CHECKING:
    import httpx

EVENT_STREAM = "text/event-stream"
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
    """One answer on its way, and which limit it runs against now.

    Of a stream, a server may be silent for so long before the first token, and for so long behind it.
    """

    def __init__(
        self, url: str, settings: LanguageModelSettings, stage: Limit, on_growth: OnGrowth | None
    ) -> None:
        self._url = url
        self._settings = settings
        self._on_growth = on_growth
        self._stage = stage
        self._had_the_stage = stage.left >= NEARLY_ALL * stage.seconds
        self._whole = stage.or_sooner(settings.timeout_s, "timeout_s")
        self._started = now()
        self._heard = False  # of what is read here; a header that does not come to its end is silence
        self.answer = Completion(model=settings.model or "")
        self.limit = self._until_silent()
        self.timer: asyncio.Timeout | None = None

    async def read(self, response: "httpx.Response") -> None:
        """Read a response to its end, whole or as a stream, into `answer`."""
        content_type = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        streamed = response.is_success and content_type == EVENT_STREAM
        try:
            async with aclosing(self._arriving(response)) as pieces:
                await (self._read_stream(pieces) if streamed else self._read_whole(response, pieces))
        except ServerError as error:
            status = error.status or (SERVER_ERROR if streamed else 200)
            said = message_of({"error": error.said})
            raise self._refused(f"answered with an error: {said}", LOOK_INTO_THE_LOG, status) from None
        answer = self.answer
        if answer.refusal or answer.finish_reason == "content_filter":
            why = answer.refusal or "its content filter stopped the answer"
            raise self._refused(f"declined: {why}", "Ask in other words, or use another model.", 200)

    def _refused(self, what: str, step: str, status: int) -> ModelRefusedCall:
        said = one_line(what, self._settings.api_key)
        return ModelRefusedCall(f"{self.answer.model} at {self._url} {said}. {step}", status=status)

    async def _arriving(self, response: "httpx.Response") -> AsyncGenerator[bytes, None]:
        """Yield what comes; whatever it is, the server is not silent."""
        async for piece in response.aiter_raw():
            self._heard = True
            self._run_against(self._until_silent())
            yield piece

    async def _read_whole(self, response: "httpx.Response", pieces: AsyncIterable[bytes]) -> None:
        content = b"".join([piece async for piece in pieces])
        if not response.is_success:
            raise refusal_of(response, content, self._url, self._settings)
        try:
            self.answer.add(content, self._settings.api_key, whole=True)
        except NoCompletion as error:
            raise ModelAnswerInvalid(
                f"{self._url} answered, but not with a chat completion ({error}). Set "
                "SHRAG_LLM__BASE_URL to where the server's OpenAI-compatible API begins (most end in /v1).",
                text=without_key(content.decode("utf-8", "replace"), self._settings.api_key),
            ) from None

    async def _read_stream(self, pieces: AsyncIterable[bytes]) -> None:
        async with aclosing(read_events(pieces)) as events:
            async for event in events:
                if event == DONE:
                    self._has_all()
                    await _drain(events)
                    return
                if self.answer.add(event, self._settings.api_key):
                    self._grew()
        raise NoCompletion(f"the stream ended without {DONE}")

    def _grew(self) -> None:
        if self.answer.first_token_s is None:
            self.answer.first_token_s = now() - self._started
            self._run_against(self._until_silent())
        if self._on_growth:
            try:
                self._on_growth(self.answer.text, self.answer.pieces)
            except Exception as error:
                raise ListenerFailed(error) from error

    def _until_silent(self) -> Limit:
        if not self._settings.stream:
            return self._whole
        waits = "first_token_s" if self.answer.first_token_s is None else "between_tokens_s"
        return self._whole.or_sooner(getattr(self._settings, waits), waits)

    def _run_against(self, limit: Limit) -> None:
        self.limit = limit
        if self.timer:
            self.timer.reschedule(limit.at)

    def _has_all(self) -> None:
        """Run against no limit any more: what comes now is no part of the answer."""
        if self.timer:
            self.timer.reschedule(None)
        self.timer = None

    def too_slow(self) -> ModelTooSlow:
        """Say whether the server was silent or did not come to an end, and which limit has passed."""
        name, pieces = self.limit.setting, self.answer.pieces
        behind = f" behind {pieces} pieces of its answer" if pieces else ""
        if self.limit is self._whole and self._heard:
            what = f"did not come to an end within {self.limit}{behind}"
            step = f"Raise SHRAG_LLM__{name.upper()}, or lower SHRAG_LLM__MAX_TOKENS."
        else:
            what, step = f"was silent for {self.limit}{behind}", LOOK_INTO_THE_LOG
            if name == "first_token_s":
                step = "Raise that where it is slow, or set SHRAG_LLM__STREAM=false where it cannot stream."
        # A limit of the request begins with it; the stage may have passed in a queue, a pause, another call.
        of_server = self.limit is not self._stage or self._had_the_stage
        return ModelTooSlow(f"{self._url} {what}. {step}", of_server=of_server)


async def read_events(pieces: AsyncIterable[bytes]) -> AsyncGenerator[str, None]:
    """Yield the data of each event; one that the stream's end cuts off is dropped, as the standard says."""
    utf8 = codecs.getincrementaldecoder("utf-8-sig")("replace")
    decoder = io.IncrementalNewlineDecoder(utf8, translate=True)
    rest, data = io.StringIO(), list[str]()
    async for piece in pieces:
        *lines, begun = decoder.decode(piece).split("\n")
        for line in lines:
            rest.write(line)
            name, _, value = rest.getvalue().partition(":")
            if name == "data":  # a comment has no name before its colon
                data.append(value.removeprefix(" "))
            elif not rest.getvalue() and data:
                yield "\n".join(data)
                data = []
            rest = io.StringIO()
        rest.write(begun)


async def _drain(events: AsyncIterable[str]) -> None:
    """Read on to the end of a stream, if it is near: a connection that is read to its end can be kept."""
    import httpx

    with suppress(TimeoutError, httpx.RequestError):
        async with asyncio.timeout(DRAIN_S):
            async for _ in events:
                pass
