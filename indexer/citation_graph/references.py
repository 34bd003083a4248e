"""References in a paper's record: ids in `references`, a bibliography in `reference_list`.

An entry is an object {"text", "title", "year", "doi", "authors"}; all keys are optional. A value of another
type counts as a reference without data.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

REFERENCES, REFERENCE_LIST = "references", "reference_list"
YEAR = re.compile("[12][0-9]{3}")
YEARS = range(1000, 3000)
LONGEST_LABEL = 300  # characters


class Entry(NamedTuple):
    """An entry of a bibliography; missing values are "", 0 or empty."""

    text: str
    title: str
    year: int
    doi: str
    authors: tuple[str, ...]


def reference_ids(record: Mapping[str, Any]) -> list[str]:
    """Return the references given as ids, in order; DOIs may be among them."""
    return record.get(REFERENCES) or []


def entries(record: Mapping[str, Any]) -> list[Entry]:
    """Return the references given as bibliography entries, in order."""
    listed = record.get(REFERENCE_LIST)
    return [_entry(entry) for entry in listed] if isinstance(listed, list) else []


def labels(record: Mapping[str, Any]) -> list[str]:
    """Return a label of each reference, ids first: its id, otherwise its title, text or DOI."""
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
