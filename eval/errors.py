"""Errors of topics, runs and scores.

EvalError
├── BadTopics       an unreadable topics file; names the line
├── BadQrels        an unreadable judgements file; names the line
├── BadRun          an unreadable run, or one that a run file cannot represent
├── BadMeasure      an unknown measure, or one that cannot be computed here
├── UnitsDiffer     a run of papers and judgements of passages, or the reverse, without a paper in common
├── NothingJudged   no judgements to compute a score
└── BadBenchmark    files of a published or a new benchmark are missing or damaged; names file and line
"""

from base.errors import ShragError


class EvalError(ShragError):
    """Base of all errors; the message names the cause, the input, and the next step."""


class BadTopics(EvalError):
    """An unreadable topics file."""


class BadQrels(EvalError):
    """An unreadable judgements file."""


class BadRun(EvalError):
    """An unreadable run, or one that a run file cannot represent."""


class BadMeasure(EvalError, exit_code=2):
    """An unknown measure, or one that cannot be computed here."""


class NothingJudged(EvalError):
    """No judgements to compute a score."""


class UnitsDiffer(EvalError):
    """A run ranks papers and the qrels judge passages, or the reverse, and they have no paper in common."""


class BadBenchmark(EvalError):
    """Files of a published or a new benchmark are missing or damaged."""
