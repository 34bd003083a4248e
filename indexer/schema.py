"""The fields of an index, written down once for every engine.

| field | what | searched by |
|---|---|---|
| text | title, abstract or chunk, analysed with positions | terms, phrases |
| title | the title again, analysed with positions | terms, phrases, the title clause |
| passage_id, doc_id | as given | the exact value |
| year | of publication | ranges |
| lang, journal | as given | the exact value |
| part | abstract, abstract2, body or passage | the exact value |
| incomplete | the paper has no text beyond a title | the exact value |
| sequence | the record's place in the corpus it came from | resuming a broken-off build |
| record | the stored passage as JSON | not searched |
"""

import json
from dataclasses import dataclass
from typing import Any

import tantivy

from indexer.papers import Language

SCHEMA_VERSION = 2
BM25_K1, BM25_B = 1.2, 0.75  # as both engines score
ANALYSED_FIELDS = ("text", "title")
TERMS = "terms"  # the tokenizer of these in the embedded engine
EXACT_FIELDS = ("passage_id", "doc_id", "lang", "journal", "part")


@dataclass(frozen=True, slots=True)
class StoredPassage:
    """A passage as it comes back from an index, with what its paper is known by.

    `paper` holds the whole record but its full text, and stands with a paper's first passage only.
    """

    passage_id: str
    doc_id: str
    title: str
    text: str
    lang: Language
    part: str
    year: int | None = None
    journal: str = ""
    incomplete: bool = False
    paper: dict[str, Any] | None = None

    def to_json(self) -> bytes:
        """Encode for storing."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()

    @classmethod
    def from_json(cls, data: bytes) -> "StoredPassage":
        """Decode what `to_json` made."""
        return cls(**json.loads(data))


def tantivy_schema() -> tantivy.Schema:
    """Build the schema for the embedded engine; tokens come analysed, its tokenizers only tell them apart."""
    builder = tantivy.SchemaBuilder()
    for name in ANALYSED_FIELDS:
        builder.add_text_field(name, tokenizer_name=TERMS, index_option="position")
    for name in EXACT_FIELDS:
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic", fast=True)
    builder.add_unsigned_field("year", indexed=True, fast=True)
    builder.add_boolean_field("incomplete", indexed=True)
    builder.add_unsigned_field("sequence", fast=True)
    builder.add_bytes_field("record", stored=True)
    return builder.build()
