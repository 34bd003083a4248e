"""Errors that say what happened, to which input, and what to do next.

RemediableError
└── ResourceError             a file, a setting, an index, an engine or a model cannot be used
    ├── UnknownPath           a path that is not there
    ├── InvalidCall           arguments that contradict each other or the index as it is
    ├── InvalidSettingsFile   a shrag.toml that cannot be read, may not be trusted, or names no setting
    ├── OutputNotWritten      disk full, no permission for a file asked for: the old one remains
    ├── LibraryMissing        optional libraries of an engine or a model are not installed
    └── …                     `indexer/errors.py`

What happened and the remedy are apart: each front end words a `Remedy` in its own way (the command line as a
command). A remedy that is the same for all front ends is a sentence.
"""

from collections.abc import Sequence
from enum import Enum

MOST_LISTED = 10  # indexes of which one is to be named


class Remedy(Enum):
    """What mends an index, in words that hold for every front end."""

    CREATE = "make it first"
    REBUILD = "build it again"
    REBUILD_WITH_DICTIONARY = "build it again with its dictionary"
    ROLL_BACK = "go back to the version before"
    POINT_TO = "name the version that is to answer"
    VERIFY = "see which versions are whole"
    DELETE = "delete it"
    ENCODE_ANEW = "encode all passages anew"
    RENAME = "give it another name"
    NAME_INDEX = "name one of them"
    ALLOW_DEAD_LETTERS = "let such records be set aside, and the rest be indexed"
    NAME_FORMAT = "say which format to read"
    FEWER_WORKERS = "use fewer processes, which need less memory"
    CONFIRM = "confirm it"


class RemediableError(Exception):
    """What happened and to what, how it is mended, and which index it is about.

    `str` gives the whole in words that hold for every front end.
    """

    def __init__(
        self, what: str, *, remedy: Remedy | str | tuple[Remedy | str, ...] = (), index: str = ""
    ) -> None:
        """Take one remedy, or several of which each will do."""
        super().__init__(what)
        self.what = what
        self.remedies = remedy if isinstance(remedy, tuple) else (remedy,)
        self.index = index

    def __str__(self) -> str:
        """Return what happened and what mends it, without naming any command."""
        return join_remedies(
            self.what, [remedy.value if isinstance(remedy, Remedy) else remedy for remedy in self.remedies]
        )


class ResourceError(RemediableError):
    """A file, a setting, an index, an engine or a model cannot be used."""


def first_names(names: Sequence[str]) -> str:
    """Return the first of the names of indexes that a message has room for, and how many more there are."""
    more = f" and {len(names) - MOST_LISTED:,} more" if len(names) > MOST_LISTED else ""
    return ", ".join(names[:MOST_LISTED]) + more


def join_remedies(what: str, remedies: list[str]) -> str:
    """Return one line: what happened, and each of the things that mend it."""
    return "; ".join(filter(None, (what, ", or ".join(remedies))))


class UnknownPath(ResourceError):
    """A path that is not there."""


class InvalidCall(ResourceError):
    """Arguments that contradict each other or the index as it is."""


class InvalidSettingsFile(ResourceError):
    """A settings file that cannot be read, may not be trusted, or names no setting."""


class OutputNotWritten(ResourceError):
    """A file that was asked for could not be written: disk full, no permission; the old one remains."""


class LibraryMissing(ResourceError):
    """Optional libraries that an engine or a model needs are not installed."""
