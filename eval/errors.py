"""What can go wrong between topics, a run and its scores.

EvalError
├── BadTopics       a topics file that cannot be read; names the line
├── BadQrels        a judgements file that cannot be read; names the line
├── BadRun          a run that cannot be read, or that no run file can hold
├── RunBusy         another process makes the run that is to be made
├── BadMeasure      a measure that does not exist or cannot be computed here
├── UnitsDiffer     a run of papers and judgements of passages, or the reverse, without a paper in common
└── NothingJudged   no judgement that would give a score
"""


class EvalError(Exception):
    """Base of all; the message says what happened, to what, and what to do next."""


class BadTopics(EvalError):
    """A topics file that cannot be read."""


class BadQrels(EvalError):
    """A judgements file that cannot be read."""


class BadRun(EvalError):
    """A run that cannot be read, or that no run file can hold."""


class RunBusy(EvalError):
    """Another process makes the run that is to be made."""


class BadMeasure(EvalError):
    """A measure that does not exist or cannot be computed here."""


class NothingJudged(EvalError):
    """No judgement that would give a score."""


class UnitsDiffer(EvalError):
    """A run ranks papers and the qrels judge passages, or the reverse, and they have no paper in common."""
