"""CSL-JSON, as exported by Zotero, Mendeley, pandoc and citation processors (csl-data.json of CSL 1.0.2)."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from indexer.corpora.own_exports import CSL_ID
from indexer.corpora.papers import Paper
from indexer.corpora.readers.bibliography import drop_empty, exported_record, person, reference_record
from indexer.corpora.readers.items import Found
from indexer.corpora.readers.json_records import read_records
from indexer.corpora.readers.streams import Stream

# Variables by the keys of `reference_record`.
VARIABLES = {
    "id": "citation_key",
    "title": "title",
    "abstract": "abstract",
    "container-title": "journal",
    "collection-title": "series",
    "publisher": "publisher",
    "publisher-place": "place",
    "volume": "volume",
    "issue": "issue",
    "page": "pages",
    "edition": "edition",
    "ISSN": "issn",
    "ISBN": "isbn",
    "PMID": "pmid",
    "PMCID": "pmcid",
    "DOI": "doi",
    "URL": "url",
    "source": "source",
    "note": "note",
    "type": "type",
    "language": "language",
    "keyword": "keywords",
}
NAMES = {"author": "names", "editor": "editors"}
READ = frozenset((*VARIABLES, *NAMES, "issued", "custom"))
RESERVED = frozenset((*Paper.model_fields, "_id", "docid", "text", "contents"))
OWN_TYPES = frozenset({"article-journal", "document"})
# Keys of CSL items that no record of another format has beside `type`.
TELLING = frozenset(
    "issued container-title DOI URL author editor page accessed publisher-place title-short ISBN".split()
)
UNTELLING = frozenset(("id", "type", "title", "publisher", "volume", "issue", "abstract", "note"))


def is_csl(record: Mapping[str, Any]) -> bool:
    """Check for an item of CSL-JSON."""
    return isinstance(record.get("type"), str) and not TELLING.isdisjoint(record) and "authors" not in record


def may_be_csl(record: Mapping[str, Any]) -> bool:
    """Check for a record that may be an item of CSL-JSON or have Paper's keys."""
    return "type" in record and record.keys() <= UNTELLING


def read_csl_json(stream: Stream) -> Iterator[Found]:
    """Read the items of an array, or one item per line."""
    return read_records(stream, partial(paper_record, stream=stream))


def paper_record(item: Mapping[str, Any], stream: Stream) -> Mapping[str, Any]:
    """Convert an item to Paper's keys; unknown variables, and names of Paper's fields, are kept apart."""
    found = {key: [text] for name, key in VARIABLES.items() if (text := _text(item.get(name)))}
    for name, key in NAMES.items():
        people = item.get(name)
        found[key] = [_person(one) for one in people] if isinstance(people, list) else []
    found["dates"] = [_date(item.get("issued"))]
    other = {name: value for name, value in item.items() if name not in READ}
    further = {f"csl:{name}" if name in RESERVED else name: value for name, value in other.items()}
    custom = item.get("custom")
    if not isinstance(custom, Mapping) or CSL_ID not in custom:
        record = reference_record(found, stream, further)
        return {key: value for key, value in record.items() if key != "date"}
    keywords = _text(item.get("keyword"))
    kind = _text(item.get("type"))
    found |= {"authors": found["names"], "keywords": keywords.split(", ") if keywords else []}
    record = exported_record(found, "" if kind in OWN_TYPES else kind)
    own = {key: value for key, value in custom.items() if key != CSL_ID}
    return drop_empty(further | record | own | {"id": custom[CSL_ID]})


def _text(value: Any) -> str:
    """Return a text or number as text; "" for other values."""
    if isinstance(value, list) and value:
        value = value[0]
    is_text = isinstance(value, str | int | float) and not isinstance(value, bool)
    return str(value).strip() if is_text else ""


def _person(name: Any) -> str:
    """Return the name of a person or institution."""
    if not isinstance(name, Mapping):
        return _text(name)
    parts = {key: _text(value) for key, value in name.items()}
    if literal := parts.get("literal"):
        return literal
    family = f"{parts.get('non-dropping-particle', '')} {parts.get('family', '')}".strip()
    given = f"{parts.get('given', '')} {parts.get('dropping-particle', '')}".strip()
    return person(family, given, parts.get("suffix", ""))


def _date(date: Any) -> str:
    """Return the text or the first part of a date; older files have a list of objects with a year."""
    if isinstance(date, list) and date:
        return _date(date[0])
    if not isinstance(date, Mapping):
        return _text(date)
    parts = date.get("date-parts")
    if isinstance(parts, list) and parts and isinstance(parts[0], list) and parts[0]:
        return _text(parts[0][0])
    return next(filter(None, (_text(date.get(key)) for key in ("year", "raw", "literal"))), "")
