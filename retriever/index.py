"""An index opened for searching: engine, analyzer and glossary of one published version."""

from collections.abc import Awaitable, Callable
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import Concatenate, Literal, ParamSpec, Protocol, Self, TypeVar, overload

from base.errors import InvalidCall, Remedy
from indexer.analysis import Analyzer, UserDictionary, make_analyzer
from indexer.analysis.packing import PassageTokens
from indexer.citation_graph.graph import CitationGraph
from indexer.errors import IndexClosed, IndexDamaged
from indexer.files.damage import map_damage_errors
from indexer.files.schema import StoredPassage
from indexer.forward.lexicon import Lexicon
from indexer.glossary.storage import Glossary
from indexer.settings import EngineName, IndexerSettings
from indexer.versions.manifest import Manifest, check_analysis
from indexer.versions.store import IndexStore, Pointer
from indexer.versions.store.build_folder import CITATIONS, GLOSSARY, LEXICON
from indexer.versions.store.engines import open_store
from retriever.engines import Engine
from retriever.engines.tantivy import TantivyEngine
from retriever.following import FollowingIndex
from retriever.opening.models import Models
from retriever.opening.synonyms import Synonyms, read_synonyms
from retriever.opening.worker_threads import WorkerThreads

# Python code runs in one thread at a time. A second thread works while the first one waits; more slow both.
SEARCH_THREADS = 2
WAITING_THREADS = 16  # of searches that wait for a cluster, for sources or for models

T = TypeVar("T")
P = ParamSpec("P")


class SearchIndex:
    """One published version of an index; versions published later do not change it."""

    def __init__(
        self,
        pointer: Pointer,
        manifest: Manifest,
        engine: Engine,
        analyzer: Analyzer,
        glossary: Glossary,
        synonyms: Synonyms | None,
        models: Models,
        resources: ExitStack,
    ) -> None:
        """Take the parts that `open_index` opened; `resources` are closed with this version."""
        self.pointer = pointer  # of the store, when this version was opened
        self.manifest = manifest
        self.engine = engine
        self.analyzer = analyzer
        self.glossary = glossary
        self.citations: CitationGraph | None = None  # an index over sources has none
        self.synonyms = synonyms or Synonyms((), analyzer, "")
        self.vectors = models.vectors(manifest.vector_fingerprint)
        self.cross_encoder = models.cross_encoder
        self.entailment = models.entailment
        self.notes: tuple[str, ...] = ()  # for the reader of every result
        has_models = self.vectors.usable or self.cross_encoder.configured
        waits = not engine.is_local or has_models or self.entailment.settings.judge == "local"
        self._threads = WorkerThreads("search", WAITING_THREADS if waits else SEARCH_THREADS)
        self._resources, self._shared = resources, ExitStack()
        self._closed = False

    async def ask(self, question: Callable[[Self], Awaitable[T]]) -> T:
        """Ask this version; `FollowingIndex.ask` asks the current one."""
        return await question(self)

    async def run(self, function: Callable[Concatenate[Self, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a synchronous function with this version in one of its threads.

        Raises:
            IndexClosed: the index is closed.
        """
        if self._closed:
            name = self.manifest.name
            raise IndexClosed(f"index {name!r} is closed", remedy="open it again", index=name)
        return await self._threads.run(function, self, *args, **kwargs)

    def tokens_of(self, passage: StoredPassage) -> PassageTokens:
        """Return the stored tokens of a passage, or analyse it if it has none."""
        if passage.tokens is not None:
            return passage.tokens
        return PassageTokens.of(passage.title, passage.text, passage.title2, self.analyzer.analyze)

    def own(self, shared: ExitStack) -> None:
        """Take over resources that several versions could share; they are closed with this version."""
        self._shared = shared

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close threads, glossary, citation graph, engine, and the models if this version owns them."""
        self._closed = True
        with self._shared, self._resources:
            self._threads.close()


class OpenIndex(Protocol):
    """An index that answers questions: one fixed version, the current version, or papers of sources."""

    async def ask(self, question: Callable[[SearchIndex], Awaitable[T]]) -> T:
        """Ask one version from the beginning of a question to its end."""
        ...

    async def run(
        self, function: Callable[Concatenate[SearchIndex, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Call a synchronous function with one version, in one of its threads."""
        return await self.ask(lambda version: version.run(function, *args, **kwargs))


@overload
def open_index(
    settings: IndexerSettings, name: str, synonyms: Path | None = None, *, follow: Literal[False] = False
) -> SearchIndex: ...


@overload
def open_index(
    settings: IndexerSettings, name: str, synonyms: Path | None = None, *, follow: Literal[True]
) -> FollowingIndex: ...


def open_index(
    settings: IndexerSettings, name: str, synonyms: Path | None = None, *, follow: bool = False
) -> SearchIndex | FollowingIndex:
    """Open the current version of an index, with the synonyms of a file.

    The version stays until it is closed, which suits evaluations and notebooks; in a cluster, as long as
    `keep_versions` keeps it. With `follow`
    each question is answered by the version current at that time, which suits servers.

    Raises:
        InvalidCall: a line in the file of synonyms is not a rule.
        UnknownIndex: no index of that name.
        IndexMismatch: it was built with another analysis, schema or library version.
        IndexDamaged: files are missing or broken, or no file names the current version.
    """
    with ExitStack() as opened:
        store = opened.enter_context(open_store(settings, name))
        models = Models(settings)
        opened.callback(models.close)
        open_version = partial(_open_version, settings, store, models, synonyms)
        index = FollowingIndex(store, open_version) if follow else open_version()
        index.own(opened.pop_all())
    return index


def _open_version(
    settings: IndexerSettings,
    store: IndexStore,
    models: Models,
    synonyms: Path | None,
) -> SearchIndex:
    """Open the current version, and keep it from being cleared away, except in a cluster."""
    while True:
        pointer = store.pointer()
        manifest = store.manifest()
        if pointer is None or pointer.version != manifest.version:
            continue  # published in between
        try:
            with ExitStack() as opened:
                opened.enter_context(store.holding(manifest.version))
                if store.pointer() != pointer:
                    continue  # it may have been cleared away before it was held
                store.check_files(manifest)
                dictionary = _checked_dictionary(store, manifest)
                analyzer = make_analyzer(manifest.analyzer, manifest.decompound, dictionary)
                alike = read_synonyms(synonyms, analyzer) if synonyms else None
                glossary = opened.enter_context(Glossary(store.companion_path(manifest, GLOSSARY)))
                graph = CitationGraph(store.companion_path(manifest, CITATIONS))
                citations = opened.enter_context(closing(graph))
                engine = opened.enter_context(closing(ENGINES[store.engine](settings, store, manifest)))
                index = SearchIndex(
                    pointer, manifest, engine, analyzer, glossary, alike, models, opened.pop_all()
                )
                index.citations = citations
                return index
        except (FileNotFoundError, IndexDamaged) as error:
            if store.pointer() != pointer:
                continue  # cleared away after the pointer was read
            if isinstance(error, IndexDamaged):
                raise
            raise IndexDamaged(
                f"index {store.name!r}, version {manifest.version}: {error.filename or error} is missing",
                remedy=(Remedy.REBUILD, Remedy.ROLL_BACK),
                index=store.name,
            ) from error


def _checked_dictionary(store: IndexStore, manifest: Manifest) -> UserDictionary | None:
    """Return a version's dictionary; the version must have been built with this release's analysis."""
    try:
        dictionary = store.dictionary(manifest)
        check_analysis(manifest, dictionary)
    except InvalidCall as error:
        raise IndexDamaged(
            f"the manifest of index {manifest.name!r} cannot be used ({error})",
            remedy=Remedy.REBUILD,
            index=manifest.name,
        ) from error
    return dictionary


def _open_embedded(settings: IndexerSettings, store: IndexStore, manifest: Manifest) -> Engine:
    del settings
    folder = Path(store.address(manifest))

    def check() -> None:
        if folder.exists():  # a superseded version is moved away while it is still open
            store.check_files(manifest, every_byte=True)

    return TantivyEngine(folder, store.vectors(manifest), name=store.name, check=check)


def _open_cluster(settings: IndexerSettings, store: IndexStore, manifest: Manifest) -> Engine:
    from retriever.engines.elasticsearch import ElasticsearchEngine

    path = store.companion_path(manifest, LEXICON)
    with map_damage_errors(path, store.name):
        lexicon = Lexicon.open(path)
    return ElasticsearchEngine(
        settings.elasticsearch,
        store.address(manifest),
        passages=manifest.passages,
        shards=manifest.shards,
        lexicon=lexicon,
    )


ENGINES: dict[EngineName, Callable[[IndexerSettings, IndexStore, Manifest], Engine]] = {
    "tantivy": _open_embedded,
    "elasticsearch": _open_cluster,
}
