"""A stored passage as a document of the cluster, and back."""

import hashlib
import json
from typing import Any

from indexer.analysis.tokens import as_indexed
from indexer.schema import EXACT_FIELDS, StoredPassage

LONGEST_ID = 512  # bytes that a document's id may have


def document_id(passage_id: str) -> str:
    """Return the id of a passage's document: the passage's own, or a hash of one that is too long."""
    if len(passage_id.encode()) <= LONGEST_ID:
        return passage_id
    return hashlib.sha256(passage_id.encode()).hexdigest()


def to_document(passage: StoredPassage, sequence: int) -> dict[str, Any]:
    """Make the document of a passage.

    What is analysed stands in it as it is analysed (title and text in one, composed). The texts as given
    are left out of the record where they can be cut from that.
    """
    whole, title = as_indexed(passage.title, passage.text)
    record = {name: getattr(passage, name) for name in passage.__slots__}
    if _cut(whole, title) == (passage.title, passage.text):
        del record["title"], record["text"]
    document: dict[str, Any] = {
        "text": whole,
        "title": title,
        "incomplete": passage.incomplete,
        "first": passage.paper is not None,
        "sequence": sequence,
    }
    document |= {name: record.pop(name) for name in EXACT_FIELDS}
    if not document["journal"]:
        del document["journal"]
    del record["incomplete"]
    if record["year"] is not None:
        document["year"] = record["year"]
    del record["year"]
    if record["paper"] is None:
        del record["paper"]
    # As text: what a record may hold (numbers of any length, any depth) is nothing to the cluster.
    return document | {"record": json.dumps(record, ensure_ascii=False, separators=(",", ":"))}


def from_document(source: dict[str, Any]) -> StoredPassage:
    """Make the stored passage of a document's source."""
    title, text = _cut(source["text"], source["title"])
    values = {"title": title, "text": text, "journal": "", "year": None, "paper": None}
    values |= {name: source[name] for name in (*EXACT_FIELDS, "year", "incomplete") if name in source}
    return StoredPassage(**(values | json.loads(source["record"])))


def _cut(whole: str, title: str) -> tuple[str, str]:
    return (title, whole[len(title) + 1 :]) if title else ("", whole)
