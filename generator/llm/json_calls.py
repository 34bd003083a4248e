"""Language model that returns JSON of a given schema from an OpenAI-compatible endpoint.

Requests are OpenAI chat completions with `response_format` of type `json_schema`, as supported by vLLM and
llama.cpp. Answers of servers that ignore the schema are parsed leniently.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING, Self, TypeVar

from pydantic import BaseModel

from base.untrusted import one_line
from generator.errors import ContextExceeded, ModelAnswerInvalid, ModelFailed, ModelNotConfigured
from generator.llm.client import Client, OnGrowth
from generator.llm.context_size import Context, CountTokens, Server
from generator.llm.json_answers import Message, UnreadableAnswer, chat_request, read_answer, repair_messages
from generator.llm.limits import Limit, limit_of, now
from generator.llm.recording import Call, Outcome, Recording
from generator.llm.replies import Completion, Growth, OnText, Reply
from generator.settings import CacheSettings, LanguageModelSettings

if TYPE_CHECKING:  # commands without model calls do not import it
    import httpx

T = TypeVar("T", bound=BaseModel)

LEFT_OUT = "(left out)"  # replaces an answer that is too long to be sent back
TRANSPORT_FIELDS = frozenset({"stream", "stream_options"})  # do not affect the answer


class LanguageModel:
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
        self.settings = settings
        self._client = Client(settings, transport, clock)
        self._server = Server(settings, self._client)
        self._cache = cache or CacheSettings()
        self._recording: Recording | None = None
        self._closing = AsyncExitStack()
        self.endpoint = self._client.url

    async def __aenter__(self) -> Self:
        """Open the client, and the file of recorded calls and the tokenizer if configured.

        Raises:
            CacheUnusable, TokenizerUnusable: the file or the tokenizer cannot be used.
        """
        await self._server.open()
        self._recording = await asyncio.to_thread(Recording, self._cache, str(self.settings.base_url))
        self._closing.callback(self._recording.close)
        await self._client.open()
        self._closing.push_async_callback(self._client.close)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the connections and the file."""
        self._recording = None
        await self._closing.aclose()

    @property
    def _opened(self) -> Recording:
        if self._recording is None:
            raise RuntimeError("open the language model first: async with LanguageModel(…) as model")
        return self._recording

    @property
    def circuit_is_open(self) -> bool:
        """Whether calls are paused after repeated failures of the server."""
        return self._client.circuit.is_open

    @property
    def replays(self) -> bool:
        """Whether all answers come from recorded calls."""
        return self._cache.mode == "replay"

    def check(self) -> None:
        """Raise CircuitOpen if calls are paused and no file of recorded calls is in use."""
        if self._cache.mode == "off":
            self._client.circuit.check()

    def limit(self, stage: str) -> Limit:
        """Return the time limit of a stage that starts now."""
        return limit_of(stage, self.settings)

    async def context(self, limit: Limit) -> Context:
        """Return the context size of prompt and answer together, from a setting or the server."""
        return await self._server.context(self._opened, limit)

    def counter(self, limit: Limit) -> CountTokens:
        """Return a token counter for prompts; it uses the model's own tokenizer if available."""
        return self._server.counter(self._opened, limit)

    async def complete_json(
        self,
        messages: Sequence[Message],
        schema: type[T],
        *,
        name: str,
        prompt_version: int | None = None,
        limit: Limit | None = None,
        on_text: OnText | None = None,
        may_ask_again: Callable[[], bool] = lambda: True,
    ) -> Reply[T]:
        """Ask for JSON of `schema`; an invalid answer is sent back once for repair.

        If the context has no room for the answer, only the list of its faults is sent. `may_ask_again` is
        called before every request after the first; when it returns False, no further request is sent.

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
        started = now()

        def show(text: str, pieces: int) -> None:
            if on_text:
                on_text(Growth(name, text, pieces))

        limit = limit or self.limit(name)
        call = partial(
            self._call,
            schema=schema,
            name=name,
            prompt_version=prompt_version,
            limit=limit,
            show=show,
            may_ask_again=may_ask_again,
        )
        calls = [await call(messages)]
        refused = 0  # requests of a repair that was too long for the context
        first = calls[0]
        try:
            value = read_answer(first.text, schema)
        except UnreadableAnswer as unreadable:
            show("", 0)
            complaint = self._complaint(first, unreadable)
            if not may_ask_again():
                raise self._invalid(calls, complaint, name) from None
            try:
                try:
                    repair = await call([*messages, *repair_messages(first.text, complaint)])
                except ContextExceeded as error:  # no room for the answer next to the passages
                    if not may_ask_again():
                        raise
                    refused = error.attempts
                    repair = await call([*messages, *repair_messages(LEFT_OUT, complaint)])
            except ModelFailed as error:
                error.attempts += first.attempts + refused
                raise
            calls.append(repair)
            value = self._second_reading(calls, schema, name)
        last = calls[-1]
        return Reply(
            value=value,
            model=last.model,
            text=last.text,
            finish_reason=last.finish_reason,
            prompt_tokens=_sum([call.usage.prompt_tokens for call in calls]),
            completion_tokens=_sum([call.usage.completion_tokens for call in calls]),
            attempts=sum(call.attempts for call in calls) + refused,
            repaired=len(calls) > 1,
            milliseconds=1000 * (now() - started),
            queued_ms=1000 * sum(call.queued_s for call in calls),
            first_token_ms=None if first.first_token_s is None else 1000 * first.first_token_s,
            from_cache=all(call.from_cache for call in calls),
        )

    async def _call(
        self,
        messages: Sequence[Message],
        *,
        schema: type[BaseModel],
        name: str,
        prompt_version: int | None,
        limit: Limit,
        show: OnGrowth,
        may_ask_again: Callable[[], bool],
    ) -> Completion:
        """Answer a call by the server or from the file of recorded calls."""
        body = chat_request(messages, schema, name=name, settings=self.settings)
        request = {key: value for key, value in body.items() if key not in TRANSPORT_FIELDS}
        call = Call("chat", name, self.settings.model, self.settings.revision, prompt_version, request)
        sent: list[Completion] = []

        async def ask() -> Outcome:
            sent.append(await self._client.complete(body, limit, show, may_ask_again))
            return sent[0].as_record()

        outcome, from_file = await self._opened.outcome(call, ask, partial(_is_readable, schema))
        answer = Completion.from_record(outcome) if from_file else sent[0]
        if answer.first_token_s is None:  # not streamed
            show(answer.text, answer.usage.completion_tokens or 0)
        return answer

    def _second_reading(self, calls: Sequence[Completion], schema: type[T], name: str) -> T:
        answer = calls[-1]
        try:
            return read_answer(answer.text, schema)
        except UnreadableAnswer as unreadable:
            raise self._invalid(calls, self._complaint(answer, unreadable), name) from None

    def _invalid(self, calls: Sequence[Completion], complaint: str, name: str) -> ModelAnswerInvalid:
        answer = calls[-1]
        step = (
            "Raise SHRAG_LLM__MAX_TOKENS."
            if answer.finish_reason == "length"
            else "Use a server that enforces `response_format` (vLLM does), or another model."
        )
        return ModelAnswerInvalid(
            f"{answer.model} at {self.endpoint} gave no valid {name!r} answer"
            f"{' after one repair' if len(calls) > 1 else ''}: {one_line(complaint)}. {step}",
            text=answer.text,
            attempts=sum(call.attempts for call in calls),
        )

    def _complaint(self, answer: Completion, unreadable: UnreadableAnswer) -> str:
        complaint = str(unreadable) if answer.text.strip() else "the answer is empty"
        if answer.finish_reason == "length":
            complaint += f"; it was cut off at {self.settings.max_tokens} tokens"
        return complaint


def _sum(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _is_readable(schema: type[BaseModel], outcome: Outcome) -> bool:
    try:
        read_answer(outcome["text"], schema)
    except UnreadableAnswer:
        return False
    return True
