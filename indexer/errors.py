"""What can go wrong on the way from a corpus to a published index.

IndexerError
├── UnknownPath           a path that is not there
├── UnknownFormat         a file of no known format, or options that do not fit the format
├── InvalidSettingsFile   a shrag.toml that cannot be read, may not be trusted, or names no setting
├── InvalidCall           arguments that contradict each other or the index as it is
├── EncoderNotConfigured  vectors are asked for, and the settings name no encoder
├── UnknownIndex          no index of that name (or no such version)
├── EmptyCorpus           nothing in it that could be indexed
├── StrictRefusal         a record that would have been a dead letter, where none is allowed
├── IndexBusy             another process is writing to this index
├── IndexMismatch         an index that other settings, library versions or another format built
├── IndexDamaged          files that are missing or cannot be read
│   └── VersionGone       a version that was cleared away, or deleted, while it was open
├── IndexClosed           what was opened of an index is asked after it was closed
├── IndexNotWritten       disk full, no permission: the old version still answers
├── OutputNotWritten      disk full, no permission for a file asked for: the old one still stands
├── LibraryMissing        an engine or a model whose optional libraries are not installed
├── EncoderUnusable       a model that cannot be loaded, or an endpoint that gives no vectors
├── EngineUnreachable     no server answers at the address of the settings, or not in time
└── EngineRefused         a server answers and will not: credentials, rights, a missing plugin, a full disk

An error says what happened, and apart from that what mends it: a `Remedy` that each front end words in its
own way (the command line by a command), or a sentence where all front ends say the same.
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


class IndexerError(RemediableError):
    """Base of all errors of the indexer."""


def first_names(names: Sequence[str]) -> str:
    """Return the first of the names of indexes that a message has room for, and how many more there are."""
    more = f" and {len(names) - MOST_LISTED:,} more" if len(names) > MOST_LISTED else ""
    return ", ".join(names[:MOST_LISTED]) + more


def join_remedies(what: str, remedies: list[str]) -> str:
    """Return one line: what happened, and each of the things that mend it."""
    return "; ".join(filter(None, (what, ", or ".join(remedies))))


class UnknownPath(IndexerError):
    """A path that is not there."""


class UnknownFormat(IndexerError):
    """A file of no known format, or options that do not fit the format."""


class InvalidSettingsFile(IndexerError):
    """A file of settings that cannot be read, may be somebody else's, or holds what no setting is."""


class InvalidCall(IndexerError):
    """Arguments that contradict each other or the index as it is."""


class EncoderNotConfigured(IndexerError):
    """Vectors are asked for, and the settings name no encoder."""


class UnknownIndex(IndexerError):
    """No index of that name, or no such version of it; `there` names the indexes that there are."""

    def __init__(
        self,
        what: str,
        *,
        remedy: Remedy | str | tuple[Remedy | str, ...] = (),
        index: str = "",
        there: Sequence[str] = (),
    ) -> None:
        """Take also what there is, as one of these may be meant."""
        remedies = remedy if isinstance(remedy, tuple) else (remedy,)
        named = (f"name one that there is ({first_names(there)})",) if there else ()
        super().__init__(what, remedy=(*named, *remedies), index=index)
        self.there = tuple(there)


class EmptyCorpus(IndexerError):
    """Nothing in the corpus could be indexed."""


class StrictRefusal(IndexerError):
    """A record was refused where none is allowed to be."""


class IndexBusy(IndexerError):
    """Another process is writing to this index."""


class IndexMismatch(IndexerError):
    """The index was built with another analysis, schema, library version or format."""


class IndexDamaged(IndexerError):
    """Files of the index are missing or cannot be read."""


class VersionGone(IndexDamaged):
    """A version was cleared away, or its index deleted, while it was open."""


class IndexClosed(IndexerError):
    """An index, its glossary or its vectors are asked after they were closed."""


class IndexNotWritten(IndexerError):
    """The index could not be written: disk full, no permission."""


class OutputNotWritten(IndexerError):
    """A file that was asked for could not be written: disk full, no permission; what stood there stands."""


class LibraryMissing(IndexerError):
    """An optional library that an engine or a model needs is not installed."""


class EncoderUnusable(IndexerError):
    """The model cannot be loaded, or its endpoint gives no vectors."""


class EngineUnreachable(IndexerError):
    """No server of the engine answers, or not in time."""


class EngineRefused(IndexerError):
    """The engine's server answers, and will not do what is asked."""
