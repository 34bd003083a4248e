"""Data of a corpus for matching references: hashes, years and names, in columns.

A paper takes about 70 bytes plus its id, a reference 8. Hashes are specific to this process, except the keys
of DOIs, which are stored; a collision is practically impossible below 10⁹ papers.
"""

from array import array
from collections.abc import Iterator, Mapping
from typing import Any

from indexer.citation_graph.graph import doi_key
from indexer.citation_graph.references import entries, reference_ids
from indexer.corpora.normal_forms import SHORTEST_TITLE, normal_title, whole_doi
from indexer.files.schema import StoredPassage

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


class Gathered:
    """The records of a corpus and all of their references as columns.

    Each group of columns has its own length: one row per record, per DOI or title of a record, per reference,
    and per DOI or title of a reference (with the place of the reference among all).
    """

    def __init__(self) -> None:
        """Create empty columns."""
        self.doc_ids, self.hashes, self.years, self.authors = Texts(), array("q"), array("h"), Texts()
        self.dois, self.doi_keys, self.doi_owners = array("q"), array("q"), array("i")
        self.titles, self.title_owners = array("q"), array("i")
        self.reference_counts, self.reference_ids = array("i"), array("q")
        self.cited_dois, self.cited_doi_places = array("q"), array("q")
        self.cited_titles, self.cited_title_places = array("q"), array("q")
        self.cited_years, self.cited_authors = array("h"), Texts()

    def add(self, passage: StoredPassage, record: Mapping[str, Any] | None) -> None:
        """Add the record stored with a passage, if any: `passage.paper`."""
        if record is None:
            return
        owner = len(self.hashes)
        self.doc_ids.append(passage.doc_id)
        self.hashes.append(hash(passage.doc_id))
        self.years.append(passage.year or 0)
        self.authors.append(_names(record.get("authors") or ()))
        for title in (passage.title, passage.title2):
            if hashed := _title_hash(title):
                self.titles.append(hashed)
                self.title_owners.append(owner)
        for text in (record.get("doi") or "", passage.doc_id):
            if DOI_MARK in text and (doi := whole_doi(text)):
                self.dois.append(hash(doi))
                self.doi_keys.append(doi_key(doi))
                self.doi_owners.append(owner)
        ids, listed = reference_ids(record), entries(record)
        first = len(self.reference_ids)
        for place in [place for place, reference in enumerate(ids) if DOI_MARK in reference]:
            self._add_cited_doi(first + place, ids[place])
        self.reference_ids.extend(map(hash, ids))
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
            self.cited_dois.append(hash(doi))
            self.cited_doi_places.append(place)


def _title_hash(title: str) -> int:
    normal = normal_title(title[:LONGEST_TITLE]) if title else ""
    return hash(normal) if len(normal) >= SHORTEST_TITLE else NONE


def _names(authors: "list[str] | tuple[str, ...]") -> str:
    return AUTHOR_SEPARATOR.join(authors[:MOST_AUTHORS])[:LONGEST_NAMES]
