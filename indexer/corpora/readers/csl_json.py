"""CSL-JSON, as exported by Zotero, Mendeley, pandoc and citation processors (csl-data.json of CSL 1.0.2)."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from indexer.corpora.own_exports import CSL_ID
from indexer.corpora.papers import Paper
from indexer.corpora.readers.bibliography import person, reference_record
from indexer.corpora.readers.items import Found
from indexer.corpora.readers.json_records import read_records
from indexer.corpora.readers.mapping import find, first
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
DATE = "issued/date-parts|issued/year|issued/raw|issued/literal|issued"  # older files have other forms
READ = frozenset((*VARIABLES, *NAMES, "issued", "custom"))
RESERVED = frozenset((*Paper.model_fields, "_id", "docid", "text", "contents"))
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
    found = {key: [text] for name, key in VARIABLES.items() if (text := first(item, name))}
    found |= {key: list(filter(None, map(_person, find(item, name)))) for name, key in NAMES.items()}
    found["dates"] = [first(item, DATE)]
    other = {name: value for name, value in item.items() if name not in READ}
    further = {f"csl:{name}" if name in RESERVED else name: value for name, value in other.items()}
    custom = item.get("custom")
    own = dict(custom) if isinstance(custom, Mapping) and CSL_ID in custom else {}
    found["id"] = [first(own, CSL_ID)]
    own.pop(CSL_ID, None)
    record = reference_record(found, stream, further | own)
    return {key: value for key, value in record.items() if key != "date"}


def _person(name: Any) -> str:
    """Return the name of a person or institution."""
    if not isinstance(name, Mapping) or name.get("literal"):
        return first({"name": name}, "name|name/literal")
    family = f"{first(name, 'non-dropping-particle')} {first(name, 'family')}".strip()
    given = f"{first(name, 'given')} {first(name, 'dropping-particle')}".strip()
    return person(family, given, first(name, "suffix"))
