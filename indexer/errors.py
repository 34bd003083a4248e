"""Errors of indexing and of opening an index.

ResourceError (`base/errors.py`)
├── UnknownFormat         a file of an unknown format, or options that do not fit the format
├── EncoderNotConfigured  vectors are requested without a configured encoder
├── UnknownIndex          no index of that name, or no such version
├── EmptyCorpus           nothing in the corpus could be indexed
├── StrictRefusal         an invalid record with the option --strict
├── IndexBusy             another process is writing to this index
├── IndexMismatch         the index was built with other settings, library versions or another format
├── IndexDamaged          files are missing or unreadable
│   └── VersionGone       a version was pruned or deleted while it was open
├── IndexClosed           the index was closed before the call
├── IndexNotWritten       disk full, no permission: the old version remains in use
├── EncoderUnusable       a model cannot be loaded, or an endpoint returns no vectors
├── RepositoryFailed      an OAI-PMH repository fails; the harvested records are kept
├── EngineUnreachable     no server answers at the configured address, or not in time
└── EngineRefused         a server refuses: credentials, rights, a missing plugin, a full disk
"""

from collections.abc import Sequence

from base.errors import Remedy, ResourceError, first_names


class UnknownFormat(ResourceError):
    """A file of an unknown format, or options that do not fit the format."""


class EncoderNotConfigured(ResourceError):
    """Vectors are requested without a configured encoder."""


class UnknownIndex(ResourceError):
    """No index of that name, or no such version; `there` lists the existing indexes."""

    def __init__(
        self,
        what: str,
        *,
        remedy: Remedy | str | tuple[Remedy | str, ...] = (),
        index: str = "",
        there: Sequence[str] = (),
    ) -> None:
        """Add the existing names to the remedies."""
        remedies = remedy if isinstance(remedy, tuple) else (remedy,)
        named = (f"name an existing one ({first_names(there)})",) if there else ()
        super().__init__(what, remedy=(*named, *remedies), index=index)
        self.there = tuple(there)


class EmptyCorpus(ResourceError):
    """Nothing in the corpus could be indexed."""


class StrictRefusal(ResourceError):
    """A record is invalid, and the build is strict."""


class IndexBusy(ResourceError):
    """Another process is writing to this index."""


class IndexMismatch(ResourceError):
    """The index was built with another analysis, schema, library version or format."""


class IndexDamaged(ResourceError):
    """Files of the index are missing or unreadable."""


class VersionGone(IndexDamaged):
    """A version was pruned, or its index deleted, while it was open."""


class IndexClosed(ResourceError):
    """An index, its glossary or its vectors are used after they were closed."""


class IndexNotWritten(ResourceError):
    """The index could not be written: disk full, no permission."""


class EncoderUnusable(ResourceError):
    """The model cannot be loaded, or its endpoint returns no vectors."""


class RepositoryFailed(ResourceError):
    """An OAI-PMH repository does not answer, refuses, or sends invalid answers."""


class EngineUnreachable(ResourceError):
    """No server of the engine answers in time."""


class EngineRefused(ResourceError):
    """The engine's server refuses a request."""
