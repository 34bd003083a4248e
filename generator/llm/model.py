"""Language model that returns values of a given schema from an OpenAI-compatible endpoint.

Requests are OpenAI chat completions with `response_format` of type `json_schema`, as supported by vLLM and
llama.cpp. Answers of servers that ignore the schema are read tolerantly; an unreadable one is repaired once.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Self, TypeAlias, TypeVar

from pydantic import BaseModel

from base.untrusted import one_line, read_json
from generator.errors import ModelAnswerInvalid, ModelFailed, ModelNotConfigured
from generator.llm.client import Client, Completion, Limit, now
from generator.llm.reading import UnreadableAnswer, json_schema, read_answer
from generator.llm.recording import Call, Recording
from generator.prompts import load_prompt
from generator.settings import CacheSettings, LanguageModelSettings

if TYPE_CHECKING:  # commands without model calls do not import it
    import httpx

T = TypeVar("T", bound=BaseModel)

SENT_BACK_CHARACTERS = 20_000  # of an answer sent back for repair
TRANSPORT_FIELDS = frozenset({"stream", "stream_options"})  # do not affect the answer
CONTEXT_S = 10.0  # for a request that normally takes milliseconds
MOST_TOKENS = 2**40

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
        self._context: int | None = None  # 0: the server reports none

    async def __aenter__(self) -> Self:
        """Open the client, and the file of recorded calls if configured; raises CacheUnusable."""
        self._asking = asyncio.Lock()
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
        started, limit, failed = now(), limit or self.limit(name), 0
        answers: list[Completion] = []

        def show(text: str, pieces: int) -> None:
            if on_text:
                on_text(Growth(name, text, pieces))

        async def ask(more: Sequence[Message] = ()) -> tuple[T | None, str]:
            """Return the value of an answer, or the complaint about an unreadable one."""
            body = chat_request([*messages, *more], schema, name=name, settings=self.settings)
            request = {key: value for key, value in body.items() if key not in TRANSPORT_FIELDS}
            sending = partial(self.complete, body, limit, show)
            usable = partial(_is_readable, schema)
            answer = await self._asked("chat", name, request, sending, usable, prompt_version)
            if answer.first_token_s is None:  # not streamed
                show(answer.text, answer.usage.completion_tokens or 0)
            answers.append(answer)
            try:
                return read_answer(answer.text, schema), ""
            except UnreadableAnswer as unreadable:
                return None, self._complaint(answer, unreadable)

        value, complaint = await ask()
        first = used = answers[0]
        if correction := complaint or (fault(value) if value else None):
            show("", 0)
            prompt = "repair" if complaint else "correction"
            try:
                other, complaint = await ask(repair_messages(first.text, correction, prompt))
            except ModelFailed as error:
                if value is None:
                    error.attempts += first.attempts
                    raise
                failed = error.attempts
            else:
                if other is not None and (value is None or not fault(other)):
                    value, used = other, answers[-1]
        if value is None:
            raise self._invalid(answers, complaint, name)
        return Reply(
            value=value,
            model=used.model,
            text=used.text,
            finish_reason=used.finish_reason,
            prompt_tokens=_sum(each.usage.prompt_tokens for each in answers),
            completion_tokens=_sum(each.usage.completion_tokens for each in answers),
            attempts=failed + sum(each.attempts for each in answers),
            repaired=used is not first,
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
        ask: Callable[[], Awaitable[Completion]],
        is_usable: Callable[[Completion], bool] = lambda _: True,
        prompt_version: int | None = None,
    ) -> Completion:
        """Return the outcome of a call, recorded or replayed if a file is in use."""
        if self._recording is None:
            return await ask()
        call = Call(kind, name, self.settings.model, self.settings.revision, prompt_version, request)
        return await self._recording.outcome(call, ask, is_usable)

    async def context(self, limit: Limit) -> int | None:
        """Return the tokens of the model's context; None if neither the settings nor the server name them."""
        if self.settings.context_tokens is not None:
            return self.settings.context_tokens
        url = f"{self.settings.base_url}/models"

        async def send() -> Completion:
            self.circuit.check()
            seconds = limit.or_sooner(min(CONTEXT_S, self.settings.timeout_s), "timeout_s").left
            response = await self.exchange("GET", url, None, seconds)
            tokens = context_of_model(response.content, str(self.settings.model))
            return Completion(text=str(tokens), model=str(self.settings.model))

        async with self._asking:
            if self._context is None:
                with suppress(ModelFailed):  # a later call requests it again
                    self._context = int((await self._asked("context", "context", {}, send)).text)
            return self._context or None

    def _invalid(self, answers: Sequence[Completion], complaint: str, name: str) -> ModelAnswerInvalid:
        answer = answers[-1]
        step = (
            "Raise SHRAG_LLM__MAX_TOKENS."
            if answer.finish_reason == "length"
            else "Use a server that enforces `response_format` (vLLM does), or another model."
        )
        return ModelAnswerInvalid(
            f"{answer.model} at {self.url} gave no valid {name!r} answer after one repair: "
            f"{one_line(complaint)}. {step}",
            text=answer.text,
            attempts=sum(each.attempts for each in answers),
        )

    def _complaint(self, answer: Completion, unreadable: UnreadableAnswer) -> str:
        complaint = str(unreadable) if answer.text.strip() else "the answer is empty"
        if answer.finish_reason == "length":
            complaint += f"; it was cut off at {self.settings.max_tokens} tokens"
        return complaint


def context_of_model(models: bytes, name: str) -> int:
    """Return the `max_model_len` of a model in vLLM's response of /models; 0 if it names none."""
    try:
        sizes = {str(each.get("id")): each.get("max_model_len") for each in read_json(models)["data"]}
        return int(sizes[name]) if 0 < sizes[name] <= MOST_TOKENS else 0
    except (ValueError, LookupError, TypeError, AttributeError):
        return 0


def _is_readable(schema: type[BaseModel], answer: Completion) -> bool:
    with suppress(UnreadableAnswer):
        return bool(read_answer(answer.text, schema))
    return False


def _sum(counts: Iterable[int | None]) -> int | None:
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
