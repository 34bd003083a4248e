"""A call of the language model as a step: what it took, and what takes its place where it fails."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from generator.errors import ModelAnswerInvalid, ModelFailed, ModelTooSlow
from generator.llm import OnText, Reply
from generator.model_calls.context import FittedPrompt
from generator.tracing.steps import Step, described

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FromModel(Generic[T]):
    """What was made of a model's reply, and how it came about."""

    value: T
    reply: Reply[Any]
    prompt_version: int
    prompt: FittedPrompt | None = None  # where passages had to fit the model's context
    exclusions_version: int | None = None  # of the prompt that says what to leave out

    def call_record(self) -> dict[str, Any]:
        """Return the call as JSON: reply, tokens, requests, times, and how the prompt fits the context."""
        record = self.reply.as_record() | {"prompt_version": self.prompt_version}
        if self.exclusions_version is not None:
            record["exclusions_prompt_version"] = self.exclusions_version
        return record | {"context": self.prompt.as_record()} if self.prompt else record


async def model_step(
    parent: Step,
    name: str,
    ask: Callable[[OnText | None], Awaitable[FromModel[T]]],
    output: Callable[[T], Any],
    *,
    fallback: str,
    **inputs: Any,
) -> T | None:
    """Ask the model as a step of this name; where it fails, None, and the caller does as `fallback` says.

    A server that was too slow for an earlier step of the same parent is not waited for again. `output` makes
    JSON of the value.
    """
    failures = (earlier.failure for earlier in parent.children)
    slow = next((each for each in failures if isinstance(each, ModelTooSlow) and each.of_server), None)
    with parent.step(name, **inputs) as step:
        step.model_call = {}
        try:
            if slow:
                raise slow
            made = await ask(step.on_text)
        except ModelFailed as error:
            step.failure, step.error, step.fallback = error, described(error), fallback
            step.notes.append(f"{fallback}, the model failed: {error}")
            step.model_call["attempts"] = 0 if slow else error.attempts
            if isinstance(error, ModelAnswerInvalid):
                step.model_call["text"] = error.text
            return None
        step.model_call, step.output = made.call_record(), output(made.value)
        if made.prompt and made.prompt.note:
            step.notes.append(made.prompt.note)
        return made.value
