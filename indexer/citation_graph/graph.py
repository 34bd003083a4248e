"""Reading of a citation graph; `writing.py` documents the file."""

import sys
from array import array
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from base.windows import windows
from indexer.files.damage import map_damage_errors
from indexer.files.sqlite_files import SQLiteFile
from indexer.files.sums import hash_of_text

VALUES_PER_QUERY = 10_000  # values per statement; SQLite's limit is 32,766
NUMBER_BYTES = 4
LINKS = "SELECT doc_id, links FROM papers WHERE doc_id IN ({})"
CITED_BY = "SELECT doc_id, substr(cited_by, 1, ?) FROM papers WHERE doc_id IN ({})"
COUNTED = "SELECT doc_id, links, length(cited_by) FROM papers WHERE doc_id IN ({})"
BY_DOI = "SELECT doc_id FROM dois WHERE key = ? ORDER BY doc_id"
NAMES = "SELECT number, doc_id FROM papers WHERE number IN ({})"
ALL = 1 << 28  # more than any paper has; its size in bytes fits 32 bits
# Codes instead of a paper's number: no paper, a paper cited before by the same record, itself, several.
UNMATCHED, DUPLICATE, ITSELF, AMBIGUOUS = -1, -2, -3, -4


@dataclass(frozen=True, slots=True)
class CitationCounts:
    """The number of references of a paper, of cited papers in the index, and of citing papers."""

    references: int = 0
    cites: int = 0
    cited_by: int = 0


class CitationGraph:
    """The citations among the papers of a version, for many papers per call; close it after use.

    Unknown papers, and papers without citations, have no links.
    """

    def __init__(self, file: SQLiteFile) -> None:
        self._file = file

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the file at `path`.

        Raises:
            FileNotFoundError: the file does not exist.
            IndexDamaged: the file is not a citation graph.
        """
        return cls(SQLiteFile(path, "citation graph", table="papers"))

    def references(self, doc_ids: Collection[str], limit: int = ALL) -> dict[str, list[str]]:
        """Return at most `limit` papers of the index cited by each paper, in the order of its references."""
        with map_damage_errors(self._file.path):
            found = {
                doc_id: [number for number in _numbers(links) if number >= 0][:limit]
                for doc_id, links in self._rows(LINKS, doc_ids)
            }
            return self._named(doc_ids, found)

    def cited_by(self, doc_ids: Collection[str], limit: int = ALL) -> dict[str, list[str]]:
        """Return at most `limit` papers citing each paper, by id."""
        with map_damage_errors(self._file.path):
            rows = self._rows(CITED_BY, doc_ids, limit * NUMBER_BYTES)
            return self._named(doc_ids, {doc_id: _numbers(cited_by) for doc_id, cited_by in rows})

    def counts(self, doc_ids: Iterable[str]) -> dict[str, CitationCounts]:
        """Return the counts of each paper."""
        with map_damage_errors(self._file.path):
            counts = {doc_id: CitationCounts() for doc_id in doc_ids}
            for doc_id, links, cited_by in self._rows(COUNTED, counts):
                numbers = _numbers(links)
                cites = sum(number >= 0 for number in numbers)
                counts[doc_id] = CitationCounts(len(numbers), cites, cited_by // NUMBER_BYTES)
            return counts

    def outcomes(self, doc_id: str) -> list[str | int]:
        """Return the outcome of each reference of a paper, in the order of `references.labels`.

        An outcome is the doc_id of the cited paper, or the code of the reason why there is none.
        """
        with map_damage_errors(self._file.path):
            numbers = [number for _, links in self._rows(LINKS, [doc_id]) for number in _numbers(links)]
            names = self._names({number for number in numbers if number >= 0})
            return [names[number] if number >= 0 else number for number in numbers]

    def papers_of_doi(self, doi: str) -> list[str]:
        """Return the papers whose record or id has a DOI, by id.

        `doi` is in the form of `whole_doi`. The list may contain a paper of another DOI with the same key.
        """
        with map_damage_errors(self._file.path):
            return [doc_id for (doc_id,) in self._file.select(BY_DOI, hash_of_text(doi))]

    def close(self) -> None:
        """Close the file; later calls raise IndexClosed."""
        self._file.close()

    def _named(self, doc_ids: Collection[str], found: dict[str, Any]) -> dict[str, list[str]]:
        names = self._names({number for numbers in found.values() for number in numbers})
        return {doc_id: [names[number] for number in found.get(doc_id, ())] for doc_id in doc_ids}

    def _names(self, numbers: set[int]) -> dict[int, str]:
        return dict(self._rows(NAMES, sorted(numbers)))

    def _rows(self, statement: str, values: Iterable[str | int], *before: int) -> Iterator[tuple[Any, ...]]:
        for some in windows(dict.fromkeys(values), VALUES_PER_QUERY):
            marks = ", ".join("?" * len(some))
            yield from self._file.select(statement.format(marks), *before, *some)


def _numbers(packed: bytes | None) -> "array[int]":
    numbers = array("i")
    numbers.frombytes(packed or b"")  # substr of an empty value is NULL
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
