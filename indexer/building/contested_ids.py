"""Passage ids claimed by two papers: paper X has the passages X@en and X#1, which may be ids of other papers.

An id belongs to the first paper: in the base version, otherwise in the corpus. The other paper is a dead
letter. Within a corpus the build detects conflicts at its end, and starts over without such papers.
"""

from collections.abc import Callable, Collection, Iterator

import numpy as np

from base.windows import windows
from indexer.building.records import RECORDS_PER_LOOKUP, Record, Tally, contested_id
from indexer.corpora.readers import DeadLetter
from indexer.versions.writers import Writer


def without_claimed(
    records: Iterator[Record], base: Writer, tally: Tally, refuse: Callable[[DeadLetter], None]
) -> Iterator[Record]:
    """Yield the papers whose passages have no id of another paper's passage in the base."""
    for window in windows(records, RECORDS_PER_LOOKUP):
        papers = base.held("doc_id", (passage.passage_id for record in window for passage in record.passages))
        passages = base.held("passage_id", (record.id for record in window if record.id not in papers))
        for record in window:
            derived = (passage.passage_id for passage in record.passages[1:])
            if record.id in passages or not papers.isdisjoint(derived):
                tally.refused.add(record.number)
                refuse(contested_id(record.origin))
            else:
                yield record


def contested(tally: Tally, left_out: Collection[int]) -> frozenset[int]:
    """Return the numbers of records that claim a passage id of an earlier remaining record."""
    own, derived = np.frombuffer(tally.ids, np.int64), np.frombuffer(tally.derived, np.int64)
    shared = np.intersect1d(own, derived)
    if not shared.size:
        return frozenset()
    claims: dict[int, set[int]] = {}
    for hashes, numbers in ((own, range(len(own))), (derived, tally.owners)):
        for place in np.flatnonzero(np.isin(hashes, shared)):
            claims.setdefault(numbers[place], set()).add(int(hashes[place]))
    refused, taken = set(), set[int]()
    for number in sorted(claims.keys() - set(left_out)):
        if taken.isdisjoint(claims[number]):
            taken |= claims[number]
        else:
            refused.add(number)
    return frozenset(refused)
