"""A model call as a step, with its cost, and its fallback on failure."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from generator.errors import ModelAnswerInvalid, ModelFailed, ModelTooSlow
from generator.llm import OnText, Reply
from generator.model_calls.context import FittedPrompt
from generator.tracing.steps import Step, error_text

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FromModel(Generic[T]):
    """A value made from a model's reply, with the reply and its prompt."""

    value: T
    reply: Reply[Any]
    prompt_version: int
    prompt: FittedPrompt | None = None  # of calls with passages
    exclusions_version: int | None = None  # version of the prompt part about exclusions

    def call_record(self) -> dict[str, Any]:
        """Return the call as JSON: reply, tokens, requests, times, and the prompt's fit to the context."""
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
    """Ask the model in a step of this name; on failure return None, and the caller applies `fallback`.

    If the server was too slow for an earlier step of the same parent, the step fails without a request.
    `output` converts the value to JSON.
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
            step.failure, step.error, step.fallback = error, error_text(error), fallback
            step.notes.append(f"{fallback}, the model failed: {error}")
            step.model_call["attempts"] = 0 if slow else error.attempts
            if isinstance(error, ModelAnswerInvalid):
                step.model_call["text"] = error.text
            return None
        step.model_call, step.output = made.call_record(), output(made.value)
        if made.prompt and made.prompt.note:
            step.notes.append(made.prompt.note)
        return made.value
