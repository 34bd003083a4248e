"""An index for one question over sources: every method, way, check, export and trace works on it.

Passages are encoded for a question (SHRAG, eq. 4), and the vectors of the last ones are kept for later ones.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, closing, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

from base.errors import ResourceError
from base.files.base_directories import base_directory
from base.untrusted import one_line
from indexer.analysis import make_analyzer
from indexer.encoders import Encoder, Stored, VectorFingerprint
from indexer.encoders.rounding import to_storage
from indexer.errors import EncoderUnusable, IndexNotWritten
from indexer.files.schema import StoredPassage
from indexer.files.sums import sum_of
from indexer.glossary.given import GENERAL, GivenPairs
from indexer.glossary.storage import SCHEMA as GLOSSARY_SCHEMA
from indexer.glossary.storage import Glossary, write_glossary
from indexer.settings import IndexerSettings
from indexer.vectors.spool import text_to_encode, vector_key
from indexer.versions.manifest import Manifest, lexical_fingerprint
from indexer.versions.store import Pointer
from retriever.errors import SourceFailed
from retriever.index import SearchIndex
from retriever.opening.models import Models
from retriever.opening.synonyms import read_synonyms
from retriever.sources import ANALYZER, DECOMPOUND
from retriever.sources.configuration import DeclaredSource, read_declared
from retriever.sources.engine import SourcesEngine
from retriever.sources.merging import LimitedSource, summed_frequencies

MOST_VECTORS = 20_000  # that are kept, 80 MB of 1,024 numbers


class SharedModels(Models):
    """Resources shared by indexes over sources: models of the settings, glossary, vectors, synonyms."""

    def __init__(self, settings: IndexerSettings, synonyms: Path | None = None) -> None:
        super().__init__(settings)
        self._opened, self._opening = ExitStack(), Lock()
        self._glossary: Glossary | None = None
        self._known: dict[bytes, Stored] = {}  # vectors by the hash of the text
        self.analyzer = make_analyzer(ANALYZER, DECOMPOUND)
        self.synonyms = read_synonyms(synonyms, self.analyzer) if synonyms else None

    @property
    def glossary(self) -> Glossary:
        """The general glossary, in the analysis of sources."""
        with self._opening:
            if self._glossary is None:
                folder = Path(self._opened.enter_context(TemporaryDirectory(prefix="shrag-sources-")))
                self._glossary = self._opened.enter_context(Glossary(_general_glossary(folder)))
        return self._glossary

    def close(self) -> None:
        """Close the models and the glossary."""
        with self._opened:
            super().close()

    def fingerprint(self) -> VectorFingerprint | None:
        """Return the fingerprint of the encoder, None without one; ResourceError if it cannot be used."""
        if not self.encoder.configured:
            return None
        try:
            return self.encoder.run(lambda encoder: encoder.fingerprint)
        except ResourceError as error:
            raise EncoderUnusable(f"passages get no vectors: {one_line(str(error))}") from None

    def encoded(
        self, passages: Sequence[StoredPassage], fingerprint: VectorFingerprint
    ) -> tuple[dict[str, Stored], str]:
        """Return vectors of passages by id, and the reason if some are missing, else ""."""
        texts = {passage.passage_id: text_to_encode(passage) for passage in passages}
        keys = {passage_id: vector_key(text) for passage_id, text in texts.items() if text}
        missing = {key: texts[name] for name, key in keys.items() if key not in self._known}
        known, failure = self._known, ""

        def encode(encoder: Encoder) -> dict[bytes, Stored]:
            encoded = encoder.encode_passages(list(missing.values()))
            return dict(zip(missing, to_storage(encoded, fingerprint.storage), strict=True))

        try:
            new = (self.encoder.run(encode) or {}) if missing else {}
        except ResourceError as error:
            new, failure = {}, f"passages were not encoded: {one_line(str(error))}"
        self._known = {**({} if len(known) + len(new) > MOST_VECTORS else known), **new}
        known = known | new
        return {name: known[key] for name, key in keys.items() if key in known}, failure


def _general_glossary(otherwise: Path) -> Path:
    """Return the file of the general glossary for the analysis of sources, building it if it is missing.

    It is kept in the user's cache folder. If that is not writable, it is built in the folder `otherwise`.
    """
    terms = hashlib.sha256(GENERAL.read_bytes()).hexdigest()
    schema = hashlib.sha256(GLOSSARY_SCHEMA.encode()).hexdigest()
    made_of = sum_of({**lexical_fingerprint(ANALYZER, DECOMPOUND), "terms": terms, "schema": schema})
    name = f"general-glossary-{made_of[:16]}.sqlite"
    with suppress(OSError, ValueError, IndexNotWritten):
        folder = base_directory("XDG_CACHE_HOME", "~/.cache") / "shrag"
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / name).exists():  # it is written as a whole
            write_glossary(folder / name, GivenPairs().pairs(ANALYZER, DECOMPOUND, None)[1])
        return folder / name
    write_glossary(otherwise / name, GivenPairs().pairs(ANALYZER, DECOMPOUND, None)[1])
    return otherwise / name


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
    glossary = await asyncio.to_thread(lambda: models.glossary)
    fingerprint, notes = None, tuple[str, ...]()
    try:
        fingerprint = await asyncio.to_thread(models.fingerprint)
    except ResourceError as error:
        notes = (str(error),)
    total = 0
    with suppress(SourceFailed):  # the search reports it
        _, total = await summed_frequencies(sources, ())
    engine = SourcesEngine(
        sources,
        loop=asyncio.get_running_loop(),
        total=total,
        analyzer=models.analyzer,
        encode=partial(models.encoded, fingerprint=fingerprint) if fingerprint else None,
    )
    pointer, manifest = Pointer(0, "sources"), _manifest(sources, fingerprint)
    index = SearchIndex(
        pointer, manifest, engine, models.analyzer, glossary, models.synonyms, models, ExitStack()
    )
    index.notes = notes
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
