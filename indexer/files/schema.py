"""The fields of an index, defined once for all engines.

| field | content | searched by |
|---|---|---|
| text | title and abstract or chunk, analysed with positions | terms, phrases |
| title | the title, analysed with positions | terms, phrases, the title clause |
| passage_id, doc_id | as given | exact value |
| year | year of publication | ranges |
| lang, journal, source, type | as given | exact value |
| authors | the paper's authors, as given | each exact value |
| keys | keys of the paper as a known item (`indexer/files/keys.py`) | each exact value |
| part | abstract, abstract2, body or passage | exact value |
| first | the passage contains its paper's record | yes or no |
| incomplete | the paper has no text beyond a title | yes or no |
| sequence | the place of the record in the order of the index | order |
| number | number of the passage and of its row in the forward index (`indexer/forward/`) | not searched |
| record | the stored passage | not searched |
| tokens | positions and offsets of the tokens | not searched |
| row | the row of the passage, in a cluster | not searched |
"""

import json
from dataclasses import dataclass, field
from typing import Any

import tantivy

from indexer.analysis.packing import PassageTokens
from indexer.corpora.papers import Language

SCHEMA_VERSIONS = {"tantivy": 8, "elasticsearch": 9}
BM25_K1, BM25_B = 1.2, 0.75  # the parameters of both engines
ANALYSED_FIELDS = ("text", "title")
TERMS = "terms"  # tokenizer name in the embedded engine
EXACT_FIELDS = ("passage_id", "doc_id", "lang", "journal", "part", "source", "type")
LIST_FIELDS = ("authors", "keys")  # exact fields with several values


@dataclass(frozen=True, slots=True)
class StoredPassage:
    """A passage read from an index, with the bibliographic data of its paper.

    `record` is the paper's record without its full text, as JSON; only a paper's first passage has `record`
    and `title2`. `tokens` are the indexed tokens of the passage and `row` is its row of the forward index;
    both are present only if they were read. `type`, `authors` and `keys` are indexed, but not read back.
    """

    passage_id: str
    doc_id: str
    title: str
    text: str
    lang: Language
    part: str
    year: int | None = None
    journal: str = ""
    source: str = ""
    incomplete: bool = False
    title2: str = ""
    record: str = ""
    tokens: PassageTokens | None = field(default=None, compare=False, repr=False)
    row: bytes = field(default=b"", compare=False, repr=False)
    type: str = field(default="", compare=False, repr=False)
    authors: tuple[str, ...] = field(default=(), compare=False, repr=False)
    keys: tuple[str, ...] = field(default=(), compare=False, repr=False)

    @property
    def paper(self) -> dict[str, Any] | None:
        """The paper's record, decoded at each call; None except in a paper's first passage."""
        return json.loads(self.record) if self.record else None

    def to_json(self) -> bytes:
        """Return the passage as one line of JSON, without its tokens."""
        values = {name: getattr(self, name) for name in EXPORTED}
        return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()


EXPORTED = (
    *("passage_id", "doc_id", "title", "text", "lang", "part", "year", "journal", "source"),
    *("incomplete", "paper"),
)


def tantivy_schema() -> tantivy.Schema:
    """Build the schema for the embedded engine; its tokenizers only split already analysed tokens."""
    builder = tantivy.SchemaBuilder()
    for name in ANALYSED_FIELDS:
        builder.add_text_field(name, tokenizer_name=TERMS, index_option="position")
    for name in EXACT_FIELDS:
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic", fast=True)
    builder.add_text_field("authors", tokenizer_name="raw", index_option="basic", fast=True)
    builder.add_text_field("keys", tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field("year", indexed=True, fast=True)
    builder.add_boolean_field("first", indexed=True)
    builder.add_boolean_field("incomplete", indexed=True)
    builder.add_unsigned_field("sequence", fast=True)
    builder.add_unsigned_field("number", fast=True)
    builder.add_bytes_field("record", stored=True)
    builder.add_bytes_field("tokens", stored=True)
    return builder.build()
