"""Model calls for multi-step questions, with a schema and a prompt for each."""

from collections.abc import Sequence
from typing import Annotated, TypeVar

from pydantic import BaseModel, Field, StringConstraints

from generator.llm import LanguageModel, Message, OnText
from generator.model_calls.context import fit
from generator.model_calls.model_step import FromModel, model_step
from generator.prompts import load_prompt
from generator.tracing.steps import Step
from indexer.corpora.papers import language_of
from indexer.files.schema import StoredPassage

MOST_STEPS = 6  # of a chain (SHRAG, appendix A.3)

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1_000)]
# Servers that enforce the schema respect the limit; the caller cuts longer replies of other servers.
Texts = Annotated[list[Text], Field(min_length=1, json_schema_extra={"maxItems": MOST_STEPS})]
T = TypeVar("T", bound=BaseModel)


class Decomposition(BaseModel):
    """The smallest set of one-step questions; `ordered` if one needs the answer of another."""

    questions: Texts
    ordered: bool


class Chain(BaseModel):
    """The questions of a chain, in order."""

    steps: Texts


class Rewritten(BaseModel):
    """A standalone question."""

    question: Text


class SubAnswer(BaseModel):
    """The answer to a one-step question, and the numbers of its passages."""

    answer: Annotated[str, StringConstraints(strip_whitespace=True, max_length=1_000)]
    passages: list[int]
    answered: bool


async def ask_step(
    parent: Step,
    name: str,
    schema: type[T],
    question: str,
    model: LanguageModel,
    *,
    fallback: str,
    **values: Sequence[str],
) -> T | None:
    """Ask for JSON of a schema in a step with the prompt of the same name; None if the model fails."""
    prompt = load_prompt(name, language_of(question))
    messages: list[Message] = [{"role": "user", "content": prompt.render(question=question, **values)}]

    async def ask(on_text: OnText | None) -> FromModel[T]:
        reply = await model.complete_json(
            messages, schema, name=name, prompt_version=prompt.version, on_text=on_text
        )
        return FromModel(reply.value, reply, prompt.version)

    return await model_step(parent, name, ask, BaseModel.model_dump, fallback=fallback)


async def sub_answer(
    question: str, evidence: Sequence[StoredPassage], model: LanguageModel, on_text: OnText | None = None
) -> FromModel[SubAnswer]:
    """Ask for a short answer from passages, which are shortened to fit the context; raises ModelFailed."""
    prompt = load_prompt("sub_answer", language_of(question))
    limit = model.limit("sub_answer")

    def messages_of(passages: Sequence[str]) -> list[Message]:
        return [{"role": "user", "content": prompt.render(question=question, passages=passages)}]

    fitted = await fit(evidence, messages_of, model, limit)
    reply = await model.complete_json(
        fitted.messages,
        SubAnswer,
        name="sub_answer",
        prompt_version=prompt.version,
        limit=limit,
        on_text=on_text,
    )
    return FromModel(reply.value, reply, prompt.version, fitted)
