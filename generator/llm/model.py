"""The language model: JSON of a given schema, from an OpenAI-compatible endpoint.

The format is that of OpenAI's chat completions with `response_format` of type `json_schema`, as vLLM and
llama.cpp serve it; the answer of a server that ignores the schema is read leniently.
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
from generator.llm.chat import Message, chat_request, repair_messages
from generator.llm.completion import Completion
from generator.llm.counting import CountTokens
from generator.llm.endpoint import json_bytes
from generator.llm.limits import Limit, limit_of, now
from generator.llm.reading import OnGrowth
from generator.llm.recording import Call, Outcome, Recording
from generator.llm.reply import Growth, OnText, Reply
from generator.llm.sending import Sender
from generator.llm.server import Context, Server
from generator.llm.structured import UnreadableAnswer, read_answer
from generator.settings import CacheSettings, LanguageModelSettings

if TYPE_CHECKING:  # a command that calls no model does not wait for it
    import httpx

T = TypeVar("T", bound=BaseModel)

LEFT_OUT = "(left out)"  # in place of an answer that is too long to be sent back
HOW_IT_COMES = frozenset({"stream", "stream_options"})  # says nothing of what is answered


class LanguageModel:
    """A language model behind an OpenAI-compatible endpoint; opened and closed by `async with`.

    One that is held open serves any number of calls at once: `concurrency` of them are under way, the others
    wait, and all share the circuit.
    """

    def __init__(
        self,
        settings: LanguageModelSettings,
        *,
        transport: "httpx.AsyncBaseTransport | None" = None,
        cache: CacheSettings | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Name the endpoint; nothing is sent or opened yet.

        `transport` stands in for the network, `clock` for the circuit's time; `cache` says which file of
        recorded calls is used, and how.

        Raises:
            ModelNotConfigured: the settings name no endpoint.
        """
        if settings.base_url is None:
            raise ModelNotConfigured(
                "no language model is configured. Set SHRAG_LLM__BASE_URL, like http://localhost:8000/v1, "
                "and SHRAG_LLM__MODEL."
            )
        self.settings = settings
        self._sender = Sender(settings, transport, clock)
        self._server = Server(settings, self._sender)
        self._cache = cache or CacheSettings()
        self._recording: Recording | None = None
        self._closing = AsyncExitStack()
        self.endpoint = self._sender.url

    async def __aenter__(self) -> Self:
        """Open the client, the file of recorded calls and the tokenizer, as far as settings name them.

        Raises:
            CacheUnusable, TokenizerUnusable: one of these cannot be used.
        """
        await self._server.open()
        self._recording = await asyncio.to_thread(Recording, self._cache, str(self.settings.base_url))
        self._closing.callback(self._recording.close)
        await self._sender.open()
        self._closing.push_async_callback(self._sender.close)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the connections, and the file."""
        self._recording = None
        await self._closing.aclose()

    @property
    def _opened(self) -> Recording:
        if self._recording is None:
            raise RuntimeError("open the language model first: async with LanguageModel(…) as model")
        return self._recording

    @property
    def is_left_alone(self) -> bool:
        """Whether its server has failed so often that it is not asked now."""
        return self._sender.circuit.is_open

    @property
    def replays(self) -> bool:
        """Whether every answer is one that was recorded."""
        return self._cache.mode == "replay"

    def check(self) -> None:
        """Raise CircuitOpen where the server is left alone now and no file could answer in its place."""
        if self._cache.mode == "off":
            self._sender.circuit.check()

    def limit(self, stage: str) -> Limit:
        """Return the time limit of a stage that begins now."""
        return limit_of(stage, self.settings)

    async def context(self, limit: Limit) -> Context:
        """Return how many tokens prompt and answer may have together, where the server or a setting says."""
        return await self._server.context(self._opened, limit)

    def counter(self, limit: Limit) -> CountTokens:
        """Return what counts the tokens of a prompt, by the model's own tokenizer where it is at hand."""
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
        """Ask for JSON of `schema`; an answer that does not fit is sent back once to be repaired.

        If the context has no room for that, the complaint alone is sent. `may_ask_again` is called before
        every request after the first; when it returns False, no further request is sent.

        `name` (letters, digits, `_`, `-`) names the schema for the server and in messages, and the stage
        whose time limit holds for the whole, pauses included; `limit` is one that began before. The
        `prompt_version` goes into the key of a recorded call. `on_text` is called with the answer as it
        grows. Whoever cancels the call closes its connection, upon which a server stops writing.

        Raises:
            ModelUnreachable, ModelTooSlow, ModelRefusedCall: the call failed, after retries where they help.
            CircuitOpen: the server is left alone after repeated failures.
            ModelAnswerInvalid: the answer was not of `schema`, nor was the second.
            CallNotRecorded, CacheUnusable: a replay misses the call, or the file cannot be used.
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
        refused = 0  # requests of a repair that is too long for the context
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
                except ContextExceeded as error:  # the passages had room; the answer beside them has none
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
        """Have a call answered, by the server or from the file of recorded ones."""
        body = chat_request(messages, schema, name=name, settings=self.settings)
        request = {key: value for key, value in body.items() if key not in HOW_IT_COMES}
        call = Call("chat", name, self.settings.model, self.settings.revision, prompt_version, request)
        sent: list[Completion] = []

        async def ask() -> Outcome:
            sent.append(await self._sender.send(json_bytes(body), limit, show, may_ask_again))
            return sent[0].as_record()

        outcome, from_file = await self._opened.outcome(call, ask, partial(_is_readable, schema))
        answer = Completion.from_record(outcome) if from_file else sent[0]
        if answer.first_token_s is None:  # it came in one piece
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
            f"{answer.model} at {self.endpoint} gave no valid {name!r} answer, asked "
            f"{'once' if len(calls) == 1 else 'twice'}: {one_line(complaint)}. {step}",
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
