"""Where an index lies: in a folder of this machine, or in a cluster. The settings say which."""

from collections.abc import Iterator
from contextlib import contextmanager

from indexer.errors import InvalidCall
from indexer.settings import IndexerSettings
from indexer.versions import IndexFolder, list_indexes


def the_index(settings: IndexerSettings, name: str) -> IndexFolder:
    """Return the place of an index; use it as a context manager, a connection may be held.

    Raises:
        InvalidCall: a name that is no plain word, or the client of the engine is not installed.
    """
    if settings.engine == "elasticsearch":
        with _client_needed():
            from indexer.cluster.versions import ClusterIndex
        return ClusterIndex(settings, name)
    return IndexFolder(settings.home, name, writer_memory_mb=settings.writer_memory_mb)


def index_names(settings: IndexerSettings) -> list[str]:
    """Name the indexes that have a published version, in order."""
    if settings.engine == "elasticsearch":
        with _client_needed():
            from indexer.cluster.versions import list_cluster_indexes
        return list_cluster_indexes(settings)
    return list_indexes(settings.home)


@contextmanager
def _client_needed() -> Iterator[None]:
    """Say how to install the client of a cluster where it is missing; the embedded engine does without."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise InvalidCall(
            f"SHRAG_ENGINE is elasticsearch, and its client is not installed ({error.name} is missing); "
            "install it: make install-elasticsearch"
        ) from error
