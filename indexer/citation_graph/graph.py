"""The file of a citation graph (SQLite): papers that cite or are cited.

Papers are numbered in the order of their ids, so the file does not depend on the order of the records.
`links` contains the number of the cited paper, or a code of `matching.py`, for each reference of the record
in order; `cited_by` contains the numbers of the citing papers. Both are sequences of little-endian 32-bit
integers.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from base.windows import windows
from indexer.citation_graph.gathering import Gathered
from indexer.citation_graph.matching import AMBIGUOUS, DUPLICATE, ITSELF, Numbers, match_references
from indexer.files.damage import map_damage_errors
from indexer.files.sqlite_files import SQLiteFile, writing_sqlite

SCHEMA = """
    CREATE TABLE papers (number INTEGER PRIMARY KEY, doc_id TEXT, links BLOB, cited_by BLOB);
"""
BY_ID = "CREATE UNIQUE INDEX by_id ON papers (doc_id)"
OUTCOMES = {"duplicates": DUPLICATE, "itself": ITSELF, "ambiguous": AMBIGUOUS}
VALUES_PER_QUERY = 10_000  # values per statement; SQLite's limit is 32,766
NUMBER = np.dtype("<i4")
LINKS = "SELECT doc_id, links, cited_by FROM papers WHERE doc_id IN ({})"
NAMES = "SELECT number, doc_id FROM papers WHERE number IN ({})"
ALL = 1 << 28  # more than any paper has


@dataclass(frozen=True, slots=True)
class CitationCounts:
    """The number of references of a paper, of cited papers in the index, and of citing papers."""

    references: int = 0
    cites: int = 0
    cited_by: int = 0


def write_citations(path: Path, gathered: Gathered) -> dict[str, int]:
    """Match all references, write or replace the graph, and return its counts.

    The counts are those of references, of papers with references, and of each outcome.

    Raises:
        IndexNotWritten: disk full, no permission.
    """
    citing, cited = match_references(gathered)
    with writing_sqlite(path, "citation graph", SCHEMA) as connection:
        connection.executemany("INSERT INTO papers VALUES (?, ?, ?, ?)", _rows(gathered, citing, cited))
        connection.execute(BY_ID)
    return {
        "references": len(cited),
        "citing": len(np.unique(citing)),
        "matched": int(np.count_nonzero(cited >= 0)),
        **{name: int(np.count_nonzero(cited == code)) for name, code in OUTCOMES.items()},
    }


def _rows(gathered: Gathered, citing: Numbers, cited: Numbers) -> Iterator[tuple[int, str, bytes, bytes]]:
    is_edge = cited >= 0
    papers = np.union1d(citing, cited[is_edge]).tolist()
    named = sorted((gathered.texts["doc_ids"][paper], paper) for paper in papers)
    numbers = np.zeros(len(gathered.numbers["hashes"]), np.int64)
    numbers[[paper for _, paper in named]] = np.arange(len(named))
    links = np.where(is_edge, numbers[np.maximum(cited, 0)], cited)
    by_citing = _packed(numbers[citing], links, len(named), np.argsort(numbers[citing], kind="stable"))
    edges = numbers[citing[is_edge]], links[is_edge]
    by_cited = _packed(edges[1], edges[0], len(named), np.lexsort(edges))
    return zip(range(len(named)), (name for name, _ in named), by_citing, by_cited, strict=True)


def _packed(owners: Numbers, values: Numbers, count: int, order: Numbers) -> Iterator[bytes]:
    """Yield the packed values of each of `count` owners; `order` sorts both columns by owner."""
    ends = np.searchsorted(owners[order], np.arange(count + 1)).tolist()
    whole = values[order].astype(NUMBER)
    return (whole[begin:end].tobytes() for begin, end in pairwise(ends))


class CitationGraph(SQLiteFile):
    """The citations among the papers of a version, for many papers per call; close it after use.

    Unknown papers, and papers without citations, have no links.
    """

    def __init__(self, path: Path) -> None:
        """Open the file at `path`.

        Raises:
            FileNotFoundError: the file does not exist.
            IndexDamaged: the file is not a citation graph.
        """
        super().__init__(path, "citation graph", "papers")

    def references(self, doc_ids: Collection[str], limit: int = ALL) -> dict[str, list[str]]:
        """Return at most `limit` papers of the index cited by each paper, in the order of its references."""
        with map_damage_errors(self.path):
            found = {name: [link for link in links if link >= 0] for name, links, _ in self._links(doc_ids)}
            return self._named(doc_ids, found, limit)

    def cited_by(self, doc_ids: Collection[str], limit: int = ALL) -> dict[str, list[str]]:
        """Return at most `limit` papers citing each paper, by id."""
        with map_damage_errors(self.path):
            return self._named(doc_ids, {name: citing for name, _, citing in self._links(doc_ids)}, limit)

    def counts(self, doc_ids: Iterable[str]) -> dict[str, CitationCounts]:
        """Return the counts of each paper."""
        counts = {doc_id: CitationCounts() for doc_id in doc_ids}
        with map_damage_errors(self.path):
            for name, links, citing in self._links(counts):
                cites = sum(link >= 0 for link in links)
                counts[name] = CitationCounts(len(links), cites, len(citing))
        return counts

    def outcomes(self, doc_id: str) -> list[str | int]:
        """Return the outcome of each reference of a paper, in the order of `labels`.

        An outcome is the doc_id of the cited paper, or the code of the reason why there is none.
        """
        with map_damage_errors(self.path):
            links = [link for _, links, _ in self._links([doc_id]) for link in links]
            names = dict(self._rows(NAMES, links))
            return [names[link] if link >= 0 else link for link in links]

    def _links(self, doc_ids: Iterable[str]) -> Iterator[tuple[str, list[int], list[int]]]:
        for doc_id, *packed in self._rows(LINKS, doc_ids):
            links, cited_by = (np.frombuffer(numbers, NUMBER).tolist() for numbers in packed)
            yield doc_id, links, cited_by

    def _named(self, doc_ids: Iterable[str], found: dict[str, list[int]], limit: int) -> dict[str, list[str]]:
        found = {doc_id: found.get(doc_id, [])[:limit] for doc_id in doc_ids}
        names = dict(self._rows(NAMES, (number for numbers in found.values() for number in numbers)))
        return {doc_id: [names[number] for number in numbers] for doc_id, numbers in found.items()}

    def _rows(self, statement: str, values: Iterable[str | int]) -> Iterator[tuple[Any, ...]]:
        for some in windows(dict.fromkeys(values), VALUES_PER_QUERY):
            yield from self.select(statement.format(", ".join("?" * len(some))), *some)
