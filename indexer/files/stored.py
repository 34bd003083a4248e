"""Stored passages: created from papers, read back in corpus order."""

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from unicodedata import normalize
from zlib import compress, crc32, decompress

import numpy as np
import tantivy

from indexer.analysis.packing import PassageTokens
from indexer.files.keys import paper_keys
from indexer.files.parts import Column
from indexer.files.schema import StoredPassage, tantivy_schema

if TYPE_CHECKING:
    from indexer.corpora.papers import Paper, Unit

LONGEST_VALUE = 512  # characters of an author or type that can be filtered by
PASSAGES_PER_BATCH = 50_000  # about; each batch scans all sequence numbers


def stored_passages(paper: "Paper", unit: "Unit") -> list[StoredPassage]:
    """Return the passages of a paper; the first contains the paper's record."""
    from indexer.corpora.chunking import passages_of

    passages = passages_of(paper, unit)
    incomplete = not any(passage.text.strip() for passage in passages)
    titles, identifiers = (paper.title, paper.title2), (paper.doi, paper.id, paper.url)
    kind = (paper.model_extra or {}).get("type")
    unread = unread_values(paper.authors, kind, titles, paper.journal, identifiers)
    is_chunked = [passage.part for passage in passages].count("abstract") > 1
    record = _paper_record(paper, without_abstract=not is_chunked)
    return [
        StoredPassage(
            passage_id=passage.passage_id,
            doc_id=passage.doc_id,
            title=passage.title,
            text=passage.text,
            lang=passage.lang,
            part=passage.part,
            year=paper.year,
            journal=normalize("NFC", paper.journal),  # filter values are normalised too
            source=normalize("NFC", paper.source),
            incomplete=incomplete,
            title2=paper.title2 if order == 0 else "",
            record=record if order == 0 else "",
            **unread,
        )
        for order, passage in enumerate(passages)
    ]


def unread_values(
    authors: Iterable[object],
    kind: object,
    titles: Iterable[str],
    journal: str,
    identifiers: Iterable[str],
) -> dict[str, Any]:
    """Return the values of a paper's passages that are indexed, but not read back: type, authors, keys."""
    names = exact_values(authors)
    keys = paper_keys(names, titles, journal, identifiers)
    return {"type": "".join(exact_values([kind])), "authors": names, "keys": keys}


def exact_values(texts: Iterable[object]) -> tuple[str, ...]:
    """Return the texts that can be filtered by, each once, without surrounding white space."""
    values = (normalize("NFC", text).strip() for text in texts if isinstance(text, str))
    return tuple(dict.fromkeys(value for value in values if 0 < len(value) <= LONGEST_VALUE))


def _paper_record(paper: "Paper", *, without_abstract: bool) -> str:
    """Return the record as JSON, without the title and the abstract that its first passage has."""
    record = paper.record()
    record.pop("title", None)
    if without_abstract:
        record.pop("abstract", None)
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def key_field(unit: "Unit") -> str:
    """Return the field with a record's id: MIRACL's records are passages."""
    return "passage_id" if unit == "passage" else "doc_id"


def key_of(passage: StoredPassage, unit: "Unit") -> str:
    """Return the id of a passage's source record."""
    return passage.passage_id if unit == "passage" else passage.doc_id


def open_searcher(folder: Path) -> tantivy.Searcher:
    """Open the index of a published version, even without write permission for its lock.

    Raises ValueError if it cannot be read.
    """
    try:
        return tantivy.Index.open(str(folder)).searcher()
    except ValueError as error:
        if "Failed to acquire Lockfile" not in str(error):
            raise
    with TemporaryDirectory() as view:  # contains the lock; the searcher keeps its files open
        for path in folder.iterdir():
            if path.suffix != ".lock":
                (Path(view) / path.name).symlink_to(path.resolve())
        return tantivy.Index.open(view).searcher()


def read_numbered(
    searcher: tantivy.Searcher, wanted: Callable[[Column], Column] = np.ones_like
) -> Iterator[tuple[int, StoredPassage]]:
    """Yield the number and the passage of all stored passages in corpus order.

    `wanted` returns for an array of numbers which of them are read.
    """
    everything = tantivy.Query.all_query()
    newest = searcher.search(everything, 1, count=False, order_by_field="sequence").hits
    if not newest:
        return
    end = int(newest[0][0]) + 1
    step = max(1, end * PASSAGES_PER_BATCH // searcher.num_docs)
    for low in range(0, end, step):
        found = _addresses(searcher, low, low + step)
        numbers = np.array(passage_numbers(searcher, [address for _, address in found]), np.int64)
        chosen = [(*found[place], int(numbers[place])) for place in np.flatnonzero(wanted(numbers))]
        for _, record in groupby(chosen, key=itemgetter(0)):
            passages = [(number, passage_of(searcher.doc(address))[0]) for _, address, number in record]
            yield from sorted(passages, key=lambda one: place_in_paper(one[1]))


def passage_numbers(searcher: tantivy.Searcher, addresses: list[tantivy.DocAddress]) -> list[int]:
    """Return the numbers of the passages at some addresses; their rows have the same numbers."""
    return searcher.fast_field_values("number", addresses)  # type: ignore[return-value]


def _addresses(searcher: tantivy.Searcher, low: int, high: int) -> list[tuple[int, tantivy.DocAddress]]:
    """Return (sequence, address) of the passages of records `low` to `high`, by sequence."""
    records = tantivy.Query.range_query(
        tantivy_schema(), "sequence", tantivy.FieldType.Unsigned, low, high, include_upper=False
    )
    count = searcher.search(records, 1, count=True).count  # type: ignore[attr-defined]  # not in its stub
    return searcher.search(
        records, max(1, count), count=False, order_by_field="sequence", order=tantivy.Order.Asc
    ).hits


def place_in_paper(passage: StoredPassage) -> tuple[bool, int]:
    """Return a sort key within a paper: the passage with the record, the other language, the chunks."""
    number = passage.passage_id.removeprefix(passage.doc_id).removeprefix("#")
    return not passage.record, int(number) if number.isdecimal() else 0


def with_value(searcher: tantivy.Searcher, field: str, value: str) -> list[tantivy.DocAddress]:
    """Return the passages with a value in an exact field, without deleted ones."""
    most = searcher.doc_freq(field, value)  # includes deleted ones
    if not most:
        return []
    query = tantivy.Query.term_query(tantivy_schema(), field, value, index_option="basic")
    return [address for _, address in searcher.search(query, most, count=False).hits]


# The fields of a StoredPassage before its record, in order, without the text. They are small, and stored in
# one line before record and text.
HEAD = ("passage_id", "doc_id", "title", "lang", "part", "year", "journal", "source", "incomplete", "title2")
STRING_SEPARATOR = "\x1e"
WORTHWHILE = 0.6  # ratio of sizes; above it, the engine's compression of several passages is better
CHECK_BYTES = 4  # before the record: the CRC of record and layout, which the engine does not store


def add_stored(document: tantivy.Document, passage: StoredPassage, tokens: PassageTokens) -> None:
    """Add the stored fields of a passage to its document; its terms are stored in its row."""
    head = json.dumps([getattr(passage, name) for name in HEAD], ensure_ascii=False, separators=(",", ":"))
    record = _packed(f"{head}\n{passage.record}\n{passage.text}".encode())
    layout = STRING_SEPARATOR.join(tokens.layout).encode()
    document.add_bytes("record", _check_of(record, layout) + record)
    document.add_bytes("tokens", layout)


def _packed(record: bytes) -> bytes:
    """Compress a record if that saves enough bytes; the result then does not start with its bracket."""
    compressed = compress(record)
    return compressed if len(compressed) <= WORTHWHILE * len(record) else record


def _check_of(record: bytes, layout: bytes) -> bytes:
    return crc32(layout, crc32(record)).to_bytes(CHECK_BYTES)


def passage_of(document: tantivy.Document) -> tuple[StoredPassage, list[str]]:
    """Decode the stored passage of a document, and the layout of its tokens.

    Raises:
        ValueError: it is damaged.
    """
    stored, layout = document.get_first("record"), document.get_first("tokens")
    if stored is None or layout is None or _check_of(stored[CHECK_BYTES:], layout) != stored[:CHECK_BYTES]:
        raise ValueError("a stored passage is damaged")
    packed = stored[CHECK_BYTES:]
    whole = packed if packed.startswith(b"[") else decompress(packed)
    head, record, text = whole.decode().split("\n", 2)
    passage_id, doc_id, title, lang, part, year, journal, source, incomplete, title2 = json.loads(head)
    passage = StoredPassage(  # by position, which is faster than by name
        passage_id, doc_id, title, text, lang, part, year, journal, source, incomplete, title2, record
    )
    return passage, layout.decode().split(STRING_SEPARATOR)
