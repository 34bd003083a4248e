"""HTTP client of an OpenAI-compatible server: chat calls with retries, time limits and a circuit breaker.

A chat call is streamed as server-sent events, so that a slow server differs from a dead one. Only the data of
events are read: those of a chat completion have no name, id or reconnection time.
"""

import asyncio
import json
import random
import re
import time
from collections.abc import AsyncIterator, Callable, Container, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from pydantic import BaseModel, Field, ValidationError

from base.amounts import plain
from base.logs import get_logger
from base.net.backoff import TRANSIENT_STATUSES, growing_pauses, retry_after_s
from base.untrusted import message_in, message_of, one_line, without_key
from generator.errors import (
    SERVER_ERROR,
    CircuitOpen,
    ContextExceeded,
    ModelAnswerInvalid,
    ModelFailed,
    ModelRefusedCall,
    ModelTooSlow,
    ModelUnreachable,
)
from generator.settings import LanguageModelSettings

if TYPE_CHECKING:  # commands without model calls do not import it
    import httpx

BASE_BYTES, BYTES_A_TOKEN = 1_000_000, 1_000  # limit of a chat response; in a stream, each token is an event
LEAST_SECRET = 8  # characters; shorter keys are placeholders like "none", which answers may contain
NEARLY_ALL = 0.9  # share of a stage's time; with less, a timeout is not the server's fault
OK = 200
MAY_BE_TOO_LONG = frozenset({400, 413, 422})
NEXT_STEPS = {
    **dict.fromkeys(
        (301, 302, 303, 307, 308),
        "Set SHRAG_LLM__BASE_URL to the target of the redirect; redirects are not followed.",
    ),
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
SEE_THE_LOG = "See the server's log."
CHECK_THE_ADDRESS = "Check SHRAG_LLM__BASE_URL and SHRAG_LLM__MODEL."
START = "Start the server, or set SHRAG_LLM__BASE_URL to its address."
# Wordings of vLLM and OpenAI, llama.cpp, and others; the error is not standardised.
CONTEXT_WORDS = re.compile(
    r"context[ _](?:length|window|size)|exceed_context_size|max_model_len", re.IGNORECASE
)
# Parameters that some models refuse, and what is sent in place of each; "": it is left out.
REPLACED = {
    "max_tokens": "max_completion_tokens",
    **dict.fromkeys(("temperature", "seed", "stream_options", "chat_template_kwargs"), ""),
}
UNSUPPORTED = re.compile(
    r"un(?:supported|known|recognized|expected) (?:\w+ )?(?:parameter|value|argument|field)s?:? ['\"`]?(\w+)"
    r"|['\"`](\w+)['\"`] (?:is not|does not|isn't) support",
    re.IGNORECASE,
)
# The setting that limits each stage, by the name of its calls; other stages have only `deadline_s`.
STAGES = {"answer": "answer_s", "check": "answer_s"} | dict.fromkeys(
    "keywords question queries hypotheses housekeeping rewrite sub_answer understanding query-writing "
    "judgement evolver".split(),
    "keywords_s",
)

log = get_logger("model")

OnGrowth: TypeAlias = Callable[[str, int], None]  # text received so far, number of pieces
TokenCount = Annotated[int, Field(ge=0, le=2**53)]


@dataclass(frozen=True, slots=True)
class Limit:
    """A deadline on the event loop's clock: `seconds` after the start, from `setting`."""

    at: float
    seconds: float
    setting: str

    @property
    def left(self) -> float:
        """Remaining seconds, 0 after the deadline."""
        return max(0.0, self.at - now())

    def or_sooner(self, seconds: float, setting: str) -> "Limit":
        """Return this limit, or the one in `seconds` from now if that is sooner."""
        at = now() + seconds
        return Limit(at, seconds, setting) if at < self.at else self

    def __str__(self) -> str:
        return f"{plain(self.seconds)} s (SHRAG_LLM__{self.setting.upper()})"


def now() -> float:
    """Return the time of the running event loop, in seconds."""
    return asyncio.get_running_loop().time()


class Usage(BaseModel):
    """Token counts, if the server reports them."""

    prompt_tokens: TokenCount | None = None
    completion_tokens: TokenCount | None = None


class _Message(BaseModel):
    content: str | None = None
    refusal: str | None = None
    reasoning: Any = None
    reasoning_content: Any = None  # older name of `reasoning`


class _Choice(BaseModel):
    message: _Message | None = None
    delta: _Message | None = None
    finish_reason: str | None = None


class _Response(BaseModel):
    """The parsed fields of a response: an answer, one piece of a stream, or an error."""

    choices: list[_Choice] = []
    model: str | None = None
    usage: Usage | None = None
    error: Any = None


class Completion(BaseModel):
    """The answer to one call, whole or in pieces so far, and its cost; `usage` and texts are the server's."""

    text: str
    model: str
    finish_reason: str = ""
    usage: Usage = Usage()
    attempts: int = 1  # requests sent
    refusal: str = Field(default="", exclude=True)
    pieces: int = Field(default=0, exclude=True)  # of the answer or its reasoning, about one a token
    queued_s: float = Field(default=0.0, exclude=True)  # waited for a free slot
    first_token_s: float | None = Field(default=None, exclude=True)  # None if not streamed
    from_file: bool = Field(default=False, exclude=True)  # recorded, no request was sent


class Unreadable(ValueError):
    """The content is not a chat completion, or the stream ended early."""


class Circuit:
    """Closed: requests pass. Open: none pass. After `open_s` one request tries the server.

    `clock` returns monotonic seconds.
    """

    def __init__(
        self, failures: int, open_s: float, endpoint: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._allowed, self._open_s, self._endpoint, self._clock = failures, open_s, endpoint, clock
        self._failures = 0  # in a row
        self._opens_at = 0.0  # when the next request may try the server
        self._last = ""

    @property
    def is_open(self) -> bool:
        """Whether a request would be refused now."""
        return self._failures >= self._allowed and self._clock() < self._opens_at

    def check(self) -> None:
        """Raise CircuitOpen if a request would be refused now."""
        if self.is_open:
            raise CircuitOpen(
                f"{self._endpoint} failed {self._failures} times in a row; calls are paused (one tries again "
                f"in {self._opens_at - self._clock():.0f} s; SHRAG_LLM__CIRCUIT_OPEN_S). Last error: "
                f"{self._last}",
                attempts=0,
            )

    @contextmanager
    def passage(self) -> Iterator[None]:
        """Let one request through and update the circuit with its outcome; raises CircuitOpen.

        A request that is cancelled, or was sent with too little time left, counts neither as a failure nor as
        a success.
        """
        self.check()
        if self._failures >= self._allowed:  # this request tries the server, the others wait as long again
            self._opens_at = self._clock() + self._open_s
        try:
            yield
        except ModelFailed as error:
            if error.of_server:
                self._failures, self._last = self._failures + 1, str(error)
                self._opens_at = self._clock() + self._open_s
            elif not isinstance(error, ModelTooSlow):
                self._failures = 0
            raise
        self._failures = 0


class Client:
    """The connections to one server, with at most `concurrency` running calls; bound to one event loop."""

    def __init__(
        self,
        settings: LanguageModelSettings,
        transport: "httpx.AsyncBaseTransport | None" = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Store the settings; `transport` replaces the network and `clock` the circuit's time."""
        self.settings = settings
        self.url = f"{settings.base_url}/chat/completions"
        self.refused: set[str] = set()  # parameters of `REPLACED` that the server has refused
        self.circuit = Circuit(settings.circuit_failures, settings.circuit_open_s, self.url, clock)
        self._transport = transport
        self._client: httpx.AsyncClient  # set by `open`, as `_places`
        self._places: asyncio.Semaphore

    async def open(self) -> None:
        """Make the HTTP client, which keeps connections alive between requests."""
        from base.net.http_client import open_client

        self._places = asyncio.Semaphore(self.settings.concurrency)
        self._client = open_client(
            self.url,
            self.settings.api_key,
            ca_certs=self.settings.ca_certs,
            connections=self.settings.concurrency,
            transport=self._transport,
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    def limit(self, stage: str) -> Limit:
        """Return the limit of a stage that starts now; `deadline_s` limits every stage."""
        seconds, setting = self.settings.deadline_s, STAGES.get(stage)
        whole = Limit(now() + seconds, seconds, "deadline_s")
        return whole.or_sooner(getattr(self.settings, setting), setting) if setting else whole

    async def complete(
        self, body: Mapping[str, Any], limit: Limit, on_growth: OnGrowth | None = None
    ) -> Completion:
        """Send a chat call and retry transient failures; cancelling closes the connection.

        A call with a parameter that the server refuses is sent again without it, and so are all later calls.

        Raises:
            ModelFailed: the last failure, or the one after which no time is left.
            Exception: any exception of `on_growth`, unchanged.
        """
        left, attempts, queued_s = self.settings.retries, 0, 0.0
        pauses = growing_pauses(self.settings.backoff_s)
        while True:
            if on_growth and attempts:
                on_growth("", 0)
            started = now()
            try:
                self.circuit.check()
                async with self._place(limit):
                    queued_s += now() - started
                    with self.circuit.passage():
                        attempts += 1
                        answer = await self._send(body, limit, on_growth)
            except ModelFailed as failure:
                failure.attempts = attempts
                if failure.refused:
                    self.refused.add(failure.refused)
                    log.warning("parameter refused by the model", parameter=failure.refused)
                    continue
                if not left or not _is_transient(failure) or self.circuit.is_open:
                    raise
                left -= 1
                await _pause(failure, next(pauses), limit)
            else:
                answer.attempts, answer.queued_s = attempts, queued_s
                return answer

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
            return await exchange(self._client, method, url, content, seconds=seconds)
        except httpx.RequestError as error:
            raise self._failure_of(url, error) from None

    async def _send(self, body: Mapping[str, Any], stage: Limit, on_growth: OnGrowth | None) -> Completion:
        """Send one request and read its answer; the errors of `complete`."""
        import httpx

        timer, answer = _Timer(self.settings, stage), Completion(text="", model=self.settings.model or "")
        most = BASE_BYTES + BYTES_A_TOKEN * self.settings.max_tokens
        sent = self.accepted(body)
        try:
            async with (
                asyncio.timeout_at(timer.limit.at) as timer.timeout,
                self._client.stream(
                    "POST", self.url, content=json_bytes(sent), extensions={"most_bytes": most}
                ) as response,
            ):
                kind = response.headers.get("Content-Type", "").lower()
                if response.is_success and kind.startswith("text/event-stream"):
                    await self._read_stream(response, answer, timer, on_growth)
                else:
                    said = b"".join([piece async for piece in timer.restarted_by(response.aiter_raw())])
                    if not response.is_success:
                        raise self.refusal_of(response, said, self.url, sent)
                    self._read_whole(said, answer)
        except TimeoutError:
            raise self._too_slow(timer, answer.pieces) from None
        except httpx.RequestError as error:
            raise self._failure_of(self.url, error) from None
        except Unreadable as error:
            raise self._broken_off(self.url, f"{error}, after {answer.pieces} pieces") from None
        if answer.refusal or answer.finish_reason == "content_filter":
            why = answer.refusal or "its content filter stopped the answer"
            raise self._refused(f"declined: {why}", "Rephrase the question, or use another model.", OK)
        return answer

    def accepted(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the body of a call without the parameters that the server has refused."""
        names = {name: REPLACED[name] if name in self.refused else name for name in body}
        return {names[name]: value for name, value in body.items() if names[name]}

    async def _read_stream(
        self, response: "httpx.Response", answer: Completion, timer: "_Timer", on_growth: OnGrowth | None
    ) -> None:
        async for line in timer.restarted_by(response.aiter_lines()):
            name, _, data = line.partition(":")
            if name != "data":
                continue
            if data.strip() == "[DONE]":
                return
            if not self._add(answer, data, streamed=True):
                continue
            if answer.first_token_s is None:
                answer.first_token_s = now() - timer.started
                timer.restart("between_tokens_s")
            if on_growth:
                on_growth(answer.text, answer.pieces)
        raise Unreadable("the stream ended without [DONE]")

    def _read_whole(self, content: bytes, answer: Completion) -> None:
        try:
            self._add(answer, content, streamed=False)
        except Unreadable as error:
            raise ModelAnswerInvalid(
                f"{self.url} answered, but not with a chat completion ({error}). Set "
                "SHRAG_LLM__BASE_URL to the server's OpenAI-compatible API (most end in /v1).",
                text=without_key(content.decode("utf-8", "replace"), self.settings.api_key),
            ) from None

    def _add(self, answer: Completion, content: str | bytes, *, streamed: bool) -> bool:
        """Add the next piece or the whole answer; return False if it contained no part of the answer.

        The key is hidden, because a server may repeat it.
        """
        try:
            read = _Response.model_validate_json(content)
        except ValidationError:
            raise Unreadable("it cannot be read") from None
        if read.error:
            code = read.error.get("code") if isinstance(read.error, dict) else None
            status = code if isinstance(code, int) and 400 <= code < 600 else None  # noqa: PLR2004 - HTTP
            what = f"answered with an error: {message_of({'error': read.error})}"
            raise self._refused(what, SEE_THE_LOG, status or (SERVER_ERROR if streamed else OK))
        key = self.settings.api_key
        secret = key if key and len(key.get_secret_value()) >= LEAST_SECRET else None
        answer.model = one_line(read.model or "", secret) or answer.model
        answer.usage = read.usage or answer.usage
        choice = read.choices[0] if read.choices else _Choice()  # the last piece has only the counts
        if not streamed and choice.message is None:
            raise Unreadable("it contains no message")
        said = (choice.delta if streamed else choice.message) or _Message()
        answer.finish_reason = one_line(choice.finish_reason or "", secret) or answer.finish_reason
        answer.text = without_key(answer.text + (said.content or ""), secret)  # a key may span two pieces
        answer.refusal = without_key(answer.refusal + (said.refusal or ""), secret)
        brought = any((said.content, said.refusal, said.reasoning, said.reasoning_content))
        answer.pieces += brought
        return brought or choice.finish_reason is not None

    @asynccontextmanager
    async def _place(self, limit: Limit) -> AsyncIterator[None]:
        """Wait for a free slot; raises ModelTooSlow."""
        try:
            async with asyncio.timeout_at(limit.at):
                await self._places.acquire()
        except TimeoutError:
            raise ModelTooSlow(
                f"{self.settings.concurrency} calls of {self.url} were running for {limit}, and this one "
                "found no free slot. Raise SHRAG_LLM__CONCURRENCY if the server can serve more calls."
            ) from None
        try:
            yield
        finally:
            self._places.release()

    def _too_slow(self, timer: "_Timer", pieces: int) -> ModelTooSlow:
        """Return the error for the limit that passed: a silent server or an unfinished answer."""
        limit = timer.limit
        after = f" after {pieces} pieces of its answer" if pieces else ""
        if limit is timer.whole and timer.heard:
            what = f"did not finish within {limit}{after}"
            step = f"Raise SHRAG_LLM__{limit.setting.upper()}, or lower SHRAG_LLM__MAX_TOKENS."
        else:
            what, step = f"was silent for {limit}{after}", SEE_THE_LOG
            if limit.setting == "first_token_s":
                step = (
                    "Raise this limit for a slow server, or set SHRAG_LLM__STREAM=false if it cannot stream."
                )
        # A part of a stage's time may have passed in a queue or a pause.
        waited = now() - max(timer.started, limit.at - limit.seconds)
        return ModelTooSlow(f"{self.url} {what}. {step}", of_server=waited >= NEARLY_ALL * limit.seconds)

    def _failure_of(self, url: str, error: "httpx.RequestError") -> ModelFailed:
        """Return the error of a request without a complete response."""
        import httpx

        why = one_line(str(error), self.settings.api_key) or type(error).__name__
        if isinstance(error, httpx.ConnectTimeout):
            return ModelTooSlow(f"cannot reach {url}: no connection in time. {START}", of_server=True)
        if isinstance(error, httpx.TimeoutException):
            return ModelTooSlow(f"{url} {why}. Check its load.", of_server=True)
        if isinstance(error, httpx.ConnectError):
            return ModelUnreachable(f"cannot reach {url}: {why}. {START}")
        return self._broken_off(url, why)

    def _broken_off(self, url: str, why: str) -> ModelUnreachable:
        return ModelUnreachable(f"{url} gave no complete answer: {why}. {SEE_THE_LOG}")

    def _refused(self, what: str, step: str, status: int) -> ModelRefusedCall:
        said = one_line(what, self.settings.api_key)
        return ModelRefusedCall(f"{self.settings.model} at {self.url} {said}. {step}", status=status)

    def refusal_of(
        self, response: "httpx.Response", content: bytes, url: str, sent: Container[str] = ()
    ) -> ModelRefusedCall:
        """Return the error for an unsuccessful response to a call with the parameters `sent`.

        It has the delay of the Retry-After header, and a refused parameter that the call can do without.
        """
        status = response.status_code
        said = one_line(message_in(content) or response.reason_phrase, self.settings.api_key)
        if status in MAY_BE_TOO_LONG and CONTEXT_WORDS.search(content.decode("utf-8", "replace")):
            return ContextExceeded(
                f"{url} answered {status}: the prompt is longer than the model's context: {said}. Lower "
                "SHRAG_LLM__MAX_TOKENS, or configure a longer context at the server.",
                status=status,
            )
        otherwise = SEE_THE_LOG if status >= SERVER_ERROR else CHECK_THE_ADDRESS
        step = NEXT_STEPS.get(status, otherwise).format(base_url=self.settings.base_url)
        refusal = ModelRefusedCall(
            f"{url} answered {status} to a call of {self.settings.model}: {said}. {step}", status=status
        )
        refusal.retry_after_s = retry_after_s(response.headers.get("Retry-After", ""), datetime.now(UTC))
        if status in MAY_BE_TOO_LONG and (found := UNSUPPORTED.search(message_in(content))):
            name = found[1] or found[2]
            refusal.refused = name if name in REPLACED and name in sent else ""
        return refusal


class _Timer:
    """The limit of the next piece of one answer's data, which each piece restarts."""

    def __init__(self, settings: LanguageModelSettings, stage: Limit) -> None:
        self._settings = settings
        self.started = now()
        self.whole = stage.or_sooner(settings.timeout_s, "timeout_s")
        self.heard = False  # whether data of the body arrived
        self.timeout: asyncio.Timeout | None = None
        self.restart("first_token_s")

    def restart(self, setting: str) -> None:
        """Start the time of a setting, which limits the silence of a stream."""
        self._setting, self.limit = setting, self.whole
        if self._settings.stream:
            self.limit = self.whole.or_sooner(getattr(self._settings, setting), setting)
        if self.timeout:
            self.timeout.reschedule(self.limit.at)

    async def restarted_by(self, pieces: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Yield pieces of a body; each restarts the time."""
        async for piece in pieces:
            self.heard = True
            self.restart(self._setting)
            yield piece


async def _pause(failure: ModelFailed, pause_s: float, limit: Limit) -> None:
    """Wait before the next attempt, or for Retry-After; raise the failure if too little time is left."""
    asked_for = failure.retry_after_s
    spread = random.uniform(0.75, 1.25)  # noqa: S311 - spreads the retries of calls that failed together
    wait = pause_s * spread if asked_for is None else asked_for
    if wait >= limit.left:
        if asked_for is not None:
            short = f"It asks for a pause of {plain(round(asked_for, 1))} s, more than is left of {limit}."
            failure.args = (f"{failure.args[0]} {short}",)
        raise failure
    await asyncio.sleep(wait)


def _is_transient(failure: ModelFailed) -> bool:
    """Check whether a retry may succeed; a server that was too slow would be too slow again."""
    return failure.status in TRANSIENT_STATUSES or (
        failure.of_server and not isinstance(failure, ModelTooSlow)
    )


def json_bytes(body: Mapping[str, Any]) -> bytes:
    """Encode a body as UTF-8; a lone surrogate, which UTF-8 cannot encode, becomes "?"."""
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
