"""References in the records of a corpus, as columns for matching.

A record has references as ids in `references`, and as a bibliography in `reference_list`. An entry of it is
an object {"text", "title", "year", "doi", "authors"}; all keys are optional. A value of another type counts
as a reference without data.

Hashes are the same in each process, so that the columns are kept with a version, and an update adds and
removes records; a collision is practically impossible below 10⁹ papers.
"""

import re
from array import array
from collections.abc import Collection, Mapping, Sequence
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from indexer.corpora.normal_forms import SHORTEST_TITLE, normal_title, whole_doi
from indexer.files.parts import Column
from indexer.files.schema import StoredPassage
from indexer.files.sums import hash_of_text

YEAR = re.compile("[12][0-9]{3}")
LONGEST_LABEL, LONGEST_TITLE, LONGEST_NAMES = 300, 1_000, 2_000  # characters
MOST_AUTHORS = 30
AUTHOR_SEPARATOR, TEXT_END = "\x1f", "\x1e"
NONE = 0  # the hash of a missing value

# The columns: typecode, or "" for texts. References are in the order of their records.
RECORDS = {
    "keys": "q",  # hash of the passage_id with the record
    "hashes": "q",  # hash of the doc_id
    "years": "h",
    "reference_counts": "i",
    "dois": "q",
    "id_dois": "q",  # of a doc_id that is a DOI
    "titles": "q",
    "titles2": "q",
    "doc_ids": "",
    "authors": "",
}
REFERENCES = {
    "cited_ids": "q",
    "cited_dois": "q",
    "cited_titles": "q",
    "cited_years": "h",
    "cited_authors": "",
}


class Entry(NamedTuple):
    """An entry of a bibliography; missing values are "", 0 or empty."""

    text: str
    title: str
    year: int
    doi: str
    authors: list[str]


def reference_ids(record: Mapping[str, Any]) -> list[str]:
    """Return the references given as ids, in order; DOIs may be among them."""
    return record.get("references") or []


def entries(record: Mapping[str, Any]) -> list[Entry]:
    """Return the references given as bibliography entries, in order."""
    listed = record.get("reference_list")
    return [_entry(entry) for entry in listed] if isinstance(listed, list) else []


def labels(record: Mapping[str, Any]) -> list[str]:
    """Return a label of each reference, ids first: its id, otherwise its title, text or DOI."""
    named = (entry.title or entry.text or entry.doi for entry in entries(record))
    return [*reference_ids(record), *(" ".join(label.split())[:LONGEST_LABEL] for label in named)]


def _entry(entry: Any) -> Entry:
    given = entry if isinstance(entry, dict) else {"text": entry}
    text, title, doi = (
        value.strip() if isinstance(value := given.get(key), str) else "" for key in ("text", "title", "doi")
    )
    year, authors = YEAR.search(str(given.get("year"))), given.get("authors")
    named = authors if isinstance(authors, list) else [authors]
    return Entry(
        text, title, int(year[0]) if year else 0, doi, [name for name in named if isinstance(name, str)]
    )


class Gathered:
    """The records of a corpus and all of their references as columns."""

    def __init__(self) -> None:
        """Create empty columns."""
        columns = RECORDS | REFERENCES
        self.numbers = {name: array(code) for name, code in columns.items() if code}
        self.texts: dict[str, list[str]] = {name: [] for name, code in columns.items() if not code}

    def column(self, name: str) -> Column:
        """Return a column of numbers as 64-bit integers."""
        return np.array(self.numbers[name], np.int64)

    def packed(self) -> dict[str, Column]:
        """Return the columns as arrays."""
        arrays = {name: np.array(numbers, numbers.typecode) for name, numbers in self.numbers.items()}
        for name, texts in self.texts.items():
            arrays[name] = np.frombuffer("".join(f"{text}{TEXT_END}" for text in texts).encode(), np.uint8)
        return arrays

    def extend(self, arrays: Mapping[str, Column], removed: Collection[int] = ()) -> None:
        """Add the records of `packed`, without those of some keys."""
        kept = ~np.isin(arrays["keys"], list(removed))
        for columns, mask in ((RECORDS, kept), (REFERENCES, np.repeat(kept, arrays["reference_counts"]))):
            for name, code in columns.items():
                if code:
                    self.numbers[name].frombytes(arrays[name][mask].tobytes())
                else:
                    texts = arrays[name].tobytes().decode().split(TEXT_END)[:-1]
                    self.texts[name].extend(compress(texts, mask))

    def add(self, passage: StoredPassage) -> None:
        """Add the record stored with a passage, if any."""
        if (record := passage.paper) is None:
            return
        ids, listed = reference_ids(record), entries(record)
        self._append(
            keys=record_key(passage),
            hashes=hash_of_text(passage.doc_id),
            years=passage.year or 0,
            reference_counts=len(ids) + len(listed),
            dois=_doi_hash(record.get("doi") or ""),
            id_dois=_doi_hash(passage.doc_id),
            titles=_title_hash(passage.title),
            titles2=_title_hash(passage.title2),
            doc_ids=passage.doc_id,
            authors=_names(record.get("authors") or ()),
        )
        for cited in ids:
            self._append_reference(hash_of_text(cited), Entry("", "", 0, cited, []))
        for entry in listed:
            self._append_reference(NONE, entry)

    def _append_reference(self, cited_id: int, entry: Entry) -> None:
        title = _title_hash(entry.title)
        self._append(
            cited_ids=cited_id,
            cited_dois=_doi_hash(entry.doi),
            cited_titles=title,
            cited_years=entry.year,
            cited_authors=_names(entry.authors) if title else "",
        )

    def _append(self, **values: int | str) -> None:
        for name, value in values.items():
            column: Any = self.texts[name] if isinstance(value, str) else self.numbers[name]
            column.append(value)


def record_key(passage: StoredPassage) -> int:
    """Return the key of the record stored with a passage."""
    return hash_of_text(passage.passage_id)


def _doi_hash(text: str) -> int:
    return hash_of_text(doi) if "10." in text and (doi := whole_doi(text)) else NONE


def _title_hash(title: str) -> int:
    normal = normal_title(title[:LONGEST_TITLE])
    return hash_of_text(normal) if len(normal) >= SHORTEST_TITLE else NONE


def _names(authors: Sequence[str]) -> str:
    return AUTHOR_SEPARATOR.join(authors[:MOST_AUTHORS])[:LONGEST_NAMES].replace(TEXT_END, " ")
