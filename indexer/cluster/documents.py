"""A stored passage as a document of the cluster, and back."""

import hashlib
from typing import Any

from indexer.analysis.tokens import as_indexed
from indexer.packing import PassageTokens
from indexer.schema import EXACT_FIELDS, REFERENCES, StoredPassage

LONGEST_ID = 512  # bytes that a document's id may have


def document_id(passage_id: str) -> str:
    """Return the id of a passage's document: the passage's own, or a hash of one that is too long."""
    if len(passage_id.encode()) <= LONGEST_ID:
        return passage_id
    return hashlib.sha256(passage_id.encode()).hexdigest()


def to_document(passage: StoredPassage, tokens: PassageTokens, sequence: int) -> dict[str, Any]:
    """Make the document of a passage.

    What is analysed stands in it as it is analysed (title and text in one, composed). The texts as given
    are left out where they can be cut from that. What is empty is left out.
    """
    whole, title = as_indexed(passage.title, passage.text)
    given = passage.title, passage.text
    values = {
        **{name: getattr(passage, name) for name in (*EXACT_FIELDS, "year", "title2", "record")},
        "given": [] if _cut(whole, title) == given else list(given),
        REFERENCES: passage.references if passage.record else [],
        "tokens": tokens.strings,
    }
    return {name: value for name, value in values.items() if value} | {
        "text": whole,
        "title": title,
        "incomplete": passage.incomplete,
        "first": bool(passage.record),
        "sequence": sequence,
    }


def from_document(source: dict[str, Any]) -> StoredPassage:
    """Make the stored passage of a document's source."""
    title, text = source.get("given") or _cut(source["text"], source["title"])
    values = {name: source[name] for name in KEPT if name in source}
    tokens = PassageTokens(tuple(source.get("tokens", ())))
    return StoredPassage(**values, title=title, text=text, tokens=tokens)


KEPT = (*EXACT_FIELDS, "year", "incomplete", "title2", "record")


def _cut(whole: str, title: str) -> tuple[str, str]:
    return (title, whole[len(title) + 1 :]) if title else ("", whole)
