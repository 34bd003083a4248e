"""Plans of multi-step questions: one-step questions, ordered if one needs another's answer."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from generator.llm import LanguageModel, Reply
from generator.model_calls.budgets import Allowance
from generator.model_calls.model_step import ModelStep, constant
from generator.prompts import load_prompt
from generator.tracing.steps import Step
from indexer.corpora.papers import language_of
from retriever.errors import BadQuestion
from retriever.requests.request import check_question

MOST_STEPS = 6  # of a chain (SHRAG, appendix A.3)
TWO_ROUNDS = "two rounds of searches in place of the steps"

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1_000)]
# Servers that enforce the schema respect the limit; the caller cuts longer replies of other servers.
Texts = Annotated[list[Text], Field(min_length=1, json_schema_extra={"maxItems": MOST_STEPS})]


class Decomposition(BaseModel):
    """The smallest set of one-step questions; `ordered` if one needs the answer of another."""

    questions: Texts
    ordered: bool


class Chain(BaseModel):
    """The questions of a chain, in order."""

    steps: Texts


@dataclass(frozen=True, slots=True)
class Plan:
    """One-step questions, none if the question itself is one; `ordered`: each may need earlier answers."""

    questions: tuple[str, ...]
    ordered: bool = False


async def plan_steps(
    parent: Step, question: str, model: LanguageModel | None, budget: Allowance
) -> Plan | None:
    """Ask for the smallest set of questions, and for their chain if they are ordered; None on failure."""
    found = await decompose_step(question).run(parent, model, budget)
    if found is None:
        return None
    if len(found.questions) < 2:  # noqa: PLR2004 - one step needs no plan
        return Plan(())
    if not found.ordered:
        return Plan(_cut(parent, found.questions))
    steps = await chain_step(question, found.questions).run(parent, model, budget)
    return Plan(_cut(parent, steps), ordered=True)


def decompose_step(question: str) -> ModelStep[Decomposition, Plan | None]:
    """Return the step that asks for one-step questions; None leads to two rounds of searches."""

    async def read(reply: Reply[Decomposition]) -> Plan:
        return Plan(usable(reply.value.questions, question), reply.value.ordered)

    return ModelStep(
        "decompose",
        load_prompt("decompose", language_of(question)),
        {"question": question},
        Decomposition,
        read=read,
        fallback=TWO_ROUNDS,
        otherwise=constant(None),
    )


def chain_step(question: str, decomposed: tuple[str, ...]) -> ModelStep[Chain, tuple[str, ...]]:
    """Return the step that asks for an ordered chain in place of the decomposed questions."""

    async def read(reply: Reply[Chain]) -> tuple[str, ...]:
        steps = usable(reply.value.steps, question)
        return steps if len(steps) > 1 else decomposed

    return ModelStep(
        "chain",
        load_prompt("chain", language_of(question)),
        {"question": question},
        Chain,
        read=read,
        fallback="the questions as decomposed",
        otherwise=constant(decomposed),
    )


def normalised(question: str) -> str:
    """Return the words of a question in a normal form, to recognise repeated questions."""
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", question).casefold()))


def usable(questions: Iterable[str], original: str) -> tuple[str, ...]:
    """Return the searchable questions without repetitions and without the original."""
    asked = {normalised(original), ""}
    kept = []
    for question in questions:
        if normalised(question) not in asked and _can_be_asked(question):
            asked.add(normalised(question))
            kept.append(question)
    return tuple(kept)


def _can_be_asked(question: str) -> bool:
    try:
        check_question(question)
    except BadQuestion:
        return False
    return True


def _cut(parent: Step, questions: tuple[str, ...]) -> tuple[str, ...]:
    if len(questions) > MOST_STEPS:
        parent.notes.append(f"the model planned {len(questions)} steps; the first {MOST_STEPS} are taken")
    return questions[:MOST_STEPS]
