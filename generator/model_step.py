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
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeAlias, TypeVar

from pydantic import BaseModel

from base.notes import Note
from generator.budgets import Allowance, Budget, BudgetSpent, Cost
from generator.errors import ContextExceeded, ModelAnswerInvalid, ModelFailed, ModelTooSlow
from generator.llm import LanguageModel, OnText, Reply
from generator.llm.context import FittedPrompt, fit
from generator.llm.model import Message
from generator.prompts import Prompt
from generator.tracing.steps import Step, error_text
from indexer.files.schema import StoredPassage

R = TypeVar("R", bound=BaseModel)
T = TypeVar("T")

CHARACTERS_OF_A_TOKEN = 2  # for a high estimate, also of Korean
Listening: TypeAlias = Callable[[OnText | None], AbstractAsyncContextManager[OnText | None]]


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
        listening: opens a listener for the growing text from the listener of the step.
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
    listening: Listening = nullcontext

    async def run(self, parent: Step, model: LanguageModel | None, budget: Allowance | None = None) -> T:
        """Return the model's value, or the fallback if the model fails, is missing, or the budget is spent.

        If the server was too slow for an earlier step of the same parent, the step fails without a request.
        """
        if model is None:
            return await self.otherwise()
        try:
            async with (budget or Allowance(Budget())).reserve(self._most_tokens(model)) as cost:
                made = await self._in_a_step(parent, model, cost)
                if isinstance(made, ModelFailed):
                    cost.calls = made.attempts
                    if not made.attempts or not isinstance(made, ModelAnswerInvalid | ModelTooSlow):
                        cost.tokens = 0
                elif made.reply.from_cache and not model.replays:  # a replay ends as its recording
                    cost.calls = cost.tokens = 0
                else:
                    cost.calls = made.reply.attempts
                    counts = made.reply.prompt_tokens, made.reply.completion_tokens
                    cost.tokens = cost.tokens if None in counts else sum(filter(None, counts))
        except BudgetSpent:
            return await (self.if_spent or self.otherwise)()
        return await self.otherwise() if isinstance(made, ModelFailed) else made.value

    async def _in_a_step(self, parent: Step, model: LanguageModel, cost: Cost) -> FromModel[T] | ModelFailed:
        """Call the model in a step; return the failure of a failed call, raise BudgetSpent."""
        failures = (earlier.failure for earlier in parent.children)
        slow = next((each for each in failures if isinstance(each, ModelTooSlow) and each.of_server), None)
        with parent.step(self.name, **self.inputs) as step:
            step.model_call = {}
            try:
                if slow and not self.runs_after_timeout:
                    again = ModelTooSlow(str(slow))
                    again.attempts = 0
                    raise again
                made = await self.call(model, step.on_text, cost)
            except ModelFailed as error:
                if cost.is_refused:
                    cost.calls = error.attempts
                    raise BudgetSpent from error
                step.failure, step.error, step.fallback = error, error_text(error), self.fallback
                step.notes.append(Note("model_failed", fallback=self.fallback, error=str(error)))
                step.model_call["attempts"] = error.attempts
                if isinstance(error, ModelAnswerInvalid):
                    step.model_call["text"] = error.text
                return error
            step.model_call = made.call_record()
            step.output = self.output(made.value) if self.output else made.reply.value.model_dump()
            notes = (made.prompt and made.prompt.note, self.fault(made.reply.value))
            step.notes += [note for note in notes if note]
            return made

    async def call(
        self, model: LanguageModel, on_text: OnText | None = None, cost: Cost | None = None
    ) -> FromModel[T]:
        """Call the model without a step and without a fallback; an invalid reply is repaired once.

        Passages that are too long are shortened, and once more if the server refuses the prompt.

        Raises:
            ModelFailed: the call failed, or its reply is unusable.
        """
        limit = model.limit(self.name)
        if cost:
            limit = replace(limit, may_ask_again=cost.take_again)

        async def ask(messages: Sequence[Message]) -> Reply[R]:
            async with self.listening(on_text) as listener:
                return await model.complete_json(
                    messages,
                    self.schema,
                    name=self.name,
                    prompt_version=self.prompt.version or None,
                    limit=limit,
                    on_text=listener,
                    fault=self.fault,
                )

        fitted = None
        if self.passages is None:
            reply = await ask(self._messages())
        else:
            fitted = await fit(self.passages, self._messages, model, limit)
            try:
                reply = await ask(fitted.messages)
            except ContextExceeded as error:
                if not limit.may_ask_again():
                    raise
                fitted = await fit(self.passages, self._messages, model, limit, (fitted, error))
                reply = await ask(fitted.messages)
                reply = replace(reply, attempts=reply.attempts + error.attempts)
        versions = {"prompt_version": self.prompt.version, **self.further_versions}
        try:
            return FromModel(self.read(reply), reply, versions, fitted)
        except UnusableReply as unusable:
            raise ModelAnswerInvalid(
                f"{reply.model} at {model.endpoint} {unusable}. Use another model.",
                text=reply.text,
                attempts=reply.attempts,
            ) from None

    def _messages(self, passages: Sequence[str] = ()) -> list[Message]:
        """Return the messages with passages of these texts; raises InvalidPrompt."""
        shown = {} if self.passages is None else {"passages": passages}
        rendered = self.prompt.render(**self.values, **shown)
        return [{"role": "user", "content": f"{rendered}\n\n{self.further}" if self.further else rendered}]

    def _most_tokens(self, model: LanguageModel) -> int:
        """Estimate the most tokens of one request and its answer."""
        passages = [f"{passage.title}\n{passage.text}" for passage in self.passages or ()]
        text = self._messages(passages)[0]["content"]
        return len(text) // CHARACTERS_OF_A_TOKEN + model.settings.max_tokens


def no_listener(_: OnText | None) -> AbstractAsyncContextManager[None]:
    """Open no listener, for a reply that is not streamed."""
    return nullcontext()


def constant(value: T) -> Callable[[], Awaitable[T]]:
    """Return a coroutine function that returns `value`, for `otherwise` and `if_spent`."""

    async def given() -> T:
        return value

    return given
