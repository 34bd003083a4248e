"""Crossref's works: responses of the REST API, and the files of the annual public data file.

The keys are documented in "Crossref REST API format" (api_format.md). Administrative keys, such as `indexed`
and `score`, are left out.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from indexer.corpora.normal_forms import whole_doi
from indexer.corpora.readers.bibliography import languages, person, present, type_named, year_within
from indexer.corpora.readers.items import Item
from indexer.corpora.readers.json_values import citations, first, items, table, text
from indexer.corpora.readers.jsonl import read_records
from indexer.corpora.readers.markup import without_markup
from indexer.corpora.readers.streams import Stream

# Keys that no other format has.
TELLING = frozenset("member deposited is-referenced-by-count reference-count prefix message-type".split())
DATES = ("issued", "published-print", "published-online", "published", "created")
KEPT = ("subtype", "funder", "license", "update-to", "relation", "group-title", "archive")
JATS_TAG = re.compile(r"</?jats:[^<>]{1,300}>")


def is_crossref(record: Mapping[str, Any]) -> bool:
    """Check for a work of Crossref, or a response with one."""
    return not TELLING.isdisjoint(record) and ("DOI" in record or "message" in record)


def read_crossref(stream: Stream) -> Iterator[Item]:
    """Read works: the items of a response, or one per line."""
    return read_records(stream, named_as_paper)


def named_as_paper(work: Mapping[str, Any]) -> Mapping[str, Any]:
    """Convert a work, or a response with one, to Paper's keys. The id is the DOI."""
    work = table(work["message"]) if "message-type" in work else work
    titles = [without_markup(text(title)) for title in items(work.get("title"))]
    subtitle = without_markup(first(work.get("subtitle")))
    title = next(iter(titles), "")
    abstract = _abstract(work)
    doi = text(work.get("DOI"))
    years = (_year(work.get(name)) for name in DATES)
    values = {
        "id": whole_doi(doi) or doi,
        "title": f"{title}: {subtitle}" if subtitle and subtitle not in title else title,
        "title2": without_markup(first(work.get("original-title"))) or next(iter(titles[1:]), ""),
        "abstract": abstract,
        "authors": _names(work.get("author")),
        "editors": _names(work.get("editor")),
        "year": next((year for year in years if year), None),
        "journal": without_markup(first(work.get("container-title"))),
        "journal_abbreviation": first(work.get("short-container-title")),
        "publisher": text(work.get("publisher")),
        "keywords": [keyword for keyword in map(text, items(work.get("subject"))) if keyword],
        "doi": doi,
        "url": text(work.get("URL")),
        "volume": text(work.get("volume")),
        "issue": text(work.get("issue")),
        "pages": text(work.get("page")) or text(work.get("article-number")),
        "issn": first(work.get("ISSN")),
        "isbn": first(work.get("ISBN")),
        "type": type_named(text(work.get("type"))),
        "cited_by_count": citations(work.get("is-referenced-by-count")),
        **_references(work.get("reference")),
    }
    kept = {key: work[key] for key in KEPT if key in work}
    return present(kept | values) | languages(text(work.get("language")), title or abstract)


def _abstract(work: Mapping[str, Any]) -> str:
    """Return the abstract, which is a part of JATS."""
    return without_markup(JATS_TAG.sub(" ", text(work.get("abstract"))))


def _names(people: Any) -> list[str]:
    names = (
        person(text(table(one).get("family")), text(table(one).get("given")), text(table(one).get("suffix")))
        or text(table(one).get("name"))
        for one in items(people)
    )
    return list(filter(None, names))


def _year(date: Any) -> int | None:
    parts = items(table(date).get("date-parts"))
    return year_within(first(parts[0])) if parts else None


def _references(references: Any) -> dict[str, Any]:
    """Return the DOIs and entries of the reference list."""
    listed = [table(reference) for reference in items(references)]
    entries = [
        present(
            {
                "text": text(each.get("unstructured")),
                "title": text(each.get("article-title")) or text(each.get("volume-title")),
                "year": year_within(text(each.get("year"))),
                "doi": text(each.get("DOI")),
                "authors": [author] if (author := text(each.get("author"))) else [],
            }
        )
        for each in listed
    ]
    dois = ("".join(text(each.get("DOI")).split()) for each in listed)
    return {
        "references": list(dict.fromkeys(filter(None, dois))),
        "reference_list": list(filter(None, entries)),
    }
