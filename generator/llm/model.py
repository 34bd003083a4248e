"""Language model that returns values of a given schema from an OpenAI-compatible endpoint.

Requests are OpenAI chat completions with `response_format` of type `json_schema`, as supported by vLLM and
llama.cpp. Answers of servers that ignore the schema are read tolerantly; an unreadable one is repaired once.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Generic, Self, TypeAlias, TypeVar

from pydantic import BaseModel

from base.untrusted import one_line, read_json
from generator.errors import ContextExceeded, ModelAnswerInvalid, ModelFailed, ModelNotConfigured
from generator.llm.client import Client, Completion, Limit, now
from generator.llm.context import (
    ANSWER_S,
    NO_SUCH_ADDRESS,
    NOBODY,
    Context,
    Count,
    at_most,
    count_locally,
    is_count,
    load_tokenizer,
)
from generator.llm.reading import UnreadableAnswer, json_schema, read_answer
from generator.llm.recording import Call, Counted, OneOutcome, Recording
from generator.prompts import load_prompt
from generator.settings import CacheSettings, LanguageModelSettings

if TYPE_CHECKING:  # commands without model calls do not import it
    import httpx
    from tokenizers import Tokenizer

T = TypeVar("T", bound=BaseModel)

SENT_BACK_CHARACTERS = 20_000  # of an answer sent back for repair
LEFT_OUT = "(left out)"  # replaces an answer that is too long to be sent back
TRANSPORT_FIELDS = frozenset({"stream", "stream_options"})  # do not affect the answer

Message: TypeAlias = Mapping[str, str]  # role, content


@dataclass(frozen=True, slots=True)
class Reply(Generic[T]):
    """A valid answer and its cost."""

    value: T
    model: str  # as the server reports it
    text: str  # unparsed
    finish_reason: str
    prompt_tokens: int | None  # of all calls; None if the server does not count them
    completion_tokens: int | None
    attempts: int  # requests sent, retries and repair included
    repaired: bool
    milliseconds: float
    queued_ms: float = 0.0  # waited for a free slot
    first_token_ms: float | None = None  # of the first call, after sending; None if not streamed
    from_cache: bool = False  # no request was sent

    def as_record(self) -> dict[str, Any]:
        """Return all but the value as JSON, for a trace."""
        times = (
            {"from_cache": self.milliseconds}
            if self.from_cache
            else {"queued": self.queued_ms, "first_token": self.first_token_ms, "total": self.milliseconds}
        )
        return {
            "model": self.model,
            "text": self.text,
            "finish_reason": self.finish_reason,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "attempts": self.attempts,
            "repaired": self.repaired,
            "milliseconds": {name: round(one, 2) for name, one in times.items() if one is not None},
        }


@dataclass(frozen=True, slots=True)
class Growth:
    """The text of an answer received so far; a retry or repair starts with an empty text."""

    stage: str  # the call's name: keywords, answer
    text: str
    pieces: int  # about the number of tokens, including reasoning


OnText: TypeAlias = Callable[[Growth], None]


class LanguageModel(Client):
    """A language model behind an OpenAI-compatible endpoint; open it with `async with`.

    An open model serves any number of concurrent calls: `concurrency` of them run, the others wait. All
    share one circuit breaker.
    """

    def __init__(
        self,
        settings: LanguageModelSettings,
        *,
        transport: "httpx.AsyncBaseTransport | None" = None,
        cache: CacheSettings | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Store the settings; nothing is sent or opened yet.

        `transport` replaces the network and `clock` the circuit's time in tests; `cache` names the file of
        recorded calls and its mode.

        Raises:
            ModelNotConfigured: the settings name no endpoint.
        """
        if settings.base_url is None:
            raise ModelNotConfigured(
                "no language model is configured. Set SHRAG_LLM__BASE_URL, like http://localhost:8000/v1, "
                "and SHRAG_LLM__MODEL."
            )
        super().__init__(settings, transport, clock)
        self._cache = cache or CacheSettings()
        self._recording: Recording | None = None
        self._tokenizer: Tokenizer | None = None
        self._context: Context | None = None

    async def __aenter__(self) -> Self:
        """Open the client, and the file of recorded calls and the tokenizer if configured.

        Raises:
            CacheUnusable, TokenizerUnusable: the file or the tokenizer cannot be used.
        """
        self._asking, self._unknown_until = asyncio.Lock(), 0.0  # each loop has its own clock
        if self.settings.tokenizer and not self._tokenizer:
            self._tokenizer = await asyncio.to_thread(load_tokenizer, self.settings.tokenizer)
        if self._cache.mode != "off":
            self._recording = Recording(self._cache, str(self.settings.base_url))
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the connections and the file."""
        if self._recording:
            self._recording.close()
        await self.close()

    @property
    def replays(self) -> bool:
        """Whether all answers come from recorded calls."""
        return self._cache.mode == "replay"

    def check(self) -> None:
        """Raise CircuitOpen if calls are paused and no file of recorded calls is in use."""
        if self._cache.mode == "off":
            self.circuit.check()

    async def complete_json(
        self,
        messages: Sequence[Message],
        schema: type[T],
        *,
        name: str,
        prompt_version: int | None = None,
        limit: Limit | None = None,
        on_text: OnText | None = None,
        fault: Callable[[T], str | None] = lambda _: None,
    ) -> Reply[T]:
        """Ask for JSON of `schema`; an invalid answer, or one with a fault, is sent back once for repair.

        If the context has no room for the answer, only the list of its faults is sent.

        `name` (letters, digits, `_`, `-`) names the schema for the server and in messages, and selects the
        stage's time limit for all requests and pauses; `limit` replaces it by one that started earlier. The
        `prompt_version` is part of the key of a recorded call. `on_text` receives the growing answer.
        Cancelling the call closes its connection, so that the server stops generating.

        Raises:
            ModelUnreachable, ModelTooSlow, ModelRefusedCall: the call and its retries failed.
            CircuitOpen: calls are paused after repeated failures.
            ModelAnswerInvalid: the answer and its repair do not match `schema`.
            CallNotRecorded, CacheUnusable: a replay lacks the call, or the file cannot be used.
        """
        started, limit = now(), limit or self.limit(name)
        answers, failed = list[Completion](), 0  # `failed`: requests without an answer

        def show(text: str, pieces: int) -> None:
            if on_text:
                on_text(Growth(name, text, pieces))

        async def ask(more: Sequence[Message] = ()) -> T:
            body = chat_request([*messages, *more], schema, name=name, settings=self.settings)
            request = {key: value for key, value in body.items() if key not in TRANSPORT_FIELDS}
            sending = partial(self.complete, body, limit, show)
            answer = await self._asked(
                "chat", name, request, sending, partial(_is_readable, schema), prompt_version
            )
            if answer.first_token_s is None:  # not streamed
                show(answer.text, answer.usage.completion_tokens or 0)
            answers.append(answer)
            return read_answer(answer.text, schema)

        try:
            value, used = await ask(), 0
        except UnreadableAnswer as unreadable:
            show("", 0)
            try:
                complaint = self._complaint(answers[0], unreadable)
                value, failed = await _repaired(ask, answers[0].text, complaint)
            except ModelFailed as error:
                error.attempts += answers[0].attempts
                raise
            except UnreadableAnswer as again:
                raise self._invalid(answers, again, name) from None
            used = -1
        else:
            if fault_of_it := fault(value):
                show("", 0)
                correction = repair_messages(answers[0].text, fault_of_it, "correction")
                other, failed = await _without_fault(partial(ask, correction), fault)
                value, used = (value, 0) if other is None else (other, -1)
        first = answers[0]
        last = answers[used]
        return Reply(
            value=value,
            model=last.model,
            text=last.text,
            finish_reason=last.finish_reason,
            prompt_tokens=_sum(each.usage.prompt_tokens for each in answers),
            completion_tokens=_sum(each.usage.completion_tokens for each in answers),
            attempts=failed + sum(each.attempts for each in answers),
            repaired=used != 0,
            milliseconds=1000 * (now() - started),
            queued_ms=1000 * sum(each.queued_s for each in answers),
            first_token_ms=None if first.first_token_s is None else 1000 * first.first_token_s,
            from_cache=all(each.from_file for each in answers),
        )

    async def _asked(
        self,
        kind: str,
        name: str,
        request: Mapping[str, Any],
        ask: Callable[[], Awaitable[OneOutcome]],
        is_usable: Callable[[OneOutcome], bool] = lambda _: True,
        prompt_version: int | None = None,
    ) -> OneOutcome:
        """Return the outcome of a call, recorded or replayed if a file is in use."""
        if self._recording is None:
            return await ask()
        call = Call(kind, name, self.settings.model, self.settings.revision, prompt_version, request)
        return await self._recording.outcome(call, ask, is_usable)

    async def context(self, limit: Limit) -> Context:
        """Return the context size of the model; requested once, and again some time after a failure."""
        if self.settings.context_tokens is not None:
            return Context(self.settings.context_tokens, "setting")

        def length(said: Any) -> Any:
            models = [
                each
                for each in said["data"]
                if isinstance(each, dict) and each.get("id") == self.settings.model
            ]
            return next(filter(is_count, (each.get("max_model_len") for each in models)), None)

        url = f"{self.settings.base_url}/models"
        async with self._asking:
            if self._context is None and now() >= self._unknown_until:
                try:
                    size = await self._count_of("context", "GET", url, {}, length, limit)
                    self._context = Context(size, "server") if size else NOBODY
                except ModelFailed:  # waiting calls do not repeat the request
                    self._unknown_until = now() + self.settings.circuit_open_s
            return self._context or NOBODY

    async def count(self, messages: Sequence[Message], limit: Limit) -> Count:
        """Count the tokens of a prompt by the server's tokenizer, else by a local one, else by bytes."""
        request: dict[str, Any] = {
            "model": self.settings.model,
            "messages": [dict(message) for message in messages],
            "add_generation_prompt": True,
        }
        if kwargs := self.settings.template_kwargs:
            request["chat_template_kwargs"] = kwargs
        if self.settings.dialect == "vllm":
            url = f"{str(self.settings.base_url).removesuffix('/v1')}/tokenize"
            with suppress(ModelFailed):
                size = await self._count_of("tokenize", "POST", url, request, itemgetter("count"), limit)
                if size is not None:
                    return Count(size, "server")
        if self._tokenizer:
            return await asyncio.to_thread(count_locally, self._tokenizer, messages)
        return at_most(messages)

    async def _count_of(
        self,
        kind: str,
        method: str,
        url: str,
        request: Mapping[str, Any],
        read: Callable[[Any], Any],
        limit: Limit,
    ) -> int | None:
        """Return the count in a response; None if the server has no such endpoint, or names none."""

        async def send() -> Counted:
            seconds = limit.or_sooner(min(ANSWER_S, self.settings.timeout_s), "timeout_s").left
            response = await self.exchange(method, url, request or None, seconds)
            if not response.is_success and response.status_code not in NO_SUCH_ADDRESS:
                raise self.refusal_of(response, response.content, url)
            try:
                count = read(read_json(response.content)) if response.is_success else None
            except (ValueError, LookupError, TypeError, AttributeError):
                count = None
            return Counted(count=count if is_count(count) else None)

        return (await self._asked(kind, "context", request, send)).count

    def _invalid(
        self, calls: Sequence[Completion], unreadable: UnreadableAnswer, name: str
    ) -> ModelAnswerInvalid:
        answer = calls[-1]
        step = (
            "Raise SHRAG_LLM__MAX_TOKENS."
            if answer.finish_reason == "length"
            else "Use a server that enforces `response_format` (vLLM does), or another model."
        )
        after = " after one repair" if len(calls) > 1 else ""
        complaint = one_line(self._complaint(answer, unreadable))
        return ModelAnswerInvalid(
            f"{answer.model} at {self.url} gave no valid {name!r} answer{after}: {complaint}. {step}",
            text=answer.text,
            attempts=sum(call.attempts for call in calls),
        )

    def _complaint(self, answer: Completion, unreadable: UnreadableAnswer) -> str:
        complaint = str(unreadable) if answer.text.strip() else "the answer is empty"
        if answer.finish_reason == "length":
            complaint += f"; it was cut off at {self.settings.max_tokens} tokens"
        return complaint


def _is_readable(schema: type[BaseModel], answer: Completion) -> bool:
    with suppress(UnreadableAnswer):
        return bool(read_answer(answer.text, schema))
    return False


async def _repaired(
    ask: Callable[[Sequence[Message]], Awaitable[T]], text: str, complaint: str
) -> tuple[T, int]:
    """Return a repaired answer and the requests without an answer; a text too long is not sent back."""
    try:
        return await ask(repair_messages(text, complaint)), 0
    except ContextExceeded as exceeded:  # no room for the answer next to the passages
        try:
            return await ask(repair_messages(LEFT_OUT, complaint)), exceeded.attempts
        except ModelFailed as error:
            error.attempts += exceeded.attempts
            raise


async def _without_fault(
    ask: Callable[[], Awaitable[T]], fault: Callable[[T], str | None]
) -> tuple[T | None, int]:
    """Return an answer without a fault, None if there is none, and the requests of a failed call."""
    try:
        value = await ask()
    except UnreadableAnswer:
        return None, 0
    except ModelFailed as error:
        return None, error.attempts
    return (None if fault(value) else value), 0


def _sum(counts: Iterator[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def chat_request(
    messages: Sequence[Message], schema: type[BaseModel], *, name: str, settings: LanguageModelSettings
) -> dict[str, Any]:
    """Return the body of a chat call whose answer is JSON of `schema`."""
    body: dict[str, Any] = {
        "model": settings.model,
        "messages": [dict(message) for message in messages],
        "temperature": settings.temperature,
        "max_tokens": settings.max_tokens,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": name, "schema": json_schema(schema), "strict": True},
        },
    }
    if settings.seed is not None:
        body["seed"] = settings.seed
    if settings.stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    if kwargs := settings.template_kwargs:
        body["chat_template_kwargs"] = kwargs
    return body | {key: value for key, value in settings.extra_body.items() if key != "chat_template_kwargs"}


def repair_messages(text: str, complaint: str, prompt: str = "repair") -> list[Message]:
    """Return the messages of a repair: the answer and its faults."""
    # Some chat templates refuse an empty turn.
    answer = text.strip()[:SENT_BACK_CHARACTERS] or "(empty)"
    asked = load_prompt(prompt, "en").render(complaint=complaint)
    return [{"role": "assistant", "content": answer}, {"role": "user", "content": asked}]
