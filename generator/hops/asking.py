"""What a model is asked about the steps of a question, each as JSON of a schema by a prompt of its own."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, TypeVar

from pydantic import BaseModel, Field, StringConstraints

from generator.context import fit
from generator.llm import LanguageModel, Message, OnText
from generator.model_step import FromModel
from generator.prompts import load_prompt
from indexer.papers import language_of
from indexer.schema import StoredPassage

MOST_STEPS = 6  # of a chain (SHRAG, appendix A.3)

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1_000)]
# A server that enforces the schema writes no more; what another one writes beyond is cut by the caller.
Texts = Annotated[list[Text], Field(min_length=1, json_schema_extra={"maxItems": MOST_STEPS})]
T = TypeVar("T", bound=BaseModel)


class Decomposition(BaseModel):
    """The smallest set of questions of one step; `ordered` where one needs the answer of another."""

    questions: Texts
    ordered: bool


class Chain(BaseModel):
    """The questions of a chain in their order."""

    steps: Texts


class Rewritten(BaseModel):
    """A question that stands alone."""

    question: Text


class SubAnswer(BaseModel):
    """The answer to a question of one step, and the numbers of the passages that it rests on."""

    answer: Annotated[str, StringConstraints(strip_whitespace=True, max_length=1_000)]
    passages: list[int]
    answered: bool


async def decompose(
    question: str, model: LanguageModel, on_text: OnText | None = None
) -> FromModel[Decomposition]:
    """Ask for the smallest set of questions of one step; raises ModelFailed."""
    return await _ask("decompose", Decomposition, question, model, on_text)


async def chain(question: str, model: LanguageModel, on_text: OnText | None = None) -> FromModel[Chain]:
    """Ask for questions in an order in which each leads to the next; raises ModelFailed."""
    return await _ask("chain", Chain, question, model, on_text)


async def rewrite(
    question: str, facts: Sequence[str], model: LanguageModel, on_text: OnText | None = None
) -> FromModel[Rewritten]:
    """Ask for a question with the facts of earlier steps put into it; raises ModelFailed."""
    return await _ask("rewrite", Rewritten, question, model, on_text, facts=facts)


async def sub_answer(
    question: str, evidence: Sequence[StoredPassage], model: LanguageModel, on_text: OnText | None = None
) -> FromModel[SubAnswer]:
    """Ask for a short answer from passages, shortened to fit the model; raises ModelFailed."""
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


async def _ask(
    name: str,
    schema: type[T],
    question: str,
    model: LanguageModel,
    on_text: OnText | None,
    **values: Sequence[str],
) -> FromModel[T]:
    prompt = load_prompt(name, language_of(question))
    call = partial(model.complete_json, name=name, prompt_version=prompt.version, on_text=on_text)
    reply = await call([{"role": "user", "content": prompt.render(question=question, **values)}], schema)
    return FromModel(reply.value, reply, prompt.version)
