"""Verdict of a model on the sentences and the title of an answer: whether the cited passages say them.

The judge is the language model, or an entailment model in this process. If it fails, the sentences stay "not
checked", and the step notes it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StringConstraints

from base.errors import ResourceError
from base.notes import Note
from generator.answers.answer import Answer, Sentence, cited_passages
from generator.checking import Check, Hint
from generator.llm import Reply
from generator.model_step import ModelStep, UnusableReply, constant
from generator.prompts import load_prompt
from generator.request import Resources
from generator.tracing import Step, error_text
from indexer.corpora.papers import Language
from indexer.files.schema import StoredPassage

UNCHECKED = "sentences not checked"  # the fallback
MOST_CLAIMS = 20  # of one call, the limit of the reply

Verdict = Literal["supported", "unsupported"]
Why = Annotated[str, StringConstraints(strip_whitespace=True, max_length=300)]


class Judgement(BaseModel):
    """Verdict on one sentence and its reason."""

    sentence: int
    verdict: Verdict
    why: Why = ""


class Judgements(BaseModel):
    """Reply schema."""

    judgements: Annotated[list[Judgement], Field(max_length=MOST_CLAIMS)]


@dataclass(frozen=True, slots=True)
class Claim:
    """A text to judge, and the passage_ids that it cites."""

    text: str
    citations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The verdict on each claim with its reason, and the name of the judge with its revision."""

    by_claim: Mapping[Claim, tuple[Verdict, str]]
    judge: str

    def as_record(self) -> dict[str, Any]:
        """Return the verdicts as JSON, for a trace."""
        verdicts = [
            {"text": claim.text, "verdict": verdict, "why": why}
            for claim, (verdict, why) in self.by_claim.items()
        ]
        return {"verdicts": verdicts, "checked_by": self.judge}


async def judged(
    parent: Step, answer: Answer, evidence: Sequence[StoredPassage], resources: Resources
) -> Answer:
    """Return the answer with the verdicts of the configured judge on everything that is not checked yet."""
    title = Claim(answer.title, tuple(dict.fromkeys(each for s in answer.sentences for each in s.citations)))
    claims = [title] if answer.title_check == "not checked" and title.citations else []
    claims += [_claim(sentence) for sentence in answer.sentences if sentence.check == "not checked"]
    judge, verdicts = resources.index.entailment.settings.judge, None
    if claims and judge == "local":
        verdicts = await _by_entailment(parent, claims, evidence, resources)
    elif claims and judge != "none" and resources.model is not None:
        step = check_step(claims, evidence, answer.language, resources.model.settings.revision)
        verdicts = await step.run(parent, resources.model)
    return answer if verdicts is None else _with_verdicts(answer, title, verdicts)


def _claim(sentence: Sentence) -> Claim:
    return Claim(sentence.text, sentence.citations)


async def _by_entailment(
    parent: Step, claims: Sequence[Claim], evidence: Sequence[StoredPassage], resources: Resources
) -> Verdicts | None:
    """Judge each claim by its best passage, or by all together; a passage may support all, or each a part."""
    pairs = []
    for claim in claims:
        texts = [f"{passage.title}\n{passage.text}" for passage in cited_passages(claim.citations, evidence)]
        pairs += [(claim, text) for text in dict.fromkeys([*texts, "\n".join(texts)])]
    with parent.step("check", sentences=len(claims)) as step:
        try:
            asked = [(text, claim.text) for claim, text in pairs]
            found = await resources.index.run(lambda index: index.entailment.judge(asked))
        except ResourceError as error:
            step.error, step.fallback = error_text(error), UNCHECKED
            step.notes.append(Note("model_failed", fallback=UNCHECKED, error=str(error)))
            return None
        if found is None:
            return None
        name, relations = found
        by_claim: dict[Claim, tuple[Verdict, str]] = {}
        for claim in claims:
            of_claim = [each for (of, _), each in zip(pairs, relations, strict=True) if of == claim]
            best = max(of_claim, key=lambda each: each.entailment)
            by_claim[claim] = "supported" if best.relation == "entailment" else "unsupported", ""
        verdicts = Verdicts(by_claim, name)
        step.output = verdicts.as_record()
        return verdicts


def check_step(
    claims: Sequence[Claim], evidence: Sequence[StoredPassage], language: Language, revision: str | None
) -> ModelStep[Judgements, Verdicts | None]:
    """Return the step that asks for a verdict on every claim, in the language of an answer.

    The prompt has the cited passages of the evidence.
    """
    passages = cited_passages({each for claim in claims for each in claim.citations}, evidence)
    numbers = {passage.passage_id: str(number) for number, passage in enumerate(passages, 1)}
    texts = [f"({', '.join(numbers[each] for each in claim.citations)}) {claim.text}" for claim in claims]

    def read(reply: Reply[Judgements]) -> Verdicts:
        by_number = {each.sentence: (each.verdict, each.why) for each in reply.value.judgements}
        try:
            by_claim = {claim: by_number[number] for number, claim in enumerate(claims, 1)}
        except KeyError as number:
            raise UnusableReply(f"did not judge sentence {number}") from None
        return Verdicts(by_claim, f"{reply.model}@{revision}" if revision else reply.model)

    return ModelStep(
        "check",
        load_prompt("check", language),
        {"sentences": texts},
        Judgements,
        read=read,
        fallback=UNCHECKED,
        otherwise=constant(None),
        inputs={"sentences": len(claims)},
        output=lambda verdicts: verdicts and verdicts.as_record(),
        passages=passages,
    )


def _with_verdicts(answer: Answer, title: Claim, verdicts: Verdicts) -> Answer:
    """Return an answer with the verdicts on its claims, and what the judge misses as hints; others stay."""

    def judge(claim: Claim, check: Check, hints: tuple[Hint, ...]) -> tuple[Check, tuple[Hint, ...]]:
        verdict, why = verdicts.by_claim.get(claim, (check, ""))
        missed = (Hint("judge", {"text": why}),) if verdict == "unsupported" and why else ()
        return verdict, (*hints, *missed)

    sentences = []
    for sentence in answer.sentences:
        check, hints = judge(_claim(sentence), sentence.check, sentence.hints)
        sentences.append(replace(sentence, check=check, hints=hints))
    if answer.title_check:
        check, hints = judge(title, answer.title_check, answer.title_hints)
        answer = replace(answer, title_check=check, title_hints=hints)
    return replace(answer, sentences=tuple(sentences), checked_by=verdicts.judge)
