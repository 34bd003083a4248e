"""An index for one question over sources: every method, way, check, export and trace works on it."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from indexer.analysis import make_analyzer
from indexer.encoders import VectorFingerprint
from indexer.glossary.storage import Glossary
from indexer.settings import IndexerSettings
from indexer.versions.fingerprint import lexical_fingerprint
from indexer.versions.manifest import Manifest
from indexer.versions.store import Pointer
from retriever.errors import SourceFailed
from retriever.index import SearchIndex
from retriever.opening.synonyms import read_synonyms
from retriever.sources import ANALYZER, DECOMPOUND
from retriever.sources.configuration import DeclaredSource, read_declared
from retriever.sources.engine import SourcesEngine
from retriever.sources.merging import LimitedSource, summed_frequencies
from retriever.sources.models import SharedModels, general_glossary


@asynccontextmanager
async def open_sources(
    names: Iterable[str], settings: IndexerSettings, synonyms: Path | None = None
) -> AsyncIterator[SearchIndex]:
    """Open sources by name as one index for one question, with its own models.

    Raises as `read_declared` and `open_declared`.
    """
    async with open_declared(read_declared(names), settings) as sources:
        with closing(SharedModels(settings, synonyms)) as models:
            async with index_of_sources(sources, models) as index:
                yield index


@asynccontextmanager
async def open_declared(
    declared: Sequence[DeclaredSource], settings: IndexerSettings
) -> AsyncIterator[list[LimitedSource]]:
    """Open sources for a block.

    Raises:
        SourceFailed, ResourceError: one of them cannot be opened.
    """
    async with AsyncExitStack() as opened:
        sources = []
        for each in declared:
            source = await asyncio.to_thread(each.open, settings)
            opened.push_async_callback(source.close)
            sources.append(each.limited(source))
        yield sources


@asynccontextmanager
async def index_of_sources(
    sources: Sequence[LimitedSource], models: SharedModels
) -> AsyncIterator[SearchIndex]:
    """Make an index over sources, which are searched when the index is searched.

    Words are analysed for both languages. Passages are encoded if an encoder is configured. The glossary is
    the general one.
    """
    with ExitStack() as opened:
        folder = Path(opened.enter_context(TemporaryDirectory(prefix="shrag-sources-")))
        analyzer = make_analyzer(ANALYZER, DECOMPOUND)
        glossary_path = await asyncio.to_thread(general_glossary, folder)
        alike = await asyncio.to_thread(read_synonyms, models.synonyms, analyzer) if models.synonyms else None
        vectors, failure = await models.passages()
        total = 0
        with suppress(SourceFailed):  # the search reports it
            _, total = await summed_frequencies(sources, ())
        engine = SourcesEngine(
            sources,
            total=total,
            analyzer=make_analyzer(ANALYZER, DECOMPOUND),  # used in its own thread
            vectors=vectors,
        )
        opened.callback(engine.close)
        glossary = opened.enter_context(Glossary.open(glossary_path))
        index = SearchIndex(
            Pointer(0, "sources"),
            _manifest(sources, vectors.fingerprint if vectors else None),
            engine,
            analyzer,
            glossary,
            alike,
            models,
            opened.pop_all(),
        )
        index.notes = (failure,) if failure else ()
    try:
        yield index
    finally:
        await asyncio.to_thread(index.close)


def _manifest(sources: Sequence[LimitedSource], fingerprint: VectorFingerprint | None) -> Manifest:
    manifest = Manifest(
        name=",".join(source.name for source in sources),
        version=0,
        engine="tantivy",
        analyzer=ANALYZER,
        decompound=DECOMPOUND,
        unit="paper",
        papers=0,
        passages=0,
        published=datetime.now(UTC).isoformat(timespec="seconds"),
        fingerprint=lexical_fingerprint(ANALYZER, DECOMPOUND),
        source={"sources": [source.name for source in sources]},
    )
    return manifest.with_vectors(fingerprint, 0) if fingerprint else manifest
