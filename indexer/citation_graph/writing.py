"""Writing of a citation graph: an SQLite file with rows of papers that cite or are cited, and of DOIs.

Papers are numbered in the order of their ids, so the file does not depend on the order of the records.
`links` contains the number of the cited paper, or a code of `graph.py`, for each reference of the record in
order; `cited_by` contains the numbers of the citing papers. Both are sequences of little-endian 32-bit
integers. `dois` contains the papers of each DOI, by the DOI's key.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from pathlib import Path

import numpy as np

from indexer.citation_graph.gathering import Gathered
from indexer.citation_graph.graph import NUMBER_BYTES
from indexer.citation_graph.matching import PAPER_BITS, Matched, Numbers, match_references
from indexer.files.sqlite_files import writing_sqlite

SCHEMA = """
    CREATE TABLE papers (number INTEGER PRIMARY KEY, doc_id TEXT, links BLOB, cited_by BLOB);
    CREATE TABLE dois (key INTEGER, doc_id TEXT, PRIMARY KEY (key, doc_id)) WITHOUT ROWID;
"""
BY_ID = "CREATE UNIQUE INDEX by_id ON papers (doc_id)"


def write_citations(path: Path, gathered: Gathered) -> dict[str, int]:
    """Match all references, write or replace the graph, and return its counts.

    Raises:
        IndexNotWritten: disk full, no permission.
    """
    matched = match_references(gathered)
    with writing_sqlite(path, "citation graph", SCHEMA) as connection:
        connection.executemany("INSERT INTO papers VALUES (?, ?, ?, ?)", _rows(gathered, matched))
        connection.execute(BY_ID)
        connection.executemany("INSERT INTO dois VALUES (?, ?)", _doi_rows(gathered))
    return matched.counts()


def _rows(gathered: Gathered, matched: Matched) -> Iterator[tuple[int, str, bytes, bytes]]:
    is_edge = matched.cited >= 0
    linked = np.zeros(len(gathered.hashes), bool)
    linked[matched.citing] = linked[matched.cited[is_edge]] = True
    papers = np.flatnonzero(linked)
    names = list(map(gathered.doc_ids.encoded, papers.tolist()))
    order = sorted(range(len(names)), key=names.__getitem__)
    numbers: Numbers = np.zeros(len(gathered.hashes), np.int64)
    numbers[papers[order]] = np.arange(len(order))

    citing = numbers[matched.citing]
    by_citing = np.argsort(citing, kind="stable")
    links = np.where(is_edge, numbers[np.maximum(matched.cited, 0)], matched.cited)[by_citing]
    link_ends = _ends(citing, len(order))
    edges_from, edges_to = citing[is_edge], numbers[matched.cited[is_edge]]
    cited_by = np.sort(edges_to << PAPER_BITS | edges_from) & ((1 << PAPER_BITS) - 1)
    cited_ends = _ends(edges_to, len(order))
    ids = (names[place].decode() for place in order)
    return zip(range(len(order)), ids, _packed(links, link_ends), _packed(cited_by, cited_ends), strict=True)


def _doi_rows(gathered: Gathered) -> Iterator[tuple[int, str]]:
    """Yield each DOI's key with the ids of its papers, in order."""
    keys, owners = gathered.doi_keys, gathered.doi_owners
    order = np.argsort(np.array(keys, np.int64), kind="stable").tolist()
    for key, places in groupby(order, key=keys.__getitem__):
        for doc_id in sorted({gathered.doc_ids[owners[place]] for place in places}):
            yield key, doc_id


def _packed(numbers: Numbers, ends: Sequence[int]) -> Iterator[bytes]:
    """Yield the packed numbers of each owner."""
    whole = numbers.astype("<i4").tobytes()
    for begin, end in pairwise(ends):
        yield whole[NUMBER_BYTES * begin : NUMBER_BYTES * end]


def _ends(owners: Numbers, count: int) -> list[int]:
    """Return 0 and the end of the values of each of `count` owners in a column sorted by owner."""
    ends: list[int] = np.cumsum(np.bincount(owners + 1, minlength=count + 1)).tolist()
    return ends
