"""Writer for the embedded engine: one thread and corpus order, so that builds are reproducible."""

import errno
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import tantivy

from indexer.analysis.analysed import AnalysedPassage
from indexer.analysis.packing import GAP, PassageTokens
from indexer.encoders import Stored, VectorFingerprint
from indexer.files.schema import EXACT_FIELDS, LIST_FIELDS, TERMS, StoredPassage, tantivy_schema
from indexer.files.stored import (
    add_stored,
    passage_numbers,
    passage_of,
    place_in_paper,
    read_numbered,
    with_value,
)
from indexer.forward.building import RowWriter, packed_row
from indexer.forward.columns import ForwardColumns
from indexer.forward.lexicon import Lexicon, LexiconBuilder
from indexer.vectors.parts import VectorParts, VectorWriter
from indexer.versions.store.build_folder import CHANGING_FILES, FORWARD, TANTIVY, VECTORS
from indexer.versions.writers import VectorKey

# Less free space counts as a full disk, as the space of a failed write is released before the check.
LITTLE_SPACE = 64_000_000
MEMORY = 256_000_000  # bytes of passages before they are written to disk


def new_index(folder: Path | None = None) -> tantivy.Index:
    """Open or create an index in a folder, or in memory."""
    index = tantivy.Index(tantivy_schema(), str(folder) if folder else None)
    # split at spaces, and drop the gaps, which count as positions
    words = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
    index.register_tokenizer(TERMS, words.filter(tantivy.Filter.custom_stopword([GAP])).build())
    return index


def passage_document(
    passage: StoredPassage, tokens: PassageTokens, sequence: int, number: int
) -> tantivy.Document:
    """Return the indexed fields of a passage of the record at a place in the corpus, with its number."""
    document = tantivy.Document()
    for field, packed in (("text", tokens.text), ("title", tokens.title)):
        if packed.positions:
            placed = [tantivy.Token(term, position, 0, 0) for term, position in packed.unpack()]
            document.add_pre_tokenized_text(field, tantivy.PreTokenizedString("", placed))
        else:  # as a line, which is five times faster than token by token
            document.add_text(field, packed.terms)
    for name in EXACT_FIELDS:
        if value := getattr(passage, name):
            document.add_text(name, value)
    for name in LIST_FIELDS:
        for value in getattr(passage, name):
            document.add_text(name, value)
    if passage.year is not None:
        document.add_unsigned("year", passage.year)
    document.add_boolean("first", bool(passage.record))
    document.add_boolean("incomplete", passage.incomplete)
    document.add_unsigned("sequence", sequence)
    document.add_unsigned("number", number)
    return document


class TantivyWriter:
    """A version being written, to be closed.

    Passages come in corpus order, with the passages of one record together. `replaced` counts the records of
    the base version deleted by `remove`.
    """

    def __init__(self, building: Path, lexicon: Path | None = None) -> None:
        """Open or create the index in a building folder.

        `lexicon` is that of the base version, whose files are in the folder; ValueError if one is damaged.
        """
        self._folder, self._rows_folder = building / TANTIVY, building / FORWARD
        self._folder.mkdir(parents=True, exist_ok=True)
        self._vectors_folder = building / VECTORS
        self.replaced = 0
        with _as_os_errors(self._folder):
            self._index = new_index(self._folder)
            self._writer: tantivy.IndexWriter | None = self._index.writer(MEMORY, 1)
        self._base = self._searcher()
        self._lexicon = LexiconBuilder(Lexicon.open(lexicon) if lexicon else ())
        self._rows = RowWriter(self._rows_folder)
        self._base_rows = ForwardColumns(self._rows_folder)

    def close(self) -> None:
        """Close the files; uncommitted passages are lost."""
        self._writer = None

    @property
    def _open(self) -> tantivy.IndexWriter:
        if self._writer is None:
            raise ValueError("the writer is closed")
        return self._writer

    def add(self, passage: StoredPassage, analysed: AnalysedPassage, sequence: int) -> bytes:
        """Add a passage of the record at a place in the corpus; return its row of the forward index."""
        tokens, row = analysed.tokens, packed_row(passage, analysed, self._lexicon)
        document = passage_document(passage, tokens, sequence, self._rows.add(passage, row))
        add_stored(document, passage, tokens)
        with _as_os_errors(self._folder):
            self._open.add_document(document)
        return row

    def remove(self, record: Sequence[StoredPassage]) -> None:
        """Delete the passages of a record of the base version, before those that replace it are added."""
        self.replaced += 1
        for passage in record:
            removed = with_value(self._base, "passage_id", passage.passage_id)
            self._rows.remove(passage_numbers(self._base, removed))
            with _as_os_errors(self._folder):
                self._open.delete_documents_by_term("passage_id", passage.passage_id)

    def stored_records(self, field: str, values: Sequence[str]) -> dict[str, list[StoredPassage]]:
        """Return the passages, with rows, of records of the base by their values in an exact field."""
        records = {}
        for value in values:
            if addresses := with_value(self._base, field, value):
                rows = map(self._base_rows.packed, passage_numbers(self._base, addresses))
                passages = (passage_of(self._base.doc(address))[0] for address in addresses)
                read = (replace(passage, row=row) for passage, row in zip(passages, rows, strict=True))
                records[value] = sorted(read, key=place_in_paper)
        return records

    def commit(self) -> None:
        """Commit, and wait for the merging of segments.

        Deleted passages count in BM25 statistics until their segment is merged. As merges never run
        concurrently with writing, the merged segments depend only on the written passages.
        """
        with _as_os_errors(self._folder):
            self._open.commit()
            self._open.wait_merging_threads()
            self._writer = None  # waiting consumes it
            self._writer = self._index.writer(MEMORY, 1)

    def finish(self) -> None:
        """Commit, join small parts of rows, remove unused files, and close."""
        self.commit()
        self._rows.finish()
        with _as_os_errors(self._folder):
            self._open.garbage_collect_files()
        self._writer = None
        # tantivy's rewritten files are readable by the owner only
        readable = self._folder.stat().st_mode & 0o666
        for name in CHANGING_FILES:
            (self._folder / name).chmod(readable)

    def next_sequence(self) -> int:
        """Return the sequence after the highest one of the base version; 0 in a new index."""
        found = self._base.search(tantivy.Query.all_query(), 1, count=False, order_by_field="sequence")
        return int(found.hits[0][0]) + 1 if found.hits else 0

    @property
    def terms(self) -> list[str]:
        """The terms of the version's lexicon, in the order of their numbers."""
        return self._lexicon.terms

    def start_vectors(
        self, fingerprint: VectorFingerprint, *, keep: bool
    ) -> Iterator[tuple[VectorKey, StoredPassage]]:
        """Yield the committed passages without a vector; `keep` says whether vectors of the base are kept."""
        if not keep:
            shutil.rmtree(self._vectors_folder, ignore_errors=True)
        self._vectors_folder.mkdir(exist_ok=True)
        self._vectors = VectorWriter(self._vectors_folder, fingerprint)
        held = VectorParts(self._vectors_folder, fingerprint, self._rows.removed)
        return read_numbered(self._searcher(), lambda numbers: held.places(numbers) < 0)

    def put_vectors(self, keys: Sequence[VectorKey], vectors: Stored) -> None:
        """Write the vectors of the passages with some numbers."""
        self._vectors.put(keys, vectors)

    def finish_vectors(self) -> int:
        """Join small parts; return the number of passages with a vector."""
        return self._vectors.finish(self._rows.removed)

    @property
    def passage_count(self) -> int:
        """The number of committed passages."""
        return int(self._searcher().num_docs)

    def _searcher(self) -> tantivy.Searcher:
        self._index.reload()
        return self._index.searcher()


@contextmanager
def _as_os_errors(folder: Path) -> Iterator[None]:
    """Convert tantivy's ValueErrors about system errors, or without a reason, to OSErrors."""
    try:
        yield
    except ValueError as error:
        text = str(error)
        codes = {"No space left": errno.ENOSPC, "File too large": errno.EFBIG, "Permission": errno.EACCES}
        for words, code in codes.items():
            if words in text:
                raise OSError(code, text) from error
        if "killed" in text and shutil.disk_usage(folder).free < LITTLE_SPACE:
            raise OSError(errno.ENOSPC, text, str(folder)) from error  # a thread does not report its error
        if "error" in text.lower() or "killed" in text:
            raise OSError(errno.EIO, text) from error
        raise
