"""Judging of an answer's sentences by a local entailment model or the language model.

If the judge fails, the checks by rules stay, and the step notes it.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

from base.errors import ResourceError
from generator.answers.answer import Answer, Sentence, cited_passages
from generator.checking.sentence_check import UNSURE, Check, Reason
from generator.llm import CutAt, Reply
from generator.model_calls.model_step import ModelStep, UnusableReply, constant, no_listener
from generator.prompts import load_prompt
from generator.request import Resources
from generator.tracing.steps import Step, error_text
from indexer.files.schema import StoredPassage

FALLBACK = "check by rules"
CHECKS: dict[str, Check] = {
    "entailment": "supported",
    "contradiction": "unsupported",
    "neutral": "unsupported",
}

Why = Annotated[str, StringConstraints(strip_whitespace=True), CutAt(300)]


class Judgement(BaseModel):
    """Verdict on one sentence and its reason."""

    sentence: int
    verdict: Literal["supported", "unsupported"]
    why: Why = ""


class Judgements(BaseModel):
    """Reply schema."""

    judgements: Annotated[list[Judgement], Field(max_length=20)]


async def judged(
    parent: Step, answer: Answer, evidence: Sequence[StoredPassage], resources: Resources
) -> Answer:
    """Return the answer with the checks of the configured judge; by default the checks by rules.

    Sentences without citations stay unsupported, and excluded sentences stay excluded. The judge does not
    overrule mismatches that the rules establish with certainty (numbers, names, directions).
    """
    judge = resources.index.entailment.settings.judge
    places = [
        place
        for place, sentence in enumerate(answer.sentences)
        if sentence.citations
        and sentence.check != "excluded"
        and all(reason.sign in UNSURE for reason in sentence.reasons)
    ]
    if judge == "rules" or not places:
        return answer
    if judge == "local":
        return await _by_entailment(parent, answer, places, evidence, resources)
    if resources.model is None:
        return answer
    check = check_step(answer, places, evidence, resources.model.settings.revision)
    return await check.run(parent, resources.model)


async def _by_entailment(
    parent: Step,
    answer: Answer,
    places: Sequence[int],
    evidence: Sequence[StoredPassage],
    resources: Resources,
) -> Answer:
    pairs, owners = [], []
    for place in places:
        sentence = answer.sentences[place]
        cited = cited_passages(sentence.citations, evidence)
        texts = [f"{passage.title}\n{passage.text}" for passage in cited]
        for text in dict.fromkeys([*texts, "\n".join(texts)]):  # one passage may support all, or each a part
            pairs.append((text, sentence.text))
            owners.append(place)
    with parent.step("check", sentences=len(places)) as step:
        try:
            found = await resources.index.entailment.judge(pairs)
        except ResourceError as error:
            step.error, step.fallback = error_text(error), FALLBACK
            step.notes.append(f"{FALLBACK}, the model failed: {error}")
            return answer
        if found is None:
            return answer
        name, judgements = found
        checks: dict[int, tuple[Check, str]] = {}
        for place in places:
            of_place = [each for owner, each in zip(owners, judgements, strict=True) if owner == place]
            best = max(of_place, key=lambda each: each.entailment)
            checks[place] = CHECKS[best.relation], "" if best.relation == "entailment" else best.relation
        judged_answer = _with_checks(answer, checks, name)
        step.output = judged_answer.as_record()
        return judged_answer


def check_step(
    answer: Answer, places: Sequence[int], evidence: Sequence[StoredPassage], revision: str | None
) -> ModelStep[Judgements, Answer]:
    """Return the step that asks for a judgement of every sentence at these places."""
    numbers = {passage.passage_id: str(number) for number, passage in enumerate(evidence, 1)}
    asked = [answer.sentences[place] for place in places]
    sentences = [
        f"({', '.join(numbers[each] for each in sentence.citations)}) {sentence.text}" for sentence in asked
    ]

    async def read(reply: Reply[Judgements]) -> Answer:
        by_number = {each.sentence: each for each in reply.value.judgements}
        if left_out := [number for number in range(1, len(places) + 1) if number not in by_number]:
            raise UnusableReply(f"did not judge sentence {left_out[0]}")
        checks: dict[int, tuple[Check, str]] = {
            place: (by_number[number].verdict, by_number[number].why)
            for number, place in enumerate(places, 1)
        }
        return _with_checks(answer, checks, f"{reply.model}@{revision}" if revision else reply.model)

    return ModelStep(
        "check",
        load_prompt("check", answer.language),
        {"sentences": sentences},
        Judgements,
        read=read,
        fallback=FALLBACK,
        otherwise=constant(answer),
        inputs={"sentences": len(places)},
        output=Answer.as_record,
        passages=evidence,
        listening=no_listener,
    )


def _with_checks(answer: Answer, checks: dict[int, tuple[Check, str]], name: str) -> Answer:
    def checked(place: int, sentence: Sentence) -> Sentence:
        if place not in checks:
            return sentence
        check, why = checks[place]
        reasons = (
            () if check == "supported" else (Reason("judge", why or "the cited passages do not say it"),)
        )
        return replace(sentence, check=check, reasons=reasons)

    sentences = tuple(checked(place, sentence) for place, sentence in enumerate(answer.sentences))
    return replace(answer, sentences=sentences, checked_by=name)
