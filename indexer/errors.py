"""Errors on the way from a corpus to a published index.

ResourceError (`base/errors.py`)
├── UnknownFormat         a file of no known format, or options that do not fit the format
├── EncoderNotConfigured  vectors are asked for, and the settings name no encoder
├── UnknownIndex          no index of that name (or no such version)
├── EmptyCorpus           nothing in it that could be indexed
├── StrictRefusal         a record that would have been a dead letter, where none is allowed
├── IndexBusy             another process is writing to this index
├── IndexMismatch         an index that other settings, library versions or another format built
├── IndexDamaged          files that are missing or cannot be read
│   └── VersionGone       a version that was cleared away, or deleted, while it was open
├── IndexClosed           a call of an index after it was closed
├── IndexNotWritten       disk full, no permission: the old version still answers
├── EncoderUnusable       a model that cannot be loaded, or an endpoint that gives no vectors
├── EngineUnreachable     no server answers at the address of the settings, or not in time
└── EngineRefused         a server refuses: credentials, rights, a missing plugin, a full disk
"""

from collections.abc import Sequence

from base.errors import Remedy, ResourceError, first_names


class UnknownFormat(ResourceError):
    """A file of no known format, or options that do not fit the format."""


class EncoderNotConfigured(ResourceError):
    """Vectors are asked for, and the settings name no encoder."""


class UnknownIndex(ResourceError):
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


class EmptyCorpus(ResourceError):
    """Nothing in the corpus could be indexed."""


class StrictRefusal(ResourceError):
    """A record was refused where none is allowed to be."""


class IndexBusy(ResourceError):
    """Another process is writing to this index."""


class IndexMismatch(ResourceError):
    """The index was built with another analysis, schema, library version or format."""


class IndexDamaged(ResourceError):
    """Files of the index are missing or cannot be read."""


class VersionGone(IndexDamaged):
    """A version was cleared away, or its index deleted, while it was open."""


class IndexClosed(ResourceError):
    """An index, its glossary or its vectors are asked after they were closed."""


class IndexNotWritten(ResourceError):
    """The index could not be written: disk full, no permission."""


class EncoderUnusable(ResourceError):
    """The model cannot be loaded, or its endpoint gives no vectors."""


class EngineUnreachable(ResourceError):
    """No server of the engine answers, or not in time."""


class EngineRefused(ResourceError):
    """The engine's server answers, and will not do what is asked."""
