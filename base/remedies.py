"""Remedies of errors, phrased as commands."""

from base.errors import RemediableError, Remedy, join_remedies
from base.files.durable import cause_of

INDEX_CALLED_FOR = "shrag.index"  # key of the named index in click's shared context


def describe_error(error: Exception) -> str:
    """Describe an error in one line: what happened, to which input, and the commands that fix it."""
    if isinstance(error, OSError):
        return ": ".join(filter(None, (error.filename and str(error.filename), cause_of(error))))
    if not isinstance(error, RemediableError):
        return str(error)
    return join_remedies(error.what, _commands(error))


def describe_remedies(error: RemediableError) -> str:
    """Return the commands that fix an error, "" if it names none."""
    return join_remedies("", _commands(error))


def _commands(error: RemediableError) -> list[str]:
    index = error.index or "NAME"
    return [
        f"{each.words} ({each.command.format(index=index)})" if isinstance(each, Remedy) else each
        for each in error.remedies
    ]
