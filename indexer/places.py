"""Where an index lies: in a folder of this machine, or in a cluster. The settings say which."""

from indexer.settings import IndexerSettings
from indexer.versions import IndexFolder, list_indexes


def the_index(settings: IndexerSettings, name: str) -> IndexFolder:
    """Return the place of an index; use it as a context manager, a connection may be held.

    Raises:
        InvalidCall: a name that is no plain word.
        MissingExtra: the client of the engine is not installed.
    """
    if settings.engine == "elasticsearch":
        from indexer.cluster.versions import ClusterIndex

        return ClusterIndex(settings, name)
    return IndexFolder(settings.home, name, writer_memory_mb=settings.writer_memory_mb)


def index_names(settings: IndexerSettings) -> list[str]:
    """Name the indexes that have a published version, in order."""
    if settings.engine == "elasticsearch":
        from indexer.cluster.versions import list_cluster_indexes

        return list_cluster_indexes(settings)
    return list_indexes(settings.home)
