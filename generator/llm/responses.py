"""Reading of one response, whole or as a stream, with its time limits, and errors from refusals.

A stream consists of server-sent events (WHATWG HTML, section 9.2). Only their data are parsed: events of a
chat completion have no name, id or reconnection time.
"""

import asyncio
import codecs
import io
import re
from collections.abc import AsyncGenerator, AsyncIterable, Callable
from contextlib import aclosing, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeAlias

from base.net.backoff import retry_after_s
from base.untrusted import message_in, message_of, one_line, without_key
from generator.errors import ContextExceeded, ModelAnswerInvalid, ModelRefusedCall, ModelTooSlow
from generator.llm.limits import Limit, now
from generator.llm.replies import DONE, Completion, NoCompletion, ServerError
from generator.settings import LanguageModelSettings

if TYPE_CHECKING:
    import httpx

SERVER_ERROR = 500
MAY_BE_TOO_LONG = frozenset({400, 413, 422})

NEXT_STEPS = {
    307: "Set SHRAG_LLM__BASE_URL to the target of the redirect; redirects are not followed.",
    400: "The prompt may be longer than the model's context, or the server may not know `response_format` "
    "with a JSON schema, or fields that are not OpenAI's (SHRAG_LLM__DIALECT=openai leaves those out).",
    401: "Set SHRAG_LLM__API_KEY to a key that this server accepts.",
    403: "The key in SHRAG_LLM__API_KEY may not use this model; ask the server's operator.",
    404: "The address or the model does not exist: see the models that {base_url}/models lists, and set "
    "SHRAG_LLM__MODEL, or SHRAG_LLM__BASE_URL (most end in /v1).",
    413: "The prompt is longer than the server accepts.",
    422: "The server may not know fields that are not OpenAI's (SHRAG_LLM__DIALECT=openai leaves those out).",
    429: "Wait, or raise SHRAG_LLM__RETRIES or SHRAG_LLM__BACKOFF_S.",
}
NEXT_STEPS |= dict.fromkeys((301, 302, 303, 308), NEXT_STEPS[307])
SEE_THE_LOG = "See the server's log."
CHECK_THE_ADDRESS = "Check SHRAG_LLM__BASE_URL and SHRAG_LLM__MODEL."

# Wordings of vLLM and OpenAI, llama.cpp, and others; the error is not standardised.
CONTEXT_WORDS = re.compile(
    r"context[ _](?:length|window|size)|exceed_context_size|max_model_len", re.IGNORECASE
)
CONTEXT_SIZE = re.compile(
    r"(?:context (?:length|window|size)(?: is| of)?:? \(?|max_model_len=)(\d{2,8})\b", re.IGNORECASE
)

EVENT_STREAM = "text/event-stream"
DRAIN_S = 0.5  # seconds to read data after the end of a stream, so that its connection can be reused
NEARLY_ALL = 0.9  # share of a stage's time; with less, a timeout is not the server's fault
OnGrowth: TypeAlias = Callable[[str, int], None]  # text received so far, number of pieces


def refusal_of(
    response: "httpx.Response", content: bytes, url: str, settings: LanguageModelSettings
) -> ModelRefusedCall:
    """Return the error for an unsuccessful response, with the delay of its Retry-After header."""
    status = response.status_code
    body = content.decode("utf-8", "replace")
    said = one_line(message_in(content) or response.reason_phrase, settings.api_key)
    if status in MAY_BE_TOO_LONG and CONTEXT_WORDS.search(body):
        size = CONTEXT_SIZE.search(body)
        return ContextExceeded(
            f"{url} answered {status}: the prompt is longer than the model's context: {said}. Lower "
            "SHRAG_LLM__MAX_TOKENS, or configure a longer context at the server.",
            status=status,
            context_tokens=int(size[1]) if size else None,
        )
    otherwise = SEE_THE_LOG if status >= SERVER_ERROR else CHECK_THE_ADDRESS
    step = NEXT_STEPS.get(status, otherwise).format(base_url=settings.base_url)
    refusal = ModelRefusedCall(
        f"{url} answered {status} to a call of {settings.model}: {said}. {step}", status=status
    )
    refusal.retry_after_s = retry_after_s(response.headers.get("Retry-After", ""), datetime.now(UTC))
    return refusal


class ListenerFailed(Exception):
    """The listener raised `error`; it does not count as a failure of the server."""

    def __init__(self, error: Exception) -> None:
        """Store the listener's error."""
        self.error = error
        super().__init__(str(error))


class Reading:
    """One response in progress and its current time limit.

    A stream has separate limits of silence before and after the first token.
    """

    def __init__(
        self, url: str, settings: LanguageModelSettings, stage: Limit, on_growth: OnGrowth | None
    ) -> None:
        self._url = url
        self._settings = settings
        self._on_growth = on_growth
        self._stage = stage
        self._had_stage_time = stage.left >= NEARLY_ALL * stage.seconds
        self._whole = stage.or_sooner(settings.timeout_s, "timeout_s")
        self._started = now()
        self._heard = False  # whether body data arrived; an incomplete header counts as silence
        self.answer = Completion(model=settings.model or "")
        self.limit = self._silence_limit()
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
            raise self._refused(f"answered with an error: {said}", SEE_THE_LOG, status) from None
        answer = self.answer
        if answer.refusal or answer.finish_reason == "content_filter":
            why = answer.refusal or "its content filter stopped the answer"
            raise self._refused(f"declined: {why}", "Rephrase the question, or use another model.", 200)

    def _refused(self, what: str, step: str, status: int) -> ModelRefusedCall:
        said = one_line(what, self._settings.api_key)
        return ModelRefusedCall(f"{self.answer.model} at {self._url} {said}. {step}", status=status)

    async def _arriving(self, response: "httpx.Response") -> AsyncGenerator[bytes, None]:
        """Yield the data as it arrives and restart the limit of silence."""
        async for piece in response.aiter_raw():
            self._heard = True
            self._set_limit(self._silence_limit())
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
                "SHRAG_LLM__BASE_URL to the server's OpenAI-compatible API (most end in /v1).",
                text=without_key(content.decode("utf-8", "replace"), self._settings.api_key),
            ) from None

    async def _read_stream(self, pieces: AsyncIterable[bytes]) -> None:
        async with aclosing(read_events(pieces)) as events:
            async for event in events:
                if event == DONE:
                    self._stop_timer()
                    await _drain(events)
                    return
                if self.answer.add(event, self._settings.api_key):
                    self._grew()
        raise NoCompletion(f"the stream ended without {DONE}")

    def _grew(self) -> None:
        if self.answer.first_token_s is None:
            self.answer.first_token_s = now() - self._started
            self._set_limit(self._silence_limit())
        if self._on_growth:
            try:
                self._on_growth(self.answer.text, self.answer.pieces)
            except Exception as error:
                raise ListenerFailed(error) from error

    def _silence_limit(self) -> Limit:
        if not self._settings.stream:
            return self._whole
        waits = "first_token_s" if self.answer.first_token_s is None else "between_tokens_s"
        return self._whole.or_sooner(getattr(self._settings, waits), waits)

    def _set_limit(self, limit: Limit) -> None:
        self.limit = limit
        if self.timer:
            self.timer.reschedule(limit.at)

    def _stop_timer(self) -> None:
        """Remove the time limit: the rest of the stream is not part of the answer."""
        if self.timer:
            self.timer.reschedule(None)
        self.timer = None

    def too_slow(self) -> ModelTooSlow:
        """Return the error for the limit that passed: a silent server or an unfinished answer."""
        name, pieces = self.limit.setting, self.answer.pieces
        after = f" after {pieces} pieces of its answer" if pieces else ""
        if self.limit is self._whole and self._heard:
            what = f"did not finish within {self.limit}{after}"
            step = f"Raise SHRAG_LLM__{name.upper()}, or lower SHRAG_LLM__MAX_TOKENS."
        else:
            what, step = f"was silent for {self.limit}{after}", SEE_THE_LOG
            if name == "first_token_s":
                step = (
                    "Raise this limit for a slow server, or set SHRAG_LLM__STREAM=false if it cannot stream."
                )
        # A request's limit starts with it; a stage's time may have passed in a queue, pause or other call.
        of_server = self.limit is not self._stage or self._had_stage_time
        return ModelTooSlow(f"{self._url} {what}. {step}", of_server=of_server)


async def read_events(pieces: AsyncIterable[bytes]) -> AsyncGenerator[str, None]:
    """Yield the data of each event; an incomplete last event is dropped, as the standard requires."""
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
    """Read the rest of a stream for up to DRAIN_S, so that the connection can be reused."""
    import httpx

    with suppress(TimeoutError, httpx.RequestError):
        async with asyncio.timeout(DRAIN_S):
            async for _ in events:
                pass
