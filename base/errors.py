"""Errors with a message and remedies."""

from collections.abc import Sequence
from enum import StrEnum

MOST_LISTED = 10  # index names in a message


class Remedy(StrEnum):
    """Ways to fix an error, with the command; {index} is the name of the index concerned."""

    CREATE = "make it first (shrag index PATH --name {index})"
    REBUILD = "build it again (shrag index PATH --name {index} --rebuild)"
    UPGRADE = "upgrade it (shrag indexes upgrade {index})"
    REBUILD_WITH_DICTIONARY = (
        "build it again with its dictionary (shrag index PATH --name {index} --rebuild --dictionary FILE)"
    )
    ROLL_BACK = "roll back to the previous version (shrag indexes rollback {index})"
    POINT_TO = "name the version to use (shrag indexes rollback {index} VERSION)"
    VERIFY = "check which versions are intact (shrag indexes verify {index})"
    DELETE = "delete it (shrag indexes delete {index})"
    ENCODE_AGAIN = "encode all passages again (shrag index --vectors-only --name {index})"
    RENAME = "give it another name (--name)"
    NAME_INDEX = "name one of them (--name NAME; in shrag indexes NAME alone)"
    ALLOW_DEAD_LETTERS = "set such records aside and index the rest (leave --strict out)"
    NAME_FORMAT = "name the format (--format)"
    FEWER_WORKERS = "use fewer processes, which need less memory (--workers)"


class ShragError(Exception):
    """Base of all errors with a message for the caller.

    A class says its HTTP status, its stable code, and the exit code of the command line: 2 for a wrong call,
    1 for a failed run. `public` is a message for callers of the server, in place of one that names paths,
    addresses or hosts of this machine. A class without a code is unexpected in the server.
    """

    http_status: int = 500
    code: str = "unexpected"
    exit_code: int = 1
    public: str = ""

    def __init_subclass__(cls, **said: int | str) -> None:
        """Take the values as arguments of the class statement; the others are inherited."""
        super().__init_subclass__()
        for name, value in said.items():
            setattr(cls, name, value)


class RemediableError(ShragError):
    """An error with its remedies and the index concerned; `str` gives both."""

    def __init__(
        self, what: str, *, remedy: Remedy | str | tuple[Remedy | str, ...] = (), index: str = ""
    ) -> None:
        """Take one remedy, or several alternatives."""
        super().__init__(what)
        self.what = what
        self.remedies = remedy if isinstance(remedy, tuple) else (remedy,)
        self.index = index

    @property
    def remedy(self) -> str:
        """The remedies as one line, "" without any."""
        index = self.index or "NAME"
        named = (each.format(index=index) if isinstance(each, Remedy) else each for each in self.remedies)
        return ", or ".join(filter(None, named))

    def __str__(self) -> str:
        """Return the message and its remedies as one line."""
        return "; ".join(filter(None, (self.what, self.remedy)))


class ResourceError(
    RemediableError, code="index", public="{index} cannot be used; the reason is in the server's log"
):
    """A file, a setting, an index, an engine or a model cannot be used."""


def first_names(names: Sequence[str]) -> str:
    """Format the first names of indexes, and the number of further ones."""
    more = f" and {len(names) - MOST_LISTED:,} more" if len(names) > MOST_LISTED else ""
    return ", ".join(names[:MOST_LISTED]) + more


class UnknownPath(ResourceError, exit_code=2):
    """A path that does not exist."""


class InvalidCall(ResourceError, http_status=422, code="invalid-call", exit_code=2, public=""):
    """Arguments that contradict each other or the state of the index."""


class InvalidSettingsFile(ResourceError, exit_code=2):
    """A settings file that is unreadable, untrusted, or contains an unknown setting."""


class OutputNotWritten(ResourceError):
    """An output file could not be written: disk full or no permission; the old file remains."""


class DamagedFile(ResourceError):
    """A damaged line or value in a file."""


class FileBusy(ResourceError):
    """Another process is writing to the same file or folder."""


class LibraryMissing(ResourceError):
    """The optional libraries of an engine or a model are not installed."""
