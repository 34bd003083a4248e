"""What can go wrong on the way from a corpus to a published index.

IndexerError
├── UnknownPath         a path that is not there
├── UnknownFormat       a file of no known format, or options that do not fit the format
├── InvalidCall         options that contradict each other or the index as it is
├── UnknownIndex        no index of that name (or no such version)
├── EmptyCorpus         nothing in it that could be indexed
├── StrictRefusal       --strict, and a record that would have been a dead letter
├── IndexBusy           another process is writing to this index
├── IndexMismatch       an index that other settings or library versions built
├── IndexDamaged        files that are missing or cannot be read
├── IndexNotWritten     disk full, no permission: the old version still answers
├── ModelsNotInstalled  an encoder or re-ranker in process without the extra `models`
├── EncoderUnusable     a model that cannot be loaded, or an endpoint that gives no vectors
├── EngineUnreachable   no server answers at the address of the settings, or not in time
└── EngineRefused       a server answers and will not: credentials, rights, a missing plugin, a full disk
"""


class IndexerError(Exception):
    """Base of all; the message says what happened, to what, and what to do next."""


class UnknownPath(IndexerError):
    """A path that is not there."""


class UnknownFormat(IndexerError):
    """A file of no known format, or options that do not fit the format."""


class InvalidCall(IndexerError):
    """Options that contradict each other or the index as it is."""


class UnknownIndex(IndexerError):
    """No index of that name, or no such version of it."""


class EmptyCorpus(IndexerError):
    """Nothing in the corpus could be indexed."""


class StrictRefusal(IndexerError):
    """A record was refused while `--strict` was set."""


class IndexBusy(IndexerError):
    """Another process is writing to this index."""


class IndexMismatch(IndexerError):
    """The index was built with another analysis, schema or library version."""


class IndexDamaged(IndexerError):
    """Files of the index are missing or cannot be read."""


class IndexNotWritten(IndexerError):
    """The index could not be written: disk full, no permission."""


class ModelsNotInstalled(IndexerError):
    """A model is to run in this process, and the libraries for it are not installed."""


class EncoderUnusable(IndexerError):
    """The model cannot be loaded, or its endpoint gives no vectors."""


class EngineUnreachable(IndexerError):
    """No server of the engine answers, or not in time."""


class EngineRefused(IndexerError):
    """The engine's server answers, and will not do what is asked."""
