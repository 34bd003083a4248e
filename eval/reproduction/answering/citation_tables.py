"""Tables of citations: recall, precision, signs against sentences, and agreement of rules and model."""

from collections.abc import Callable, Mapping, Sequence

from eval.answer_quality.agreement import agreement
from eval.answer_quality.citations import NOT_JUDGED, Judged, citation_scores
from eval.reproduction.answering.judged_answers import AnswerRecord, ByName
from eval.reproduction.experiment import Cell, Table
from generator.checking.signs import Sign

RULES, MODEL = "rules", "model"  # judges
BY_RULES = "the rules of the citation check"
CONTRADICTIONS: Mapping[Sign, str] = {
    "unit": "a number with another unit",
    "other number": "a number of something else",
    "exchanged": "numbers, sides of a comparison or roles exchanged",
    "turned": "start and end of a change exchanged",
    "opposite": "an opposite direction, superlative or term",
    "denied": "a negation in only one of the two",
}
GAPS: Mapping[Sign, str] = {
    "number": "a number is missing",
    "name": "a name is missing",
    "universal": "a universal word (all, never) without support",
    "clause": "a clause with few words of the passages",
    "words": "few words of the passages",
    "citation": "no citation",
}
DEFINITIONS = (
    "Citation recall: share of the sentences of an answer that their citations support; mean over answers.",
    "Citation precision: share of citations that support their sentence alone, or are needed for it.",
    "Contradicting: unsupported sentences with one of the first six signs.",
    "Not checkable: sentences of which the rules can compare nothing. They are not supported.",
    "Failed calls: topics for which a model call failed; statistics or quotation replaced it.",
)


def judgements(answers: Sequence[AnswerRecord], judge: str) -> list[list[Judged]]:
    """Return the judged sentences of each answer; declined topics are left out."""
    return [
        [sentence["judges"][judge] for sentence in answer["sentences"]]
        for answer in answers
        if answer["answered"]
    ]


def contradicting(sentences: Sequence[Judged]) -> int:
    """Count the sentences with a sign that the cited passages say something else."""
    return _count(sentences, lambda judged: any(sign in CONTRADICTIONS for sign, _ in judged["reasons"]))


def rules_table(answers: ByName) -> Table:
    """Return citation recall and precision, and counts of sentences, judged by the rules."""

    def row(system: str, of: Sequence[AnswerRecord]) -> tuple[Cell, ...]:
        sentences = [each for answer in judgements(of, RULES) for each in answer]
        return (
            *_common(system, of, RULES),
            contradicting(sentences),
            _count(sentences, lambda each: each["verdict"] == "not checkable"),
            sum(bool(answer["fallbacks"]) for answer in of),
        )

    return Table(
        "Citations of the answers",
        (*_COMMON, "contradicting", "not checkable", "failed calls"),
        tuple(row(system, of) for system, of in answers.items()),
        judge=BY_RULES,
    )


def model_table(answers: ByName, judge: str) -> Table:
    """Return the same measures judged by the language model, and the sentences that it failed to judge."""

    def row(system: str, of: Sequence[AnswerRecord]) -> tuple[Cell, ...]:
        sentences = [each for answer in judgements(of, MODEL) for each in answer]
        return *_common(system, of, MODEL), _count(sentences, lambda each: each["verdict"] == NOT_JUDGED)

    return Table(
        "Citations of the answers, by a model",
        (*_COMMON, "not judged"),
        tuple(row(system, of) for system, of in answers.items()),
        judge=judge,
    )


_COMMON = (
    *("answers by", "answers", "sentences", "citation recall", "citation precision"),
    *("unsupported", "without citation"),
)


def _common(system: str, of: Sequence[AnswerRecord], judge: str) -> tuple[Cell, ...]:
    judged = judgements(of, judge)
    sentences = [each for answer in judged for each in answer]
    scores = citation_scores(judged)
    return (
        *(system, len(judged), len(sentences), scores.recall, scores.precision),
        _count(sentences, lambda each: each["verdict"] == "unsupported"),
        _count(sentences, lambda each: not each["precise"]),
    )


def _count(sentences: Sequence[Judged], has: Callable[[Judged], bool]) -> int:
    return sum(map(has, sentences))


def signs_table(answers: ByName) -> Table:
    """Count the sentences with each sign of the rules; a sentence may have several."""

    def row(sign: Sign, meaning: str) -> tuple[Cell, ...]:
        counts = []
        for of in answers.values():
            sentences = [each for answer in judgements(of, RULES) for each in answer]
            counts.append(_count(sentences, lambda each: any(found == sign for found, _ in each["reasons"])))
        return f"{sign}: {meaning}", *counts

    return Table(
        "Sentences with each sign against them",
        ("sign: difference from the cited passages", *answers),
        tuple(row(sign, meaning) for sign, meaning in (*CONTRADICTIONS.items(), *GAPS.items())),
        judge=BY_RULES,
    )


def agreement_table(answers: ByName) -> Table:
    """Compare the verdicts of rules and model on the sentences with citations."""

    def row(system: str, of: Sequence[AnswerRecord]) -> tuple[Cell, ...]:
        pairs = [
            (sentence["judges"][RULES]["verdict"], sentence["judges"][MODEL]["verdict"])
            for answer in of
            for sentence in answer["sentences"]
            if sentence["citations"]
        ]
        found = agreement(pairs)
        counts = (found.both, found.only_first, found.only_second, found.none)
        return system, *counts, found.share, found.kappa, found.left_out

    return Table(
        "Agreement of rules and model on sentences with citations",
        (
            *("answers by", "supported by both", "only by rules", "only by model", "by neither"),
            *("agreement", "Cohen's kappa", "without a verdict"),
        ),
        tuple(row(system, of) for system, of in answers.items()),
    )
