"""The references of a paper's record: ids under `references`, a bibliography under `reference_list`.

An entry is an object {"text", "title", "year", "doi", "authors"}, of which any may be missing; what is of
another type counts as a reference of which nothing is known.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

REFERENCES, REFERENCE_LIST = "references", "reference_list"
YEAR = re.compile("[12][0-9]{3}")
YEARS = range(1000, 3000)
LONGEST_LABEL = 300  # characters


class Entry(NamedTuple):
    """An entry of a bibliography; what it does not tell is "", 0 or empty."""

    text: str
    title: str
    year: int
    doi: str
    authors: tuple[str, ...]


def reference_ids(record: Mapping[str, Any]) -> list[str]:
    """Return the references that are ids, in their order; DOIs may be among them."""
    return record.get(REFERENCES) or []


def entries(record: Mapping[str, Any]) -> list[Entry]:
    """Return the references that are entries of a bibliography, in their order."""
    listed = record.get(REFERENCE_LIST)
    return [_entry(entry) for entry in listed] if isinstance(listed, list) else []


def labels(record: Mapping[str, Any]) -> list[str]:
    """Name each reference, ids first: by its id, else its title, text or DOI."""
    named = (entry.title or entry.text or entry.doi for entry in entries(record))
    return [*reference_ids(record), *(" ".join(label.split())[:LONGEST_LABEL] for label in named)]


def _entry(entry: Any) -> Entry:
    if not isinstance(entry, dict):
        return Entry(entry if isinstance(entry, str) else "", "", 0, "", ())
    text, title, doi, authors = map(entry.get, ("text", "title", "doi", "authors"))
    named = authors if isinstance(authors, list) else [authors]
    return Entry(
        text.strip() if isinstance(text, str) else "",
        title.strip() if isinstance(title, str) else "",
        _year(entry.get("year")),
        doi.strip() if isinstance(doi, str) else "",
        tuple([author for author in named if isinstance(author, str)]),
    )


def _year(value: Any) -> int:
    if isinstance(value, int):
        return value if value in YEARS else 0
    found = YEAR.search(value) if isinstance(value, str) else None
    return int(found.group()) if found else 0
