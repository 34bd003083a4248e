"""Passages as documents of the cluster: their conversion, and reading them in corpus order."""

import hashlib
from base64 import b64decode, b64encode
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from elasticsearch import Elasticsearch

from indexer.analysis.packing import GAP, TERM_SEPARATOR, PackedTokens, PassageTokens
from indexer.files.schema import AUTHORS, EXACT_FIELDS, StoredPassage
from indexer.files.stored import place_in_paper

LONGEST_ID = 512  # bytes, the cluster's limit of a document id
KEPT = (*EXACT_FIELDS, "year", "incomplete", "title2", "record")
PAGE = 500  # documents read at once
Query = dict[str, Any]
ALL: Query = {"match_all": {}}
ORDER = [{"sequence": "asc"}, {"passage_id": "asc"}]
STACKED, SPACE = "\x1f", "\x1e"  # prefix of each term at a position; replacement of a space in a term


def document_id(passage_id: str) -> str:
    """Return the document id of a passage: its own id, or a hash of one that is too long."""
    if len(passage_id.encode()) <= LONGEST_ID:
        return passage_id
    return hashlib.sha256(passage_id.encode()).hexdigest()


def to_document(passage: StoredPassage, tokens: PassageTokens, row: bytes, sequence: int) -> dict[str, Any]:
    """Make the document of a passage: lines of terms to search, stored texts and offsets, and its row.

    Empty fields are omitted.
    """
    text, title, title2 = tokens.text, tokens.title, tokens.title2
    values = {
        **{name: getattr(passage, name) for name in (*EXACT_FIELDS, "year", "title2", "record")},
        AUTHORS: list(passage.authors),
        "text": line_of(text),
        "title": line_of(title),
    }
    return {name: value for name, value in values.items() if value} | {
        "given": [passage.title, passage.text],
        "tokens": [text.offsets, title.offsets, *title2],
        "incomplete": passage.incomplete,
        "first": bool(passage.record),
        "sequence": sequence,
        "row": b64encode(row).decode("ascii"),
    }


def row_of(source: dict[str, Any]) -> bytes:
    """Return the row of a document's source."""
    return b64decode(source["row"])


def from_document(source: dict[str, Any]) -> StoredPassage:
    """Decode the stored passage in a document's source."""
    values = {name: source[name] for name in KEPT if name in source}
    (title, text), (of_text, of_title, *of_title2) = source["given"], source["tokens"]
    text_tokens = packed_of(source.get("text", ""), of_text)
    title_tokens = packed_of(source.get("title", ""), of_title)
    tokens = PassageTokens.of_packed(text_tokens, title_tokens, PackedTokens(*of_title2))
    return StoredPassage(**values, title=title, text=text, tokens=tokens, row=row_of(source))


def line_of(packed: PackedTokens) -> str:
    """Format terms for the cluster's tokenizer: a word per position, GAP for a position without a term.

    Where this is ambiguous, for example with several terms at a position, each term has the prefix STACKED,
    and spaces in it are replaced by SPACE.
    """
    if not packed.positions:
        return packed.terms
    words: dict[int, str] = {}
    for term, position in packed.unpack():
        words[position] = words.get(position, "") + STACKED + term.replace(" ", SPACE)
    return " ".join(words.get(position, GAP) for position in range(max(words) + 1))


def packed_of(line: str, offsets: str) -> PackedTokens:
    """Parse the tokens of a line made by `line_of`."""
    if STACKED not in line:
        return PackedTokens(line, "", offsets)
    terms, positions = [], []
    for position, word in enumerate(line.split(" ")):
        for term in word.split(STACKED)[1:]:
            terms.append(term.replace(SPACE, " "))
            positions.append(str(position))
    return PackedTokens(TERM_SEPARATOR.join(terms), " ".join(positions), offsets)


def hits_of(client: Elasticsearch, index: str, query: Query = ALL, **search: Any) -> Iterator[dict[str, Any]]:
    """Yield the hits of a query by sequence, then passage_id; a shard that does not answer is an error."""
    search |= {"size": PAGE, "sort": ORDER, "track_total_hits": False, "allow_partial_search_results": False}
    after = None
    while True:
        answer = client.search(index=index, query=query, search_after=after, **search)
        hits: list[dict[str, Any]] = answer["hits"]["hits"]
        yield from hits
        if len(hits) < PAGE:
            return
        after = hits[-1]["sort"]


def passages_of_index(client: Elasticsearch, index: str, query: Query = ALL) -> Iterator[StoredPassage]:
    """Yield the passages of an index, or those matching a query, in corpus order."""
    sources = (hit["_source"] for hit in hits_of(client, index, query))
    for _, record in groupby(sources, key=lambda source: source["sequence"]):
        yield from sorted(map(from_document, record), key=place_in_paper)


def count(client: Elasticsearch, index: str, query: Query = ALL) -> int:
    """Return the number of documents that match a query; not by the count API, which skips silent shards."""
    whole: dict[str, Any] = {"size": 0, "track_total_hits": True, "allow_partial_search_results": False}
    return int(client.search(index=index, query=query, **whole)["hits"]["total"]["value"])
