"""Tables of citations: recall, precision, and hints of the citation check."""

from collections.abc import Callable, Mapping, Sequence

from eval.answer_quality.citations import NOT_JUDGED, Judged, citation_scores
from eval.experiments.answering.judged_answers import AnswerRecord, ByName
from eval.experiments.experiment import Cell, Table
from generator.checking.check import HintCode

HINTS: Mapping[HintCode, str] = {
    "citation": "nothing is cited",
    "number": "a number is not in the cited passages",
    "unit": "a number is there with another unit",
    "name": "a name or an abbreviation is not there",
}
DEFINITIONS = (
    "Citation recall: share of the judged sentences that their citations support; mean over answers.",
    "Citation precision: share of citations that support their sentence alone, or are needed for it.",
    "Sentences in the words of a cited passage are supported; a model judges the others, or nobody.",
    "With hints: sentences with a number or a name that the cited passages lack. Hints are no verdict.",
    "Failed calls: topics for which a model call failed; statistics or quotation replaced it.",
)


def judgements(answers: Sequence[AnswerRecord]) -> list[list[Judged]]:
    """Return the judged sentences of each answer; declined topics are left out."""
    return [
        [sentence["judged"] for sentence in answer["sentences"]] for answer in answers if answer["answered"]
    ]


def citation_table(answers: ByName, judge: str) -> Table:
    """Return citation recall and precision, and counts of sentences, for each system."""

    def row(system: str, of: Sequence[AnswerRecord]) -> tuple[Cell, ...]:
        judged = judgements(of)
        sentences = [each for answer in judged for each in answer]
        scores = citation_scores(judged)
        return (
            *(system, len(judged), len(sentences), scores.recall, scores.precision),
            _count(sentences, lambda each: each["verdict"] == "unsupported"),
            _count(sentences, lambda each: each["verdict"] == NOT_JUDGED),
            _count(sentences, lambda each: not each["precise"]),
            sum(bool(answer["fallbacks"]) for answer in of),
        )

    return Table(
        "Citations of the answers",
        (
            *("answers by", "answers", "sentences", "citation recall", "citation precision"),
            *("unsupported", "not judged", "without citation", "failed calls"),
        ),
        tuple(row(system, of) for system, of in answers.items()),
        judge=judge,
    )


def hints_table(answers: ByName) -> Table:
    """Count the sentences with each hint; a sentence may have several."""

    def row(code: HintCode, meaning: str) -> tuple[Cell, ...]:
        counts = []
        for of in answers.values():
            sentences = [each for answer in judgements(of) for each in answer]
            counts.append(_count(sentences, lambda each: code in each["hints"]))
        return f"{code}: {meaning}", *counts

    return Table(
        "Sentences with each hint",
        ("hint", *answers),
        tuple(row(code, meaning) for code, meaning in HINTS.items()),
    )


def _count(sentences: Sequence[Judged], has: Callable[[Judged], bool]) -> int:
    return sum(map(has, sentences))
