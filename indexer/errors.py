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


class UnknownFormat(ResourceError, exit_code=2):
    """A file of an unknown format, or options that do not fit the format."""


class EncoderNotConfigured(ResourceError, exit_code=2):
    """Vectors are requested without a configured encoder."""


class UnknownIndex(ResourceError, http_status=404, code="unknown-index", exit_code=2, public=""):
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


class IndexBusy(
    ResourceError,
    http_status=503,
    code="index-busy",
    public="{index} is being written to by another process; try again in a moment",
):
    """Another process is writing to this index."""


class IndexMismatch(
    ResourceError,
    http_status=503,
    code="index-mismatch",
    public="{index} does not match this server's settings; the details are in its log",
):
    """The index was built with another analysis, schema, library version or format."""


class IndexDamaged(
    ResourceError,
    http_status=503,
    code="index-damaged",
    public="{index} is damaged; the details are in the server's log",
):
    """Files of the index are missing or unreadable."""


class VersionGone(IndexDamaged):
    """A version was pruned, or its index deleted, while it was open."""


class IndexClosed(ResourceError, http_status=503, code="stopping", public=""):
    """An index, its glossary or its vectors are used after they were closed."""


class IndexNotWritten(ResourceError):
    """The index could not be written: disk full, no permission."""


class EncoderUnusable(ResourceError):
    """The model cannot be loaded, or its endpoint returns no vectors."""


class RepositoryFailed(ResourceError):
    """An OAI-PMH repository does not answer, refuses, or sends invalid answers."""


class EngineUnreachable(
    ResourceError,
    http_status=503,
    code="engine-unreachable",
    public="the search engine does not answer; details are in the server's log",
):
    """No server of the engine answers in time."""


class EngineRefused(
    ResourceError,
    http_status=503,
    code="engine-refused",
    public="the search engine refused the request; the reason is in the server's log",
):
    """The engine's server refuses a request."""
