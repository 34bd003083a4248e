"""Selection of the configured engine's store."""

from importlib import import_module
from typing import Any
from unicodedata import normalize

from base.errors import InvalidCall, LibraryMissing
from base.extras import extra_remedy
from indexer.settings import IndexerSettings
from indexer.versions.store import IndexStore

# Each module has `open_store` and `index_names`; imported on use, as a client may not be installed.
MODULES = {
    "tantivy": "indexer.versions.store.folder",
    "elasticsearch": "indexer.versions.store.elasticsearch",
}


def open_store(settings: IndexerSettings, name: str) -> IndexStore:
    """Return the store of an index; use it as a context manager, as it may have a connection.

    Decomposed and composed forms of a name are equivalent.

    Raises:
        InvalidCall: an invalid name, or an unknown engine.
        LibraryMissing: the client of the engine is not installed.
    """
    store: IndexStore = _module_of(settings.engine).open_store(settings, normalize("NFC", name))
    return store


def index_names(settings: IndexerSettings) -> list[str]:
    """Return the names of the published indexes, in order; raises as `open_store`."""
    names: list[str] = _module_of(settings.engine).index_names(settings)
    return names


def _module_of(engine: str) -> Any:
    if engine not in MODULES:
        raise InvalidCall(f"no engine is called {engine!r}; there are: {', '.join(MODULES)}")
    try:
        return import_module(MODULES[engine])
    except ModuleNotFoundError as error:
        raise LibraryMissing(
            f"the engine is {engine}, and its client is not installed ({error.name} is missing)",
            remedy=extra_remedy(engine),
        ) from error
