"""An index of a cluster: its name and mapping, its documents, and reading them in corpus order.

| name | content |
|---|---|
| PREFIX-NAME@000001 | an index: one version of the index NAME, or the one being built |
| PREFIX-NAME | an alias of the current version |
| PREFIX-NAME@versions | an alias of all published versions |
| PREFIX-NAME@000001.files | the companion files of the version in pieces |

An index's name in a cluster has no capitals and at most 255 bytes; names with capitals get a hash as suffix.
The `_meta` of a version's mapping contains the name of its index, its builder and its manifest. An index
without them was not created by SHRAG, and is never touched.
"""

import hashlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Any

from elasticsearch import Elasticsearch

from indexer.analysis import Decompound, UserDictionary
from indexer.analysis.korean import STOP_TAGS
from indexer.analysis.packing import GAP, PackedTokens, PassageTokens
from indexer.files.schema import (
    ANALYSED_FIELDS,
    BM25_B,
    BM25_K1,
    EXACT_FIELDS,
    LIST_FIELDS,
    TERMS,
    StoredPassage,
)
from indexer.files.stored import place_in_paper
from indexer.forward.rows import tokens_of_row
from indexer.settings import StorageType, VectorIndex

Query = dict[str, Any]
Terms = Callable[[Iterable[int]], list[str]]  # the terms of numbers
ALL: Query = {"match_all": {}}
PAGE = 500  # documents read at once
ORDER = [{"sequence": "asc"}, {"passage_id": "asc"}]
LONGEST_ID = 512  # bytes, the cluster's limit of a document id
KEPT = (*EXACT_FIELDS, "year", "incomplete", "title2", "record")
STACKED, SPACE = "\x1f", "\x1e"  # prefix of each term at a position; replacement of a space in a term
# Settings until a version is published, and those of a clone of a published version.
WHILE_LOADING = {"number_of_replicas": 0, "refresh_interval": "-1"}
WRITABLE = {"index": {"blocks.write": None, "auto_expand_replicas": False, **WHILE_LOADING}}
FILES_BODY: dict[str, Any] = {
    "settings": {"index": {"number_of_shards": 1, "auto_expand_replicas": "0-1"}},
    "mappings": {"properties": {"data": {"type": "binary"}}},
}


def alias_of(prefix: str, name: str) -> str:
    """Return the alias of the current version of an index."""
    small = name.lower()
    capitals = "" if small == name else f"@{hashlib.sha256(name.encode()).hexdigest()[:8]}"
    return f"{prefix}-{small}{capitals}"


def versions_alias(prefix: str, name: str) -> str:
    """Return the alias of all published versions of an index."""
    return f"{alias_of(prefix, name)}@versions"


def index_of(prefix: str, name: str, version: int) -> str:
    """Return the name of a version's index."""
    return f"{alias_of(prefix, name)}@{version:06}"


def files_of(index: str) -> str:
    """Return the name of the index with the companion files of a version's index."""
    return f"{index}.files"


def version_of(index: str, alias: str) -> int | None:
    """Return the version number in an index's name; None if the name does not match the alias."""
    number = index.removeprefix(f"{alias}@")
    return int(number) if number.isdecimal() and index == f"{alias}@{int(number):06}" else None


def index_body(
    analyzer: str,
    decompound: Decompound,
    dictionary: UserDictionary | None = None,
    *,
    shards: int,
    meta: dict[str, Any],
) -> dict[str, Any]:
    """Return the body that creates an index for loading, with `meta` in its mapping.

    Indexed text is already analysed, as a line of terms. The chain with the name of the embedded one serves
    queries of other tools, such as a `match` on the text.
    """
    english = ["stop", "english_stemmer"]
    korean = ["parts_of_speech", "nori_readingform", "lowercase"]
    chain = {"tokenizer": "nori", "filter": korean + (english if analyzer == "bilingual" else [])}
    if analyzer == "english":
        chain = {"tokenizer": "standard", "filter": ["possessive", "lowercase", *english]}
    nori: dict[str, Any] = {"type": "nori_tokenizer", "decompound_mode": decompound}
    if dictionary:
        nori["user_dictionary_rules"] = dictionary.rules()
    analysis = {
        "tokenizer": {
            "nori": nori,
            # a term may be longer than the tokenizer's default of 255 letters
            "lines": {"type": "char_group", "tokenize_on_chars": [" "], "max_token_length": 1 << 20},
        },
        "filter": {
            "gaps": {"type": "stop", "stopwords": [GAP]},
            "stacked": {
                "type": "pattern_capture",
                "preserve_original": False,
                "patterns": [f"([^{STACKED}]+)"],
            },
            "spaces": {"type": "pattern_replace", "pattern": SPACE, "replacement": " "},
            "parts_of_speech": {"type": "nori_part_of_speech", "stoptags": sorted(STOP_TAGS)},
            "possessive": {"type": "stemmer", "language": "possessive_english"},
            "english_stemmer": {"type": "stemmer", "language": "english"},
        },
        "analyzer": {
            analyzer: {"type": "custom", **chain},
            TERMS: {"type": "custom", "tokenizer": "lines", "filter": ["gaps", "stacked", "spaces"]},
        },
    }
    index: dict[str, Any] = {
        "number_of_shards": shards,
        **WHILE_LOADING,
        "similarity": {"default": {"type": "BM25", "k1": BM25_K1, "b": BM25_B}},
        "mapping": {"exclude_source_vectors": True},  # so that vectors survive partial updates
    }
    # A longer value of an exact field is stored, but not searched; a term has at most 32,766 bytes.
    exact = {"type": "keyword", "ignore_above": 8_191}
    text = {"type": "text", "analyzer": TERMS, "search_analyzer": analyzer}
    stored = {"type": "keyword", "index": False, "doc_values": False}
    properties: dict[str, Any] = {
        **dict.fromkeys(ANALYSED_FIELDS, text),
        **dict.fromkeys((*EXACT_FIELDS, *LIST_FIELDS), exact),
        **dict.fromkeys(("record", "title2", "given", "tokens"), stored),
        "incomplete": {"type": "boolean"},
        "first": {"type": "boolean"},
        "year": {"type": "integer"},
        "sequence": {"type": "long"},
        "row": {"type": "binary"},
    }
    return {
        "settings": {"index": index, "analysis": analysis},
        "mappings": {"dynamic": "strict", "_meta": meta, "properties": properties},
    }


def vector_field(
    dimensions: int, *, index: VectorIndex = "flat", storage: StorageType = "float32"
) -> dict[str, Any]:
    """Return the mapping of the vectors: exhaustive search, or graph search with re-scoring."""
    options: dict[str, Any] = {"type": "flat"}
    if index == "hnsw":
        options = {"type": "hnsw", "m": 16, "ef_construction": 100}
        if storage == "float32":
            options |= {"type": "int8_hnsw", "rescore_vector": {"oversample": 3.0}}
    return {
        "type": "dense_vector",
        "dims": dimensions,
        "element_type": {"float32": "float", "int8": "byte"}[storage],
        "similarity": "cosine",
        "index": True,
        "index_options": options,
    }


def document_id(passage_id: str) -> str:
    """Return the document id of a passage: its own id, or a hash of one that is too long."""
    if len(passage_id.encode()) <= LONGEST_ID:
        return passage_id
    return hashlib.sha256(passage_id.encode()).hexdigest()


def to_document(passage: StoredPassage, tokens: PassageTokens, row: bytes, sequence: int) -> dict[str, Any]:
    """Make the document of a passage: lines of terms to search, and its texts, row and layout of tokens.

    Empty fields are omitted.
    """
    values = {
        **{name: getattr(passage, name) for name in (*EXACT_FIELDS, "year", "title2", "record")},
        **{name: list(getattr(passage, name)) for name in LIST_FIELDS},
        "text": line_of(tokens.text),
        "title": line_of(tokens.title),
    }
    return {name: value for name, value in values.items() if value} | {
        "given": [passage.title, passage.text],
        "tokens": tokens.layout,
        "incomplete": passage.incomplete,
        "first": bool(passage.record),
        "sequence": sequence,
        "row": b64encode(row).decode("ascii"),
    }


def row_of(source: dict[str, Any]) -> bytes:
    """Return the row of a document's source."""
    return b64decode(source["row"])


def from_document(source: dict[str, Any], terms: Terms | None = None) -> StoredPassage:
    """Decode the stored passage in a document's source; with `terms` of numbers, also its tokens."""
    values = {name: source[name] for name in KEPT if name in source}
    title, text = source["given"]
    row = row_of(source)
    tokens = tokens_of_row(row, source["tokens"], terms) if terms else None
    return StoredPassage(**values, title=title, text=text, tokens=tokens, row=row)


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
        yield from sorted((from_document(source) for source in record), key=place_in_paper)


def count(client: Elasticsearch, index: str, query: Query = ALL) -> int:
    """Return the number of documents that match a query; not by the count API, which skips silent shards."""
    whole: dict[str, Any] = {"size": 0, "track_total_hits": True, "allow_partial_search_results": False}
    return int(client.search(index=index, query=query, **whole)["hits"]["total"]["value"])
