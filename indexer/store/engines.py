"""The engines that keep indexes: the settings say which, and the table opens its store."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from indexer.errors import InvalidCall, LibraryMissing
from indexer.settings import IndexerSettings
from indexer.store import CAPABILITIES, Capabilities, IndexStore

if TYPE_CHECKING:
    from types import ModuleType


@dataclass(frozen=True, slots=True)
class StoreEngine:
    """How the indexes of an engine are opened and listed."""

    open: Callable[[IndexerSettings, str], IndexStore]
    names: Callable[[IndexerSettings], list[str]]


def open_store(settings: IndexerSettings, name: str) -> IndexStore:
    """Return the store of an index; use it as a context manager, a connection may be held.

    Raises:
        InvalidCall: a name that is no plain word, or an unknown engine.
        LibraryMissing: the client of the engine is not installed.
    """
    return _engine(settings).open(settings, name)


def index_names(settings: IndexerSettings) -> list[str]:
    """Name the indexes that have a published version, in order; raises as `open_store`."""
    return _engine(settings).names(settings)


def capabilities(settings: IndexerSettings) -> Capabilities:
    """Return what the engine of the settings does itself."""
    _engine(settings)
    return CAPABILITIES[settings.engine]


def _engine(settings: IndexerSettings) -> StoreEngine:
    if settings.engine not in ENGINES:
        raise InvalidCall(f"no engine is called {settings.engine!r}; there are: {', '.join(ENGINES)}")
    return ENGINES[settings.engine]


def _open_folder(settings: IndexerSettings, name: str) -> IndexStore:
    from indexer.store.folder import FolderStore

    return FolderStore(settings.home, name, writer_memory_mb=settings.writer_memory_mb)


def _folder_names(settings: IndexerSettings) -> list[str]:
    from indexer.store.folder import list_folders

    return list_folders(settings)


def _cluster() -> "ModuleType":
    """Import the store of a cluster; its client is an optional library."""
    try:
        from indexer.store import elasticsearch
    except ModuleNotFoundError as error:
        raise LibraryMissing(
            f"the engine is elasticsearch, and its client is not installed ({error.name} is missing)",
            remedy="install it: make install-elasticsearch",
        ) from error
    return elasticsearch


def _open_cluster(settings: IndexerSettings, name: str) -> IndexStore:
    store: IndexStore = _cluster().ElasticsearchStore(settings, name)
    return store


def _cluster_names(settings: IndexerSettings) -> list[str]:
    names: list[str] = _cluster().list_indexes(settings)
    return names


ENGINES: dict[str, StoreEngine] = {
    "tantivy": StoreEngine(_open_folder, _folder_names),
    "elasticsearch": StoreEngine(_open_cluster, _cluster_names),
}
