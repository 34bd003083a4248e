"""The plan of a question of several steps: questions of one step, in order where one needs another's."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from generator.hops.asking import MOST_STEPS, Chain, Decomposition, ask_step
from generator.llm import LanguageModel
from generator.tracing.steps import Step
from retriever.errors import BadQuestion
from retriever.requests.request import check_question

TWO_ROUNDS = "two rounds of searches in place of the steps"


@dataclass(frozen=True, slots=True)
class Plan:
    """Questions of one step; none where the question is one itself. `ordered`: each may need those before."""

    questions: tuple[str, ...]
    ordered: bool = False


async def plan_steps(parent: Step, question: str, model: LanguageModel) -> Plan | None:
    """Ask for the smallest set of questions, and for their chain where they depend; None where that fails."""
    found = await ask_step(parent, "decompose", Decomposition, question, model, fallback=TWO_ROUNDS)
    if found is None:
        return None
    questions = usable(found.questions, question)
    if len(questions) < 2:  # noqa: PLR2004 - one step is no chain
        return Plan(())
    if not found.ordered:
        return Plan(_cut(parent, questions))
    asked = await ask_step(parent, "chain", Chain, question, model, fallback="the questions as decomposed")
    steps = usable(asked.steps, question) if asked else ()
    return Plan(_cut(parent, steps if len(steps) > 1 else questions), ordered=True)


def normalised(question: str) -> str:
    """Return a question by its words alone, so that one that was asked before is recognised."""
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", question).casefold()))


def usable(questions: Iterable[str], original: str) -> tuple[str, ...]:
    """Return questions that can be searched for, each once and none the original."""
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
