"""Records of answers to questions with reference texts, and their means."""

from collections.abc import Mapping, Sequence
from typing import Any

from eval.accepted import contains_accepted
from eval.answer_quality.judge import judge_answer
from eval.answer_quality.rouge import rouge_l
from eval.query_lines import PaperQuestion
from eval.statistics import mean_of_known
from generator.llm import LanguageModel
from generator.pipeline import AskResult


async def answer_record(
    question: PaperQuestion, asked: AskResult, model: LanguageModel | None, *, stem: bool
) -> dict[str, Any]:
    """Return the quality of an answer and the counts of its steps, as JSON.

    A declined answer has no text: its ROUGE-L is 0, and it is not correct. `accepted` is null for a question
    without accepted strings, `judged` without a model.
    """
    answer = asked.answer
    text = "" if answer.abstained else " ".join(sentence.text for sentence in answer.sentences)
    return {
        "answer": text,
        "written_by": answer.written_by,
        "declined": answer.abstained,
        "evidence": len(asked.evidence),
        "rouge_l": rouge_l(text, question.answers, stem=stem),
        "accepted": contains_accepted(text, question.strings) if question.strings else None,
        **await _judged(question, text, model),
        **_of_steps(asked),
    }


async def _judged(question: PaperQuestion, text: str, model: LanguageModel | None) -> dict[str, Any]:
    if model is None:
        return {"judged": None, "why": ""}
    if not text:
        return {"judged": "incorrect", "why": "declined"}
    judgement = await judge_answer(question.question, question.answers, text, model)
    return {"judged": judgement.verdict, "why": judgement.why}


def _of_steps(asked: AskResult) -> dict[str, Any]:
    """Return the numbers of passages and the filter of the steps, and the steps that used a fallback."""
    steps = list(asked.trace.steps())
    of = {name: [step for step in steps if step["name"] == name] for name in ("retrieve", "rerank", "filter")}
    others = [step["output"].get("of_other_papers", {}) for step in of["retrieve"]]
    return {
        "k": [step["inputs"]["k"] for step in steps if step["name"] in {"retrieve", "fuse", "rerank"}],
        "relevance": next((step["output"]["by"] for step in of["rerank"]), None),
        "threshold": next((step["inputs"]["above"] for step in of["filter"]), None),
        "filled_in": sum(sum(counts.values()) for counts in others),
        "fallbacks": [step["name"] for step in steps if step.get("fallback")],
    }


def mean_of(records: Sequence[Mapping[str, Any]], part: str) -> float | None:
    """Return the mean of a part over the records in which it is not null; None if there are none."""
    return mean_of_known(record[part] for record in records)


def judged_accuracy(records: Sequence[Mapping[str, Any]]) -> float | None:
    """Return the share of correct answers among the judged ones; None if there are none."""
    verdicts = (record["judged"] for record in records)
    return mean_of_known(verdict == "correct" for verdict in verdicts if verdict in {"correct", "incorrect"})
