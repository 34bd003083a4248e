"""An index opened for searching: engine, analyzer and glossary of one published version."""

from collections.abc import Awaitable, Callable
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import Literal, Protocol, Self, TypeVar, overload

from indexer.analysis import Analyzer, UserDictionary, make_analyzer
from indexer.citation_graph.graph import CitationGraph
from indexer.encoders import VectorFingerprint
from indexer.errors import IndexClosed, IndexDamaged, InvalidCall, Remedy
from indexer.glossary.storage import Glossary
from indexer.manifest import Manifest, check_analysis
from indexer.packing import PassageTokens
from indexer.schema import StoredPassage
from indexer.settings import EngineName, IndexerSettings
from indexer.store import IndexStore, Pointer
from indexer.store.build_folder import CITATIONS, GLOSSARY
from indexer.store.engines import open_store
from retriever.cross_encoder import CrossEncoder
from retriever.engines import Engine
from retriever.engines.tantivy import TantivyEngine
from retriever.entailment import Entailment
from retriever.following import FollowingIndex
from retriever.question_vectors import QuestionVectors
from retriever.synonyms import Synonyms, read_synonyms
from retriever.worker_threads import WorkerThreads

T = TypeVar("T")


class QuestionModels:
    """The models of the settings, which all versions of an open index share."""

    def __init__(self, settings: IndexerSettings) -> None:
        """Name them; nothing is opened yet."""
        self._encoder = settings.encoder
        self._vectors: dict[VectorFingerprint | None, QuestionVectors] = {}
        self.cross_encoder = CrossEncoder(settings.reranker)
        self.entailment = Entailment(settings.check)

    def vectors(self, fingerprint: VectorFingerprint | None) -> QuestionVectors:
        """Return what gives questions vectors; the same for all versions that were encoded alike."""
        if fingerprint not in self._vectors:
            self._vectors[fingerprint] = QuestionVectors(fingerprint, self._encoder)
        return self._vectors[fingerprint]

    def use(self, fingerprint: VectorFingerprint, vectors: QuestionVectors) -> None:
        """Give questions to what was encoded so these vectors, which are closed with the models."""
        self._vectors[fingerprint] = vectors

    def close(self) -> None:
        """Wait for what is under way, and let go of the models."""
        with ExitStack() as ending:
            ending.callback(self.cross_encoder.close)
            ending.callback(self.entailment.close)
            for vectors in self._vectors.values():
                ending.callback(vectors.close)


class SearchIndex:
    """One published version of an index. What is published while it is open does not show."""

    def __init__(
        self,
        pointer: Pointer,
        manifest: Manifest,
        engine: Engine,
        analyzer: Analyzer,
        glossary: Glossary,
        synonyms: Synonyms | None,
        models: QuestionModels,
        resources: ExitStack,
    ) -> None:
        """Take what `open_index` opened; `resources` are of this version, and closed with it."""
        self.pointer = pointer  # of the store, when this version was opened
        self.manifest = manifest
        self.engine = engine
        self.analyzer = analyzer
        self.glossary = glossary
        self.citations: CitationGraph | None = None  # a version of an earlier release has none
        self.synonyms = synonyms or Synonyms()
        self.vectors = models.vectors(manifest.vector_fingerprint)
        self.cross_encoder = models.cross_encoder
        self.entailment = models.entailment
        self.notes: tuple[str, ...] = ()  # for the reader of every result
        self._threads = WorkerThreads("search")
        self._resources, self._shared = resources, ExitStack()
        self._closed = False

    @property
    def threads(self) -> WorkerThreads:
        """The threads for what a search computes; IndexClosed once the index is closed."""
        if self._closed:
            raise IndexClosed(
                f"index {self.manifest.name!r} is closed", remedy="open it again", index=self.manifest.name
            )
        return self._threads

    async def ask(self, question: Callable[[Self], Awaitable[T]]) -> T:
        """Ask this version, as `FollowingIndex.ask` asks the one that answers then."""
        return await question(self)

    def tokens_of(self, passage: StoredPassage) -> PassageTokens:
        """Return the tokens that a passage was indexed by, or would be if it never was."""
        if passage.tokens is not None:
            return passage.tokens
        return PassageTokens.of(passage.title, passage.text, passage.title2, self.analyzer.analyze)

    def own(self, shared: ExitStack) -> None:
        """Close with this version what others might have shared."""
        self._shared = shared

    def __enter__(self) -> Self:
        """Return the index."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of threads, glossary, citation graph, models and engine."""
        self.close()

    def close(self) -> None:
        """Let go of threads, glossary, citation graph, engine, and of the models where it owns them."""
        self._closed = True
        with self._shared, self._resources:
            self._threads.close()


class OpenIndex(Protocol):
    """What questions are asked of: one version, the version that answers then, or what sources find."""

    async def ask(self, question: Callable[[SearchIndex], Awaitable[T]]) -> T:
        """Ask one version from the beginning of a question to its end."""
        ...


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
    """Open the version of the index that answers now; questions are asked with the synonyms of a file.

    That version is kept from being cleared away, and answers until it is closed: what an evaluation or a
    notebook wants. With `follow` each question goes to the version that answers then, as a server wants it.

    Raises:
        InvalidCall: something in the file of synonyms is no rule.
        UnknownIndex: no index of that name.
        IndexMismatch: it was built with another analysis, schema or library version.
        IndexDamaged: files are missing or broken, or nothing says which version answers.
    """
    with ExitStack() as opened:
        store = opened.enter_context(open_store(settings, name))
        models = QuestionModels(settings)
        opened.callback(models.close)
        hold = store.capabilities.local or not follow
        open_version = partial(_open_version, settings, store, models, synonyms, hold=hold)
        index = FollowingIndex(store, open_version) if follow else open_version()
        index.own(opened.pop_all())
    return index


def _open_version(
    settings: IndexerSettings,
    store: IndexStore,
    models: QuestionModels,
    synonyms: Path | None,
    *,
    hold: bool,
) -> SearchIndex:
    """Open the version that answers now, and hold it where that is asked for."""
    while True:
        pointer = store.pointer()
        manifest = store.manifest()
        if pointer is None or pointer.version != manifest.version:
            continue  # published in between
        try:
            with ExitStack() as opened:
                if hold:
                    opened.enter_context(store.holding(manifest.version))
                    if store.pointer() != pointer:
                        continue  # perhaps it was cleared away before it was held
                store.check_files(manifest)
                dictionary = _checked_dictionary(store, manifest, settings.home)
                analyzer = make_analyzer(manifest.analyzer, manifest.decompound, dictionary)
                alike = read_synonyms(synonyms, analyzer) if synonyms else None
                glossary = opened.enter_context(Glossary.open(store.companion_path(manifest, GLOSSARY)))
                citations = None
                if CITATIONS in manifest.files:
                    graph = CitationGraph.open(store.companion_path(manifest, CITATIONS))
                    citations = opened.enter_context(closing(graph))
                engine = opened.enter_context(closing(ENGINES[store.engine](settings, store, manifest)))
                index = SearchIndex(
                    pointer, manifest, engine, analyzer, glossary, alike, models, opened.pop_all()
                )
                index.citations = citations
                return index
        except (FileNotFoundError, IndexDamaged) as error:
            if store.pointer() != pointer:
                continue  # cleared away between the look at the pointer and the opening
            if isinstance(error, IndexDamaged):
                raise
            raise IndexDamaged(
                f"index {store.name!r}, version {manifest.version}: {error.filename or error} is missing",
                remedy=(Remedy.REBUILD, Remedy.ROLL_BACK),
                index=store.name,
            ) from error


def _checked_dictionary(store: IndexStore, manifest: Manifest, home: Path) -> UserDictionary | None:
    """Return a version's dictionary; the analysis that it was built with must be today's."""
    try:
        dictionary = store.dictionary(manifest)
        check_analysis(manifest, dictionary, home)
    except InvalidCall as error:
        raise IndexDamaged(
            f"the manifest of index {manifest.name!r} cannot be used ({error})",
            remedy=Remedy.REBUILD,
            index=manifest.name,
        ) from error
    return dictionary


def _open_embedded(settings: IndexerSettings, store: IndexStore, manifest: Manifest) -> Engine:
    del settings
    folder = Path(store.address(manifest).index)

    def check() -> None:
        if folder.exists():  # else the version was superseded, and lies elsewhere until it is closed
            store.check_files(manifest, every_byte=True)

    with ExitStack() as opened:
        vectors = store.vectors(manifest)
        if vectors:
            opened.callback(vectors.close)
        engine = TantivyEngine(folder, vectors, name=store.name, check=check)
        opened.pop_all()  # it closes them
    return engine


def _open_cluster(settings: IndexerSettings, store: IndexStore, manifest: Manifest) -> Engine:
    from retriever.engines.elasticsearch import ElasticsearchEngine

    address = store.address(manifest)
    return ElasticsearchEngine(
        settings.elasticsearch, address.index, passages=manifest.passages, shards=address.shards
    )


ENGINES: dict[EngineName, Callable[[IndexerSettings, IndexStore, Manifest], Engine]] = {
    "tantivy": _open_embedded,
    "elasticsearch": _open_cluster,
}
