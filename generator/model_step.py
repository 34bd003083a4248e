"""A model call as a step of the trace, with its prompt, its reply, its budget and its fallback.

step = ModelStep(
    "rewrite",
    load_prompt("rewrite", language),
    {"question": question, "facts": facts},
    Rewritten,
    read=lambda reply: reply.value.question,
    fallback="the step's own question",
    otherwise=constant(question),
)
question = await step.run(parent, model, budget)
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from base.notes import Note
from generator.budgets import Allowance, Budget, BudgetSpent, Cost
from generator.errors import ContextExceeded, ModelAnswerInvalid, ModelFailed, ModelTooSlow
from generator.llm import Growth, LanguageModel, OnText, Reply
from generator.llm.client import Limit
from generator.llm.context import REFUSED_SHARE, FittedPrompt, estimated_tokens, fit, passage_texts
from generator.llm.model import Message
from generator.prompts import Prompt
from generator.tracing import Step, error_text
from indexer.files.schema import StoredPassage

R = TypeVar("R", bound=BaseModel)
T = TypeVar("T")

MOST_REFUSALS = 3  # of a prompt that the server reports as too long, each time with shorter passages


class UnusableReply(Exception):
    """A reply matches the schema but has no usable value; the message continues "the model …"."""


@dataclass(frozen=True, slots=True)
class FromModel(Generic[T]):
    """A value made from a model's reply, and the record of the call for the trace."""

    value: T
    reply: Reply[Any]
    prompt_versions: Mapping[str, int]
    prompt: FittedPrompt | None = None  # of calls with passages

    def call_record(self) -> dict[str, Any]:
        """Return the call as JSON: reply, tokens, requests, times, and the prompt's fit to the context."""
        record = {**self.reply.as_record(), **self.prompt_versions}
        return record | {"context": self.prompt.as_record()} if self.prompt else record


@dataclass(frozen=True, slots=True)
class ModelStep(Generic[R, T]):
    """Declaration of one model call; `run` calls the model in a step of the trace.

    Args:
        name: name of the step, of the schema for the server, and of the time limit.
        prompt: the prompt; `values` has its variables, except `passages`.
        schema: type of the reply.
        read: makes the value from a reply; raises UnusableReply.
        fallback: name of the replacement of a failed call, for the trace and its note.
        otherwise: makes the value if the model fails or is missing; it never needs the model.
        if_spent: makes the value if the budget is spent; by default `otherwise`.
        inputs: inputs of the step for the trace.
        output: converts the value to JSON for the trace; by default the reply is the output.
        passages: passages in the prompt, shortened to fit the model's context; None without passages.
        further: text after the prompt, and its version by its key in the trace.
        fault: returns a note on a fault of a valid reply, for which the model is asked once more.
        runs_after_timeout: whether the step runs if the server was too slow for an earlier one of its parent.
        on_text: receives the growing text of the reply, like the listener of the step.
    """

    name: str
    prompt: Prompt
    values: Mapping[str, str | Sequence[str]]
    schema: type[R]
    read: Callable[[Reply[R]], T]
    fallback: str
    otherwise: Callable[[], Awaitable[T]]
    if_spent: Callable[[], Awaitable[T]] | None = None
    inputs: Mapping[str, Any] = field(default_factory=dict)
    output: Callable[[T], Any] | None = None
    passages: Sequence[StoredPassage] | None = None
    further: str = ""
    further_versions: Mapping[str, int] = field(default_factory=dict)
    fault: Callable[[R], Note | None] = lambda _: None
    runs_after_timeout: bool = False
    on_text: OnText | None = None

    async def run(self, parent: Step, model: LanguageModel | None, budget: Allowance | None = None) -> T:
        """Return the model's value, or the fallback if the model fails, is missing, or the budget is spent.

        If the server was too slow for an earlier step of the same parent, the step fails without a request.
        """
        if model is None:
            return await self.otherwise()
        messages = self._messages(passage_texts(self.passages or ()))
        most_tokens = estimated_tokens(messages) + model.settings.max_tokens
        failures = (earlier.failure for earlier in parent.children)
        slow = next((each for each in failures if isinstance(each, ModelTooSlow) and each.of_server), None)
        try:
            async with (budget or Allowance(Budget())).reserve(most_tokens) as cost:
                with parent.step(self.name, **self.inputs) as step:
                    step.model_call = {}
                    try:
                        if slow and not self.runs_after_timeout:
                            raise ModelTooSlow(str(slow), attempts=0)
                        made = await self.call(model, step.on_text)
                    except ModelFailed as error:
                        _record_failure(step, error, self.fallback, cost)
                    else:
                        self._record(step, made, cost, replayed=model.replays)
                        return made.value
        except BudgetSpent:
            return await (self.if_spent or self.otherwise)()
        return await self.otherwise()

    def _record(self, step: Step, made: FromModel[T], cost: Cost, *, replayed: bool) -> None:
        """Record a call in its step, and its cost; an answer from the file costs nothing, unless replayed."""
        reply = made.reply
        step.model_call = made.call_record()
        step.output = self.output(made.value) if self.output else reply.value.model_dump()
        step.notes += filter(None, (made.prompt.note if made.prompt else "", self.fault(reply.value)))
        if reply.from_cache and not replayed:
            cost.calls = cost.tokens = 0
        else:
            cost.calls = reply.attempts
            if reply.prompt_tokens is None or reply.completion_tokens is None:
                cost.tokens *= max(1, reply.attempts)
            else:
                cost.tokens = reply.prompt_tokens + reply.completion_tokens

    async def call(self, model: LanguageModel, on_text: OnText | None = None) -> FromModel[T]:
        """Call the model without a step and without a fallback; an invalid reply is repaired once.

        Passages that are too long are shortened, and again if the server refuses the prompt.

        Raises:
            ModelFailed: the call failed, or its reply is unusable.
        """
        limit, fitted = model.limit(self.name), None
        listeners = [listener for listener in (on_text, self.on_text) if listener]

        def show(growth: Growth) -> None:
            for listener in listeners:
                listener(growth)

        async def ask(messages: Sequence[Message]) -> Reply[R]:
            return await model.complete_json(
                messages,
                self.schema,
                name=self.name,
                prompt_version=self.prompt.version or None,
                limit=limit,
                on_text=show if listeners else None,
                fault=self.fault,
            )

        if self.passages is None:
            reply = await ask(self._messages())
        else:
            fitted, reply = await self._ask_with_passages(self.passages, ask, model, limit)
        versions = {"prompt_version": self.prompt.version, **self.further_versions}
        try:
            return FromModel(self.read(reply), reply, versions, fitted)
        except UnusableReply as unusable:
            raise ModelAnswerInvalid(
                f"{reply.model} at {model.url} {unusable}. Use another model.",
                text=reply.text,
                attempts=reply.attempts,
            ) from None

    async def _ask_with_passages(
        self,
        passages: Sequence[StoredPassage],
        ask: Callable[[Sequence[Message]], Awaitable[Reply[R]]],
        model: LanguageModel,
        limit: Limit,
    ) -> tuple[FittedPrompt, Reply[R]]:
        """Return the prompt that fits the context, and the reply to it."""
        context, refused = await model.context(limit), 0
        room = context and context - model.settings.max_tokens
        while True:
            fitted = fit(passages, self._messages, context, room)
            try:
                reply = await ask(fitted.messages)
            except ContextExceeded as error:
                refused += error.attempts
                if refused >= MOST_REFUSALS:
                    error.attempts = refused
                    raise
                room = int(REFUSED_SHARE * estimated_tokens(fitted.messages))
            else:
                return fitted, replace(reply, attempts=reply.attempts + refused)

    def _messages(self, passages: Sequence[str] = ()) -> list[Message]:
        """Return the messages with passages of these texts; raises InvalidPrompt."""
        shown = {} if self.passages is None else {"passages": passages}
        rendered = self.prompt.render(**self.values, **shown)
        return [{"role": "user", "content": f"{rendered}\n\n{self.further}" if self.further else rendered}]


def _record_failure(step: Step, error: ModelFailed, fallback: str, cost: Cost) -> None:
    """Record a failed call in its step, and its cost: tokens only of an answer, or of a server in time."""
    step.failure, step.error, step.fallback = error, error_text(error), fallback
    step.notes.append(Note("model_failed", fallback=fallback, error=str(error)))
    step.model_call = {"attempts": error.attempts} | ({"text": error.text} if error.text else {})
    cost.calls = error.attempts
    cost.tokens *= error.attempts if isinstance(error, ModelAnswerInvalid | ModelTooSlow) else 0


def constant(value: T) -> Callable[[], Awaitable[T]]:
    """Return a coroutine function that returns `value`, for `otherwise` and `if_spent`."""

    async def given() -> T:
        return value

    return given
