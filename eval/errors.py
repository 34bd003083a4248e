"""Errors of topics, runs and scores; the message names the cause, the input, and the next step."""

from base.errors import ShragError


class EvalError(ShragError):
    """Base of all errors."""


class BadTopics(EvalError):
    """An unreadable topics file; names the line."""


class BadQrels(EvalError):
    """An unreadable judgements file; names the line."""


class BadRun(EvalError):
    """An unreadable run, or one that a run file cannot represent."""


class BadMeasure(EvalError, exit_code=2):
    """An unknown measure, or one that cannot be computed here."""


class NothingJudged(EvalError):
    """No judgements to compute a score."""


class BadBenchmark(EvalError):
    """Files of a published or a new benchmark are missing or damaged; names file and line."""
