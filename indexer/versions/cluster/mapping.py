"""Names, settings and mappings of indexes in a cluster, as bodies of the REST API.

| name | content |
|---|---|
| PREFIX-NAME@000001 | an index: one version of the index NAME, or the one being built |
| PREFIX-NAME | an alias of the current version |
| PREFIX-NAME@versions | an alias of all published versions |
| PREFIX.files | companion files of the versions in pieces, and claims of writers |

An index's name in a cluster has no capitals and at most 255 bytes; names with capitals get a hash as suffix.
The `_meta` of a version's mapping contains the name of its index, its builder and its manifest. An index
without them was not created by SHRAG, and is never touched.
"""

import hashlib
from typing import Any

from indexer.analysis import Decompound, UserDictionary
from indexer.analysis.korean import STOP_TAGS
from indexer.analysis.packing import GAP
from indexer.files.schema import ANALYSED_FIELDS, AUTHORS, BM25_B, BM25_K1, EXACT_FIELDS, TERMS
from indexer.settings import StorageType, VectorIndex
from indexer.versions.cluster.documents import SPACE, STACKED

# Settings until a version is published, and those of a clone of a published version.
WHILE_LOADING = {"number_of_replicas": 0, "refresh_interval": "-1"}
WRITABLE = {"index": {"blocks.write": None, "auto_expand_replicas": False, **WHILE_LOADING}}
# The maximal token length of the cluster's tokenizer; its default is 255 letters.
LINES = {"type": "char_group", "tokenize_on_chars": [" "], "max_token_length": 1 << 20}
TERMS_OF_A_WORD = f"([^{STACKED}]+)"
STORED_FIELDS = ("record", "title2", "given", "tokens")
# A longer value of an exact field is stored, but not searched; a term has at most 32,766 bytes.
EXACT = {"type": "keyword", "ignore_above": 8_191}
FILES_BODY: dict[str, Any] = {
    "settings": {"index": {"number_of_shards": 1, "auto_expand_replicas": "0-1"}},
    "mappings": {
        "properties": {
            "version": {"type": "keyword"},
            "data": {"type": "binary"},
            "claim": {"type": "object", "enabled": False},
        },
    },
}


def alias_of(prefix: str, name: str) -> str:
    """Return the alias of the current version of an index."""
    small = name.lower()
    if small == name:
        return f"{prefix}-{name}"
    return f"{prefix}-{small}@{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def versions_alias(prefix: str, name: str) -> str:
    """Return the alias of all published versions of an index."""
    return f"{alias_of(prefix, name)}@versions"


def index_of(prefix: str, name: str, version: int) -> str:
    """Return the name of a version's index."""
    return f"{alias_of(prefix, name)}@{version:06}"


def version_of(index: str, alias: str) -> int | None:
    """Return the version number in an index's name; None if the name does not match the alias."""
    number = index.removeprefix(f"{alias}@")
    if not (number.isascii() and number.isdigit()):
        return None
    return int(number) if index == f"{alias}@{int(number):06}" else None


def analysis(
    analyzer: str, decompound: Decompound, dictionary: UserDictionary | None = None
) -> dict[str, Any]:
    """Return `settings.analysis`: the chain for texts, and the tokenizer for lines of terms.

    The chain has the name of the embedded one. Indexed text is already analysed; the cluster's chain serves
    queries of other tools, such as a `match` on the text.
    """
    if analyzer == "english":
        chain = {"tokenizer": "standard", "filter": ["possessive", "lowercase", "stop", "english_stemmer"]}
    else:
        korean = ["parts_of_speech", "nori_readingform", "lowercase"]
        english = ["stop", "english_stemmer"] if analyzer == "bilingual" else []
        chain = {"tokenizer": "nori", "filter": [*korean, *english]}
    tokenizer: dict[str, Any] = {"type": "nori_tokenizer", "decompound_mode": decompound}
    if dictionary:
        tokenizer["user_dictionary_rules"] = dictionary.rules()
    return {
        "tokenizer": {"nori": tokenizer, "lines": LINES},
        "filter": {
            "gaps": {"type": "stop", "stopwords": [GAP]},
            "stacked": {"type": "pattern_capture", "preserve_original": False, "patterns": [TERMS_OF_A_WORD]},
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


def index_body(
    analyzer: str,
    decompound: Decompound,
    *,
    shards: int,
    meta: dict[str, Any],
    dictionary: UserDictionary | None = None,
) -> dict[str, Any]:
    """Return the body that creates an index for loading, with `meta` in its mapping."""
    index: dict[str, Any] = {
        "number_of_shards": shards,
        **WHILE_LOADING,
        "similarity": {"default": {"type": "BM25", "k1": BM25_K1, "b": BM25_B}},
        "mapping": {"exclude_source_vectors": True},  # so that vectors survive partial updates
    }
    text = {"type": "text", "analyzer": TERMS, "search_analyzer": analyzer}
    stored = {"type": "keyword", "index": False, "doc_values": False}
    properties: dict[str, Any] = {
        **dict.fromkeys(ANALYSED_FIELDS, text),
        **dict.fromkeys((*EXACT_FIELDS, AUTHORS), EXACT),
        **dict.fromkeys(STORED_FIELDS, stored),
        "incomplete": {"type": "boolean"},
        "first": {"type": "boolean"},
        "year": {"type": "integer"},
        "sequence": {"type": "long"},
        "row": {"type": "binary"},
    }
    return {
        "settings": {"index": index, "analysis": analysis(analyzer, decompound, dictionary)},
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


def published_settings(replicas: str) -> dict[str, Any]:
    """Return the settings of a published version: replicas, and read-only."""
    copies = {"auto_expand_replicas": replicas} if "-" in replicas else {"number_of_replicas": int(replicas)}
    return {"index": {**copies, "refresh_interval": "1s", "blocks.write": True}}
