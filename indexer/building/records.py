"""The records of a corpus as they are read: numbered, bounded, made into passages, and counted."""

from array import array
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from indexer.building.plan import BuildPlan
from indexer.chunking import cut_text
from indexer.papers import Paper
from indexer.readers import DeadLetter
from indexer.schema import StoredPassage
from indexer.stored import stored_passages

# What a manifest counts, and in which order it says so.
COUNTED = ("records", "replaced", "duplicates", "incomplete", "cut", "dead_letters")
BOUNDED_TEXTS = ("title", "title2", "abstract", "abstract2", "body")


class Record(NamedTuple):
    """A record of a corpus with its number, its place among those that could be read."""

    number: int
    id: str
    passages: list[StoredPassage]


@dataclass(slots=True)
class Tally:
    """What was met in a corpus as far as it is read."""

    counts: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(COUNTED, 0)))
    ids: "array[int]" = field(default_factory=lambda: array("q"))  # hashes, by the record's number


def read_records(
    plan: BuildPlan, tally: Tally, refuse: Callable[[DeadLetter], None], progress: Callable[[int, int], None]
) -> Generator[tuple[int, Paper], None, None]:
    """Yield the papers of the corpus with their numbers, without those that later ones replace."""
    for item in plan.corpus:
        progress(plan.corpus.bytes_read, plan.corpus.total_bytes)
        if isinstance(item, DeadLetter):
            refuse(item)
            continue
        number = len(tally.ids)
        tally.ids.append(hash(item.id))
        if number in plan.superfluous:
            tally.counts["duplicates"] += 1
        else:
            tally.counts["records"] += 1
            yield number, item


def prepare_passages(records: Iterator[tuple[int, Paper]], plan: BuildPlan, tally: Tally) -> Iterator[Record]:
    """Yield each paper's passages, its texts bounded."""
    for number, paper in records:
        bounded = _bounded(paper)
        tally.counts["cut"] += bounded is not paper
        passages = stored_passages(bounded, plan.corpus.unit)
        tally.counts["incomplete"] += passages[0].incomplete
        yield Record(number, paper.id, passages)


def _bounded(paper: Paper) -> Paper:
    """Return the paper with each text bounded; the same where none was too long."""
    cut = {}
    for name in BOUNDED_TEXTS:
        text, shortened = cut_text(getattr(paper, name))
        if shortened:
            cut[name] = text
    return paper.model_copy(update=cut) if cut else paper


def replaced_by_later(hashes: "array[int]") -> list[int]:
    """Return the indices of all values that stand again further on."""
    if not hashes:
        return []
    values = np.frombuffer(hashes, dtype=np.int64)
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    repeated: list[int] = np.sort(order[:-1][ordered[:-1] == ordered[1:]]).tolist()
    return repeated
