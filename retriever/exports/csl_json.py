"""CSL-JSON for citation processors and Zotero (csl-data.json of CSL 1.0.2)."""

from collections.abc import Iterable, Iterator
from typing import Any

from base.terminal.output import json_text
from indexer.corpora.own_exports import CSL_ID
from retriever.citing.processor import csl_item
from retriever.exports import Export, Record
from retriever.reference import Reference, reference_of


def write(records: Iterable[Record]) -> Iterator[str]:
    """Yield a JSON array, one item per line."""
    separator = "[\n"
    for record in records:
        reference = reference_of(record)
        yield separator + json_text(csl_item(reference) | {"custom": _custom(reference)})
        separator = ",\n"
    yield "[]\n" if separator == "[\n" else "\n]\n"


def _custom(reference: Reference) -> dict[str, Any]:
    """Make the values for which CSL has no variable, for indexing the file again."""
    keywords = reference.keywords
    custom = {
        "title2": reference.translated_title,
        "abstract2": reference.second_abstract,
        "keywords": list(keywords) if any(", " in keyword for keyword in keywords) else [],
        "references": list(reference.references),
        "source": reference.source,
    }
    return {CSL_ID: reference.id} | {key: value for key, value in custom.items() if value}


EXPORT = Export("application/vnd.citationstyles.csl+json", ".json", write)
