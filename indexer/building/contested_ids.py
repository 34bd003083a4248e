"""Passage ids claimed by two papers: paper X has the passages X@en and X#1, which may be ids of other papers.

An id belongs to the first paper: in the base version, otherwise in the corpus. The other paper is a dead
letter.
"""

from collections.abc import Callable, Iterator

import numpy as np

from base.windows import windows
from indexer.building.records import RECORDS_PER_LOOKUP, Record, Tally
from indexer.corpora.readers import DeadLetter
from indexer.corpora.readers.items import dead_letter
from indexer.files.sums import hash_of_text
from indexer.versions.writers import Writer

REASON = "id: a passage of it would have the id of another paper's (X gives X, X@en or X@ko, X#1 …)"


def without_claimed(
    records: Iterator[Record], base: Writer | None, tally: Tally, refuse: Callable[[DeadLetter], None]
) -> Iterator[Record]:
    """Yield the papers whose passages have no id of a passage of an earlier paper, or of one in the base."""
    contested = set(np.intersect1d(np.array(tally.ids), np.array(tally.further)).tolist())
    taken = set[int]()
    for window in windows(records, RECORDS_PER_LOOKUP):
        papers, passages = set[str](), set[str]()
        if base:
            papers = base.held("doc_id", (one for record in window for one in record.passage_ids))
            passages = base.held("passage_id", (record.id for record in window if record.id not in papers))
        for record in window:
            claimed = contested and contested & set(map(hash_of_text, record.passage_ids))
            if (
                record.id in passages
                or not papers.isdisjoint(record.passage_ids[1:])
                or (claimed and not taken.isdisjoint(claimed))
            ):
                refuse(dead_letter(record.origin.file, record.origin.line, REASON, record.origin.head))
            else:
                taken |= claimed or set()
                yield record
