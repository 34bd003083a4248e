"""Plans of multi-step questions: one-step questions, ordered if one needs another's answer."""

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
    """One-step questions, none if the question itself is one; `ordered`: each may need earlier answers."""

    questions: tuple[str, ...]
    ordered: bool = False


async def plan_steps(parent: Step, question: str, model: LanguageModel) -> Plan | None:
    """Ask for the smallest set of questions, and for their chain if they are ordered; None on failure."""
    found = await ask_step(parent, "decompose", Decomposition, question, model, fallback=TWO_ROUNDS)
    if found is None:
        return None
    questions = usable(found.questions, question)
    if len(questions) < 2:  # noqa: PLR2004 - one step needs no plan
        return Plan(())
    if not found.ordered:
        return Plan(_cut(parent, questions))
    asked = await ask_step(parent, "chain", Chain, question, model, fallback="the questions as decomposed")
    steps = usable(asked.steps, question) if asked else ()
    return Plan(_cut(parent, steps if len(steps) > 1 else questions), ordered=True)


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
