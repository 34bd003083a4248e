"""Records of answers to judged topics: decision, evidence, and sentences with their judgements."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias, TypedDict

from eval.accepted import contains_accepted
from eval.answer_quality.citations import Judged
from eval.answer_quality.support import judge_sentences
from eval.experiments.materials import Materials
from generator.answers.answer import Sentence
from generator.pipeline import AskResult
from generator.tracing.steps import error_text


class SentenceRecord(TypedDict):
    """A sentence, its cited papers or passages, and its judgement."""

    text: str
    citations: list[str]
    judged: Judged


class AnswerRecord(TypedDict):
    """An answer, as JSON.

    `error` is that of a question that cannot be searched for. `fallbacks` are the steps in which the model
    failed. `right` is null without accepted strings; a declined answer is not right.
    """

    answered: bool
    error: str
    fallbacks: list[str]
    likelihood: float | None
    evidence: int
    relevant_evidence: int
    cited: int
    relevant_cited: int
    right: bool | None
    sentences: list[SentenceRecord]


ByName: TypeAlias = Mapping[str, Sequence[AnswerRecord]]  # the answers of each system


async def answer_record(
    asked: AskResult, materials: Materials, relevant: frozenset[str], accepted: Sequence[str] | None
) -> AnswerRecord:
    """Judge the sentences of an answer, with the language model of the materials if there is one."""
    answer, hits = asked.answer, asked.result.hits
    sentences = () if answer.abstained else answer.sentences
    evidence = {hit.passage_id: materials.id_of(hit) for hit in hits}
    cited = {evidence[passage_id] for sentence in sentences for passage_id in sentence.citations}
    passages = [hit.passage for hit in hits]
    judged = await judge_sentences(sentences, passages, answer.language, materials.model)
    return {
        "answered": not answer.abstained,
        "error": "",
        "fallbacks": [step["name"] for step in asked.trace.steps() if step.get("fallback")],
        "likelihood": likelihood_of(asked),
        "evidence": len(set(evidence.values())),
        "relevant_evidence": len(relevant.intersection(evidence.values())),
        "cited": len(cited),
        "relevant_cited": len(relevant & cited),
        "right": _is_right(sentences, accepted),
        "sentences": [
            {"text": sentence.text, "citations": list(sentence.citations), "judged": of_sentence}
            for sentence, of_sentence in zip(sentences, judged, strict=True)
        ],
    }


def without_answer(error: Exception, accepted: Sequence[str] | None) -> AnswerRecord:
    """Return the record of a question that cannot be searched for."""
    return {
        "answered": False,
        "error": error_text(error),
        "fallbacks": [],
        "likelihood": None,
        "evidence": 0,
        "relevant_evidence": 0,
        "cited": 0,
        "relevant_cited": 0,
        "right": _is_right((), accepted),
        "sentences": [],
    }


def _is_right(sentences: Sequence[Sentence], accepted: Sequence[str] | None) -> bool | None:
    text = " ".join(sentence.text for sentence in sentences)
    return None if accepted is None else contains_accepted(text, accepted)


def likelihood_of(asked: AskResult) -> float | None:
    """Return the likelihood that the evidence answers, to four places, as in the JSON of an answer."""
    likelihood = asked.result.likelihood
    return None if likelihood is None else round(likelihood, 4)
