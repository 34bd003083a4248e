"""The language model: JSON of a given schema, from an OpenAI-compatible endpoint.

The format is that of OpenAI's chat completions with `response_format` of type `json_schema`, as vLLM and
llama.cpp serve it; the answer of a server that ignores the schema is read leniently.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Self, TypeAlias, TypeVar

from pydantic import BaseModel

from generator.errors import ModelAnswerInvalid, ModelNotConfigured
from generator.llm.chat import Message, chat_request, repair_messages
from generator.llm.completion import Completion, Growing
from generator.llm.endpoint import json_bytes
from generator.llm.limits import Limit, limit_of, now
from generator.llm.refusals import shown
from generator.llm.sending import Delivered, Sender
from generator.settings import LanguageModelSettings
from generator.structured import UnreadableAnswer, read_answer

if TYPE_CHECKING:  # a command that calls no model does not wait for it
    import httpx

T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Reply(Generic[T]):
    """A valid answer, and what it took to get it."""

    value: T
    model: str  # as the server reports it
    text: str  # as it came
    finish_reason: str
    prompt_tokens: int | None  # of all calls, where the server counts them
    completion_tokens: int | None
    attempts: int  # requests sent, retries and repair included
    repaired: bool
    milliseconds: float
    queued_ms: float = 0.0  # waited for a place among the calls under way
    first_token_ms: float | None = None  # of the first call, from sending; None where nothing was streamed

    def as_record(self) -> dict[str, Any]:
        """Return all but the value as JSON, for a trace."""
        times = {"queued": self.queued_ms, "first_token": self.first_token_ms, "total": self.milliseconds}
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
    """An answer on its way: what has come of it, as it came. A retry or a repair begins with no text."""

    stage: str  # the call's name: keywords, answer
    text: str
    pieces: int  # that came: about its tokens, those of a thought included


OnText: TypeAlias = Callable[[Growth], None]


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
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Name the endpoint; nothing is sent yet. `transport` stands in for the network, `clock` for time.

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
        self.endpoint = self._sender.endpoint.url

    async def __aenter__(self) -> Self:
        """Open the connections."""
        await self._sender.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the connections."""
        await self._sender.close()

    async def complete_json(
        self, messages: Sequence[Message], schema: type[T], *, name: str, on_text: OnText | None = None
    ) -> Reply[T]:
        """Ask for JSON of `schema`; an answer that is none is sent back once to be mended.

        `name` (letters, digits, `_`, `-`) names the schema for the server and in messages, and the stage
        whose time limit holds for the whole, pauses included. `on_text` is called with the answer as it
        grows. Whoever cancels the call closes its connection, upon which a server stops writing.

        Raises:
            ModelUnreachable, ModelTooSlow, ModelRefusedCall: the call failed, after retries where they help.
            CircuitOpen: the server is left alone after repeated failures.
            ModelAnswerInvalid: the answer was not of `schema`, nor was the second.
        """
        started, limit = now(), limit_of(name, self.settings)
        delivered = [await self._call(messages, schema, name, limit, on_text)]
        first = delivered[0].completion
        try:
            value = read_answer(first.text, schema)
        except UnreadableAnswer as unreadable:
            mended = [*messages, *repair_messages(first.text, self._complaint(first, unreadable))]
            delivered.append(await self._call(mended, schema, name, limit, on_text))
            value = self._second_reading(delivered[1].completion, schema, name)
        last = delivered[-1].completion
        first_token_s = delivered[0].times.first_token_s
        return Reply(
            value=value,
            model=last.model,
            text=last.text,
            finish_reason=last.finish_reason,
            prompt_tokens=_sum([one.completion.usage.prompt_tokens for one in delivered]),
            completion_tokens=_sum([one.completion.usage.completion_tokens for one in delivered]),
            attempts=sum(one.times.attempts for one in delivered),
            repaired=len(delivered) > 1,
            milliseconds=1000 * (now() - started),
            queued_ms=1000 * sum(one.times.queued_s for one in delivered),
            first_token_ms=None if first_token_s is None else 1000 * first_token_s,
        )

    async def _call(
        self,
        messages: Sequence[Message],
        schema: type[BaseModel],
        name: str,
        limit: Limit,
        on_text: OnText | None,
    ) -> Delivered:
        def grown(growing: Growing) -> None:
            if on_text:
                on_text(Growth(name, growing.text, growing.pieces))

        body = chat_request(messages, schema, name=name, settings=self.settings)
        return await self._sender.send(json_bytes(body), limit, grown)

    def _second_reading(self, answer: Completion, schema: type[T], name: str) -> T:
        try:
            return read_answer(answer.text, schema)
        except UnreadableAnswer as unreadable:
            step = (
                "Raise SHRAG_LLM__MAX_TOKENS."
                if answer.finish_reason == "length"
                else "Use a server that enforces `response_format` (vLLM does), or another model."
            )
            raise ModelAnswerInvalid(
                f"{answer.model} at {self.endpoint} gave no valid {name!r} answer, asked twice: "
                f"{shown(self._complaint(answer, unreadable))}. {step}",
                text=answer.text,
            ) from None

    def _complaint(self, answer: Completion, unreadable: UnreadableAnswer) -> str:
        told = str(unreadable) if answer.text.strip() else "the answer is empty"
        if answer.finish_reason == "length":
            told += f"; it was cut off at {self.settings.max_tokens} tokens"
        return told


def _sum(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
