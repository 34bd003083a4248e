"""Remedies of errors, phrased as commands."""

from base.errors import RemediableError, Remedy, join_remedies
from base.files.durable import cause_of

INDEX_CALLED_FOR = "shrag.index"  # key of the named index in click's shared context

COMMANDS: dict[Remedy, str] = {
    Remedy.CREATE: "shrag index PATH --name {index}",
    Remedy.REBUILD: "shrag index PATH --name {index} --rebuild",
    Remedy.UPGRADE: "shrag indexes upgrade {index}",
    Remedy.REBUILD_WITH_DICTIONARY: "shrag index PATH --name {index} --rebuild --dictionary FILE",
    Remedy.ROLL_BACK: "shrag indexes rollback {index}",
    Remedy.POINT_TO: "shrag indexes rollback {index} VERSION",
    Remedy.VERIFY: "shrag indexes verify {index}",
    Remedy.DELETE: "shrag indexes delete {index}",
    Remedy.ENCODE_AGAIN: "shrag index --vectors-only --name {index}",
    Remedy.RENAME: "--name",
    Remedy.NAME_INDEX: "--name NAME; in shrag indexes NAME alone",
    Remedy.ALLOW_DEAD_LETTERS: "leave --strict out",
    Remedy.NAME_FORMAT: "--format",
    Remedy.FEWER_WORKERS: "--workers",
    Remedy.CONFIRM: "--yes",
}


def describe_error(error: Exception) -> str:
    """Describe an error in one line: what happened, to which input, and the commands that fix it."""
    if isinstance(error, OSError):
        return ": ".join(filter(None, (error.filename and str(error.filename), cause_of(error))))
    if not isinstance(error, RemediableError):
        return str(error)
    return "; ".join(filter(None, (error.what, describe_remedies(error))))


def describe_remedies(error: RemediableError) -> str:
    """Return the commands that fix an error, "" if it names none."""
    remedies = [_describe(remedy, error.index or "NAME") for remedy in error.remedies]
    return join_remedies("", remedies)


def _describe(remedy: Remedy | str, index: str) -> str:
    if isinstance(remedy, str):
        return remedy
    return f"{remedy.value} ({COMMANDS[remedy].format(index=index)})"
