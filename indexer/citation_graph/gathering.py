"""Data of a corpus for matching references: hashes, years and names, in columns.

A paper takes about 80 bytes plus its id, a reference 8. Hashes are the same in each process, so that the
columns are kept with a version, and an update adds and removes records; a collision is practically impossible
below 10⁹ papers.
"""

from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from indexer.citation_graph.references import entries, reference_ids
from indexer.corpora.normal_forms import SHORTEST_TITLE, normal_title, whole_doi
from indexer.files.parts import Column
from indexer.files.schema import StoredPassage
from indexer.files.sums import hash_of_text

LONGEST_TITLE = 1_000  # compared characters
MOST_AUTHORS, LONGEST_NAMES = 30, 2_000  # characters of all names
AUTHOR_SEPARATOR = "\x1f"
DOI_MARK = "10."  # texts without it are skipped quickly
NONE = 0  # the hash of a missing value


class Texts:
    """Many short texts in one block of memory, by number."""

    def __init__(self) -> None:
        self._bytes, self._ends = bytearray(), array("q", [0])

    def append(self, text: str) -> None:
        """Add a text."""
        self._bytes += text.encode()
        self._ends.append(len(self._bytes))

    def encoded(self, number: int) -> bytes:
        """Return a text in UTF-8."""
        return bytes(self._bytes[self._ends[number] : self._ends[number + 1]])

    def __getitem__(self, number: int) -> str:
        return self.encoded(number).decode()

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __iter__(self) -> Iterator[str]:
        return map(self.__getitem__, range(len(self)))

    def packed(self) -> tuple[Column, Column]:
        """Return the bytes of all texts, and the size of each."""
        return np.frombuffer(bytes(self._bytes), np.uint8), np.diff(np.array(self._ends))

    def extend(self, data: Column, sizes: Column, kept: Column) -> None:
        """Add the texts of `packed` that are kept (a mask)."""
        start = len(self._bytes)
        self._bytes += data[np.repeat(kept, sizes)].tobytes()
        self._ends.extend((np.cumsum(sizes[kept]) + start).tolist())


# The columns by table: typecode, or "" for texts. A column in POINTERS contains places in another table.
TABLES: Mapping[str, Mapping[str, str]] = {
    "records": {
        "keys": "q",
        "hashes": "q",
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


class Gathered:
    """The records of a corpus and all of their references as columns (`TABLES`)."""

    keys: "array[int]"  # hash of the passage_id with the record
    hashes: "array[int]"  # hash of the doc_id
    years: "array[int]"
    doc_ids: Texts
    authors: Texts
    reference_counts: "array[int]"
    doi_keys: "array[int]"
    doi_owners: "array[int]"
    titles: "array[int]"
    title_owners: "array[int]"
    reference_ids: "array[int]"
    cited_dois: "array[int]"
    cited_doi_places: "array[int]"
    cited_titles: "array[int]"
    cited_title_places: "array[int]"
    cited_years: "array[int]"
    cited_authors: Texts

    def __init__(self) -> None:
        """Create empty columns."""
        for columns in TABLES.values():
            for name, code in columns.items():
                setattr(self, name, array(code) if code else Texts())

    def packed(self) -> dict[str, Column]:
        """Return the columns as arrays."""
        arrays: dict[str, Column] = {}
        for columns in TABLES.values():
            for name, code in columns.items():
                column = getattr(self, name)
                if code:
                    arrays[name] = np.array(column, code)
                else:
                    arrays[name], arrays[f"{name} sizes"] = column.packed()
        return arrays

    def extend(self, arrays: Mapping[str, Column], removed: Collection[int] = ()) -> None:
        """Add the records of `packed`, without those of some keys."""
        kept = {"records": ~np.isin(arrays["keys"], list(removed))}
        kept["references"] = np.repeat(kept["records"], arrays["reference_counts"])
        before = {"records": len(self.keys), "references": len(self.reference_ids)}
        places = {table: before[table] + np.cumsum(mask) - 1 for table, mask in kept.items()}
        for table, (pointer, target) in POINTERS.items():
            kept[table] = kept[target][arrays[pointer]]
        for table, columns in TABLES.items():
            pointer, target = POINTERS.get(table, ("", ""))
            for name, code in columns.items():
                if not code:
                    getattr(self, name).extend(arrays[name], arrays[f"{name} sizes"], kept[table])
                    continue
                column = arrays[name][kept[table]]
                column = places[target][column] if name == pointer else column
                getattr(self, name).frombytes(column.astype(code).tobytes())

    def add(self, passage: StoredPassage) -> None:
        """Add the record stored with a passage, if any."""
        if (record := passage.paper) is None:
            return
        owner = len(self.hashes)
        self.doc_ids.append(passage.doc_id)
        self.hashes.append(hash_of_text(passage.doc_id))
        self.keys.append(record_key(passage))
        self.years.append(passage.year or 0)
        self.authors.append(_names(record.get("authors") or ()))
        for title in (passage.title, passage.title2):
            if hashed := _title_hash(title):
                self.titles.append(hashed)
                self.title_owners.append(owner)
        for text in (record.get("doi") or "", passage.doc_id):
            if DOI_MARK in text and (doi := whole_doi(text)):
                self.doi_keys.append(hash_of_text(doi))
                self.doi_owners.append(owner)
        ids, listed = reference_ids(record), entries(record)
        first = len(self.reference_ids)
        for place in [place for place, reference in enumerate(ids) if DOI_MARK in reference]:
            self._add_cited_doi(first + place, ids[place])
        self.reference_ids.extend(map(hash_of_text, ids))
        for place, entry in enumerate(listed, len(self.reference_ids)):
            if entry.doi:
                self._add_cited_doi(place, entry.doi)
            if hashed := _title_hash(entry.title):
                self.cited_titles.append(hashed)
                self.cited_title_places.append(place)
                self.cited_years.append(entry.year)
                self.cited_authors.append(_names(entry.authors))
        self.reference_ids.extend([NONE] * len(listed))
        self.reference_counts.append(len(ids) + len(listed))

    def _add_cited_doi(self, place: int, text: str) -> None:
        if DOI_MARK in text and (doi := whole_doi(text)):
            self.cited_dois.append(hash_of_text(doi))
            self.cited_doi_places.append(place)


def record_key(passage: StoredPassage) -> int:
    """Return the key of the record stored with a passage."""
    return hash_of_text(passage.passage_id)


def _title_hash(title: str) -> int:
    normal = normal_title(title[:LONGEST_TITLE]) if title else ""
    return hash_of_text(normal) if len(normal) >= SHORTEST_TITLE else NONE


def _names(authors: Sequence[str]) -> str:
    return AUTHOR_SEPARATOR.join(authors[:MOST_AUTHORS])[:LONGEST_NAMES]
