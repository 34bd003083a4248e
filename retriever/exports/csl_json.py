"""CSL-JSON for citation processors and Zotero (csl-data.json of CSL 1.0.2)."""

from collections.abc import Iterable, Iterator
from typing import Any

from base.terminal.output import json_text
from indexer.corpora.own_exports import CSL_ID
from retriever.exports import Export, Record
from retriever.reference import Name, Reference, reference_of


def write(records: Iterable[Record]) -> Iterator[str]:
    """Yield a JSON array, one item per line."""
    separator = "[\n"
    for record in records:
        reference = reference_of(record)
        yield separator + json_text(item_of(reference) | {"custom": _custom(reference)})
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


def item_of(reference: Reference) -> dict[str, Any]:
    """Make the item of one paper; missing fields are left out."""
    item = {
        "id": reference.id,
        "type": "article-journal" if reference.journal else "document",
        "title": reference.title,
        "author": [_name(author) for author in reference.authors],
        "issued": {"date-parts": [[reference.year]]} if reference.year else None,
        "container-title": reference.journal,
        "publisher": reference.publisher,
        "abstract": reference.abstract,
        "keyword": ", ".join(reference.keywords),
        "DOI": reference.doi,
        "URL": reference.url,
        "language": "und" if reference.is_other_language else reference.language,
    }
    return {key: value for key, value in item.items() if value or key == "id"}


def _name(author: Name) -> dict[str, str]:
    if author.given:
        return {"family": author.family, "given": author.given}
    return {"literal": author.family}


EXPORT = Export("application/vnd.citationstyles.csl+json", ".json", write)
