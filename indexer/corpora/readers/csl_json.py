"""CSL-JSON, as exported by Zotero, Mendeley, pandoc and citation processors (csl-data.json of CSL 1.0.2)."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from indexer.corpora.own_exports import CSL_ID
from indexer.corpora.papers import Paper
from indexer.corpora.readers.bibliography import (
    language_of_code,
    languages,
    person,
    present,
    record_id,
    split_keywords,
    type_named,
    year_within,
)
from indexer.corpora.readers.items import Item
from indexer.corpora.readers.jsonl import read_records
from indexer.corpora.readers.markup import without_markup
from indexer.corpora.readers.streams import Stream

TEXTS = {
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
}
NAMES = {"author": "authors", "editor": "editors"}
READ = frozenset((*TEXTS, *NAMES, "id", "type", "issued", "keyword", "language", "custom"))
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


def read_csl_json(stream: Stream) -> Iterator[Item]:
    """Read the items of an array, or one item per line."""
    return read_records(stream, partial(named_as_paper, stream=stream))


def named_as_paper(item: Mapping[str, Any], stream: Stream) -> Mapping[str, Any]:
    """Convert an item to Paper's keys; unknown variables keep their names."""
    custom = item.get("custom")
    own = custom if isinstance(custom, Mapping) and CSL_ID in custom else None
    texts = {key: _text(item.get(name)) for name, key in TEXTS.items()}
    values: dict[str, Any] = texts if own else {key: without_markup(text) for key, text in texts.items()}
    for name, key in NAMES.items():
        people = item.get(name)
        values[key] = [_person(one) for one in people] if isinstance(people, list) else []
    values["year"] = year_within(_date(item.get("issued")))
    language = _text(item.get("language"))
    keywords = _text(item.get("keyword"))
    kind = _text(item.get("type"))
    if own:
        values["lang"] = language_of_code(language)
        values["keywords"] = keywords.split(", ") if keywords else []
        values |= {key: value for key, value in own.items() if key != CSL_ID}
        values |= {"id": own[CSL_ID], "type": "" if kind in OWN_TYPES else kind}
        return present(_further(item) | values)
    key = _text(item.get("id"))
    content = (values["title"], *values["authors"], values["year"])
    values["id"] = record_id(stream, doi=values["doi"], key=key, content=content)
    values |= {"keywords": split_keywords([keywords]), "type": type_named(kind), "citation_key": key}
    values |= languages(language, values["title"] or values["abstract"])
    return present(_further(item) | values)


def _further(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return the other variables; the names of Paper's fields have another meaning in CSL."""
    further = {name: value for name, value in item.items() if name not in READ}
    return {f"csl:{name}" if name in RESERVED else name: value for name, value in further.items()}


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
    """Return the text or the first part of a date."""
    if not isinstance(date, Mapping):
        return _text(date)
    parts = date.get("date-parts")
    if isinstance(parts, list) and parts and isinstance(parts[0], list) and parts[0]:
        return _text(parts[0][0])
    return _text(date.get("raw")) or _text(date.get("literal"))
