"""What is kept of the records of a corpus until their references can be matched: hashes, years, names.

A paper takes about 60 bytes and its id, a reference 8. Hashes are of this process; that two of them are equal
by chance is out of the question below 10⁹ papers.
"""

from array import array
from collections.abc import Iterator

from indexer.citation_graph.references import REFERENCE_LIST, REFERENCES, doi_in, entries, reference_ids
from indexer.normal_forms import SHORTEST_TITLE, normal_title
from indexer.schema import StoredPassage

LONGEST_TITLE = 1_000  # characters that are compared
MOST_AUTHORS, LONGEST_NAME = 30, 100
AUTHOR_SEPARATOR = "\x1f"
# Of records without any of these no more than id, title and year is needed.
TELLING_KEYS = tuple(f'"{key}":' for key in (REFERENCES, REFERENCE_LIST, "doi", "authors"))
NONE = 0  # the hash of what is not told


class Texts:
    """Many short texts in one piece of memory, found by number."""

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
    """The records of a corpus as columns, and the references of all of them one after the other.

    `described` are the references of which more than an id is known; their columns run beside it.
    """

    def __init__(self) -> None:
        """Begin with no record."""
        self.doc_ids, self.hashes, self.years, self.authors = Texts(), array("q"), array("h"), Texts()
        self.dois, self.doi_owners = array("q"), array("i")
        self.titles, self.title_owners = array("q"), array("i")
        self.reference_counts, self.reference_ids = array("i"), array("q")
        self.described, self.described_dois, self.described_titles = array("q"), array("q"), array("q")
        self.described_years, self.described_authors = array("h"), Texts()

    def add(self, passage: StoredPassage) -> None:
        """Add the record that a passage carries, if it carries one."""
        if not passage.record:
            return
        telling = any(key in passage.record for key in TELLING_KEYS)
        record = (passage.paper or {}) if telling else {}
        owner = len(self.hashes)
        self.doc_ids.append(passage.doc_id)
        self.hashes.append(hash(passage.doc_id))
        self.years.append(passage.year or 0)
        self.authors.append(_names(record.get("authors") or ()))
        for title in (passage.title, passage.title2):
            if hashed := _title_hash(title):
                self.titles.append(hashed)
                self.title_owners.append(owner)
        for doi in {doi_in(record.get("doi") or ""), doi_in(passage.doc_id)} - {""}:
            self.dois.append(hash(doi))
            self.doi_owners.append(owner)
        before = len(self.reference_ids)
        for reference in reference_ids(record):
            if doi := doi_in(reference):
                self._describe(doi, "", 0, ())
            self.reference_ids.append(hash(reference))
        for entry in entries(record):
            self._describe(doi_in(entry.doi), entry.title, entry.year, entry.authors)
            self.reference_ids.append(NONE)
        self.reference_counts.append(len(self.reference_ids) - before)

    def _describe(self, doi: str, title: str, year: int, authors: tuple[str, ...]) -> None:
        """Note what is known of the reference that is added next."""
        self.described.append(len(self.reference_ids))
        self.described_dois.append(hash(doi))
        self.described_titles.append(_title_hash(title))
        self.described_years.append(year)
        self.described_authors.append(_names(authors))


def _title_hash(title: str) -> int:
    normal = normal_title(title[:LONGEST_TITLE]) if title else ""
    return hash(normal) if len(normal) >= SHORTEST_TITLE else NONE


def _names(authors: "list[str] | tuple[str, ...]") -> str:
    return AUTHOR_SEPARATOR.join(author[:LONGEST_NAME] for author in authors[:MOST_AUTHORS])
