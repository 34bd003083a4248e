"""Votes of readers: the agreement of checks with the majority."""

from eval.judgements_command import write_judgements
from generator.reader_judgements import JudgedSentence, ReaderJudgement


def judged(text, check, *verdicts):
    sentence = JudgedSentence(text, ("P1",), check)
    return [
        ReaderJudgement("?", "papers", verdict, "2025-01-01", f"r{number}", sentence=sentence)
        for number, verdict in enumerate(verdicts)
    ]


def test_checks_are_compared_with_decided_verdicts_only(tmp_path):
    record = write_judgements(
        [
            *judged("a", "supported", "supported", "supported", "not supported"),
            *judged("b", "unsupported", "supported"),
            *judged("c", "supported", "supported", "not supported"),  # undecided
            *judged("d", "not checked", "supported"),
            *judged("e", "unsupported", "supported", "not supported", "not supported"),
        ],
        tmp_path,
    )
    assert (record["checks"]["compared"], record["checks"]["agreement"]) == (3, 2 / 3)
