"""An index opened for searching: engine, analyzer and glossary of one published version."""

from collections.abc import Callable
from contextlib import ExitStack
from errno import ENOENT
from pathlib import Path
from typing import Self

from indexer.analysis import Analyzer, UserDictionary, make_analyzer
from indexer.errors import IndexDamaged, InvalidCall, Remedy
from indexer.glossary.storage import Glossary
from indexer.manifest import Manifest, check_analysis
from indexer.packing import PassageTokens
from indexer.schema import StoredPassage
from indexer.settings import EngineName, IndexerSettings
from indexer.store import IndexStore
from indexer.store.engines import open_store
from retriever.cross_encoder import CrossEncoder
from retriever.engines import Engine
from retriever.engines.tantivy import TantivyEngine
from retriever.question_vectors import QuestionVectors
from retriever.synonyms import Synonyms, read_synonyms
from retriever.worker_threads import WorkerThreads


class SearchIndex:
    """One published version of an index. What is published while it is open does not show."""

    def __init__(
        self,
        manifest: Manifest,
        engine: Engine,
        analyzer: Analyzer,
        glossary: Glossary,
        synonyms: Synonyms | None = None,
        vectors: QuestionVectors | None = None,
        cross_encoder: CrossEncoder | None = None,
    ) -> None:
        """Hold what `open_index` opened."""
        self.manifest = manifest
        self.engine = engine
        self.analyzer = analyzer
        self.glossary = glossary
        self.synonyms = synonyms or Synonyms()
        self.vectors = vectors or QuestionVectors(None, None)
        self.cross_encoder = cross_encoder or CrossEncoder(None)
        self.threads = WorkerThreads("search")  # for what a search computes

    def tokens_of(self, passage: StoredPassage) -> PassageTokens:
        """Return the tokens that a passage was indexed by, or would be if it never was."""
        if passage.tokens is not None:
            return passage.tokens
        return PassageTokens.of(passage.title, passage.text, passage.title2, self.analyzer.analyze)

    def __enter__(self) -> Self:
        """Return the index."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close threads, glossary, models and engine."""
        with ExitStack() as closing:
            for resource in (self.engine, self.cross_encoder, self.vectors, self.glossary, self.threads):
                closing.callback(resource.close)


def open_index(settings: IndexerSettings, name: str, synonyms: Path | None = None) -> SearchIndex:
    """Open the version of the index that answers now; questions are asked with the synonyms of a file.

    Raises:
        InvalidCall: something in the file of synonyms is no rule.
        UnknownIndex: no index of that name.
        IndexMismatch: it was built with another analysis, schema or library version.
        IndexDamaged: files are missing or broken.
    """
    with open_store(settings, name) as store:
        while True:
            pointer = store.current()
            manifest = store.manifest()
            try:
                store.check_files(manifest)
                dictionary = _checked_dictionary(store, manifest, settings.home)
                analyzer = make_analyzer(manifest.analyzer, manifest.decompound, dictionary)
                alike = read_synonyms(synonyms, analyzer) if synonyms else None
                with ExitStack() as opened:
                    glossary = opened.enter_context(_open_glossary(store.glossary_path(manifest)))
                    engine = ENGINES[store.engine](settings, store, manifest)
                    opened.pop_all()
            except FileNotFoundError as error:
                if store.current() != pointer:
                    continue  # cleared away between the look at the pointer and the opening
                raise IndexDamaged(
                    f"index {name!r}, version {manifest.version}: {error.filename or error} is missing",
                    remedy=(Remedy.REBUILD, Remedy.ROLL_BACK),
                    index=name,
                ) from error
            vectors = QuestionVectors(manifest.vector_fingerprint, settings.encoder)
            cross_encoder = CrossEncoder(settings.reranker)
            return SearchIndex(manifest, engine, analyzer, glossary, alike, vectors, cross_encoder)


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
    vectors = store.vectors(manifest)
    try:
        return TantivyEngine(Path(store.address(manifest).index), vectors)
    except (OSError, IndexDamaged):
        if vectors:
            vectors.close()
        raise


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


def _open_glossary(path: Path) -> Glossary:
    """Open a version's glossary; a version without its file is damaged, or being cleared away."""
    if not path.exists():
        raise FileNotFoundError(ENOENT, "no such file", str(path))
    return Glossary.open(path)
