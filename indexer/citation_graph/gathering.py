"""References in the records of a corpus, as columns for matching.

A record has references as ids in `references`, and as a bibliography in `reference_list`. An entry of it is
an object {"text", "title", "year", "doi", "authors"}; all keys are optional. A value of another type counts
as a reference without data.

A paper takes about 80 bytes plus its id, a reference 8. Hashes are the same in each process, so that the
columns are kept with a version, and an update adds and removes records; a collision is practically impossible
below 10⁹ papers.
"""

import re
from array import array
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from indexer.corpora.normal_forms import SHORTEST_TITLE, normal_title, whole_doi
from indexer.files.parts import Column
from indexer.files.schema import StoredPassage
from indexer.files.sums import hash_of_text

YEAR = re.compile("[12][0-9]{3}")
LONGEST_LABEL, LONGEST_TITLE, LONGEST_NAMES = 300, 1_000, 2_000  # characters
MOST_AUTHORS = 30
AUTHOR_SEPARATOR = "\x1f"
NONE = 0  # the hash of a missing value

# The columns by table: typecode, or "" for texts. A column in POINTERS contains places in another table.
TABLES: Mapping[str, Mapping[str, str]] = {
    "records": {
        "keys": "q",  # hash of the passage_id with the record
        "hashes": "q",  # hash of the doc_id
        "years": "h",
        "doc_ids": "",
        "authors": "",
        "reference_counts": "i",
    },
    "dois": {"doi_keys": "q", "doi_owners": "i"},
    "titles": {"titles": "q", "title_owners": "i"},
    "references": {"reference_ids": "q"},
    "cited dois": {"cited_dois": "q", "cited_doi_places": "q"},
    "cited titles": {"cited_titles": "q", "cited_title_places": "q", "cited_years": "h", "cited_authors": ""},
}
POINTERS = {
    "dois": ("doi_owners", "records"),
    "titles": ("title_owners", "records"),
    "cited dois": ("cited_doi_places", "references"),
    "cited titles": ("cited_title_places", "references"),
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


class Texts:
    """Many short texts in one block of memory, by number."""

    def __init__(self) -> None:
        self._bytes, self._ends = bytearray(), array("q", [0])

    def append(self, text: str) -> None:
        """Add a text."""
        self._bytes += text.encode()
        self._ends.append(len(self._bytes))

    def __getitem__(self, number: int) -> str:
        return self._bytes[self._ends[number] : self._ends[number + 1]].decode()

    def packed(self) -> tuple[Column, Column]:
        """Return the bytes of all texts, and the size of each."""
        return np.frombuffer(bytes(self._bytes), np.uint8), np.diff(np.array(self._ends))

    def extend(self, data: Column, sizes: Column, kept: Column) -> None:
        """Add the texts of `packed` that are kept (a mask)."""
        start = len(self._bytes)
        self._bytes += data[np.repeat(kept, sizes)].tobytes()
        self._ends.extend((np.cumsum(sizes[kept]) + start).tolist())


class Gathered:
    """The records of a corpus and all of their references as columns (`TABLES`)."""

    def __init__(self) -> None:
        """Create empty columns."""
        columns = [column for table in TABLES.values() for column in table.items()]
        self.numbers = {name: array(code) for name, code in columns if code}
        self.texts = {name: Texts() for name, code in columns if not code}

    def column(self, name: str) -> Column:
        """Return a column of numbers as 64-bit integers."""
        return np.array(self.numbers[name], np.int64)

    def packed(self) -> dict[str, Column]:
        """Return the columns as arrays."""
        arrays = {name: np.array(numbers, numbers.typecode) for name, numbers in self.numbers.items()}
        for name, texts in self.texts.items():
            arrays[name], arrays[f"{name} sizes"] = texts.packed()
        return arrays

    def extend(self, arrays: Mapping[str, Column], removed: Collection[int] = ()) -> None:
        """Add the records of `packed`, without those of some keys."""
        kept = {"records": ~np.isin(arrays["keys"], list(removed))}
        kept["references"] = np.repeat(kept["records"], arrays["reference_counts"])
        before = {"records": len(self.numbers["keys"]), "references": len(self.numbers["reference_ids"])}
        places = {table: before[table] + np.cumsum(mask) - 1 for table, mask in kept.items()}
        for table, columns in TABLES.items():
            pointer, target = POINTERS.get(table, ("", table))
            mask = kept[target][arrays[pointer]] if pointer else kept[table]
            for name, code in columns.items():
                if not code:
                    self.texts[name].extend(arrays[name], arrays[f"{name} sizes"], mask)
                    continue
                column = arrays[name][mask]
                column = places[target][column] if name == pointer else column
                self.numbers[name].frombytes(column.astype(code).tobytes())

    def add(self, passage: StoredPassage) -> None:
        """Add the record stored with a passage, if any."""
        if (record := passage.paper) is None:
            return
        owner, ids, listed = len(self.numbers["keys"]), reference_ids(record), entries(record)
        self._append(
            keys=record_key(passage),
            hashes=hash_of_text(passage.doc_id),
            years=passage.year or 0,
            reference_counts=len(ids) + len(listed),
        )
        self.texts["doc_ids"].append(passage.doc_id)
        self.texts["authors"].append(_names(record.get("authors") or ()))
        for title in (passage.title, passage.title2):
            if hashed := _title_hash(title):
                self._append(titles=hashed, title_owners=owner)
        for text in (record.get("doi") or "", passage.doc_id):
            if hashed := _doi_hash(text):
                self._append(doi_keys=hashed, doi_owners=owner)
        first = len(self.numbers["reference_ids"])
        self.numbers["reference_ids"].extend([*map(hash_of_text, ids), *[NONE] * len(listed)])
        for place, text in enumerate([*ids, *(entry.doi for entry in listed)], first):
            if hashed := _doi_hash(text):
                self._append(cited_dois=hashed, cited_doi_places=place)
        for place, entry in enumerate(listed, first + len(ids)):
            if hashed := _title_hash(entry.title):
                self._append(cited_titles=hashed, cited_title_places=place, cited_years=entry.year)
                self.texts["cited_authors"].append(_names(entry.authors))

    def _append(self, **values: int) -> None:
        for name, value in values.items():
            self.numbers[name].append(value)


def record_key(passage: StoredPassage) -> int:
    """Return the key of the record stored with a passage."""
    return hash_of_text(passage.passage_id)


def _doi_hash(text: str) -> int:
    return hash_of_text(doi) if "10." in text and (doi := whole_doi(text)) else NONE


def _title_hash(title: str) -> int:
    normal = normal_title(title[:LONGEST_TITLE])
    return hash_of_text(normal) if len(normal) >= SHORTEST_TITLE else NONE


def _names(authors: Sequence[str]) -> str:
    return AUTHOR_SEPARATOR.join(authors[:MOST_AUTHORS])[:LONGEST_NAMES]
