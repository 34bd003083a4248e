"""Selection of the configured engine's store."""

from importlib import import_module
from unicodedata import normalize

from base.errors import InvalidCall, LibraryMissing
from base.extras import extra_remedy
from indexer.settings import IndexerSettings
from indexer.versions.store import IndexStore

# Each module has `open_store`; imported on use, as a client may not be installed.
MODULES = {
    "tantivy": "indexer.versions.store.folder",
    "elasticsearch": "indexer.versions.store.elasticsearch",
}
ANY = "any"  # a valid name, where it does not matter


def open_store(settings: IndexerSettings, name: str) -> IndexStore:
    """Return the store of an index; use it as a context manager, as it may have a connection.

    Decomposed and composed forms of a name are equivalent.

    Raises:
        InvalidCall: an invalid name, or an unknown engine.
        LibraryMissing: the client of the engine is not installed.
    """
    if (engine := settings.engine) not in MODULES:
        raise InvalidCall(f"no engine is called {engine!r}; there are: {', '.join(MODULES)}")
    try:
        store: IndexStore = import_module(MODULES[engine]).open_store(settings, normalize("NFC", name))
    except ModuleNotFoundError as error:
        raise LibraryMissing(
            f"the engine is {engine}, and its client is not installed ({error.name} is missing)",
            remedy=extra_remedy(engine),
        ) from error
    return store


def index_names(settings: IndexerSettings) -> list[str]:
    """Return the names of the published indexes, in order; raises as `open_store`."""
    with open_store(settings, ANY) as store:
        return store.all_names()
