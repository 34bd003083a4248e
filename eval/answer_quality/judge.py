"""Accuracy by a judge: the language model compares an answer with reference texts.

The rubric is the prompt `accuracy` of `generator/prompts/`, which has a version. A failed judgement is a
result of its own, so that it counts neither as correct nor as incorrect.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, StringConstraints

from generator.llm import CutAt, LanguageModel, Reply
from generator.model_step import ModelStep, constant
from generator.prompts import load_prompt
from generator.tracing.steps import Step
from indexer.corpora.papers import language_of

Verdict = Literal["correct", "incorrect", "not judged"]


class GradedAnswer(BaseModel):
    """Reply schema; the reason comes first, so that the verdict follows from it."""

    reason: Annotated[str, StringConstraints(strip_whitespace=True), CutAt(300)] = ""
    verdict: Literal["correct", "incorrect"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict, and its reason or the error of the failed call."""

    verdict: Verdict
    why: str


async def judge_answer(
    question: str, references: Sequence[str], answer: str, model: LanguageModel
) -> Judgement:
    """Return the model's verdict on an answer; "not judged", with the error, if the call fails."""
    parent = Step("accuracy")
    judgement = await judge_step(question, references, answer).run(parent, model)
    failed = next((step.error for step in parent.children if step.error), "")
    return Judgement("not judged", failed) if failed else judgement


def judge_name(model: str, prompt: str) -> str:
    """Name a model as the judge of a table, with the versions of its prompt in both languages."""
    english, korean = (load_prompt(prompt, language).version for language in ("en", "ko"))
    return f"{model}, prompts {prompt}.en version {english} and {prompt}.ko version {korean}"


def judge_step(question: str, references: Sequence[str], answer: str) -> ModelStep[GradedAnswer, Judgement]:
    """Return the step that asks for a verdict, in the language of the question."""

    def read(reply: Reply[GradedAnswer]) -> Judgement:
        return Judgement(reply.value.verdict, reply.value.reason)

    return ModelStep(
        "accuracy",
        load_prompt("accuracy", language_of(question)),
        {"references": references, "question": question, "answer": answer},
        GradedAnswer,
        read=read,
        fallback="not judged",
        otherwise=constant(Judgement("not judged", "")),
        inputs={"question": question},
    )
