"""Records of a corpus in a build: numbered, bounded, split into passages, counted; dead letters."""

from array import array
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NamedTuple, Self, TextIO

import numpy as np

from base.terminal.output import json_text
from base.windows import windows
from indexer.building.file_records import FileRecords
from indexer.building.plan import BuildPlan
from indexer.corpora.chunking import cut_text
from indexer.corpora.papers import Origin, Paper, Unit
from indexer.corpora.readers import DeadLetter
from indexer.corpora.readers.items import dead_letter
from indexer.files.schema import StoredPassage
from indexer.files.stored import key_field, stored_passages
from indexer.versions.writers import Writer

SHOWN = 10
RECORDS_PER_LOOKUP = 100
MOST_BYTES = 16_000_000  # size limit of the file


class DeadLetterFile:
    """A file of dead letters, one JSON object per line; created with the first one.

    `first` contains the first ten, `count` is their total number, `written` the number in the file. If the
    file reached its size limit, its last line says how many more there were.
    """

    def __init__(self, path: Path) -> None:
        """Create a new file at `path`, replacing an old one."""
        path.unlink(missing_ok=True)
        self.first: list[DeadLetter] = []
        self.count = self.written = 0
        self._room = MOST_BYTES
        self._path = path
        self._file: TextIO | None = None

    def __enter__(self) -> Self:
        """Return the file."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        if self._file is not None:
            if more := self.count - self.written:
                self._file.write(_as_line(DeadLetter("", 0, f"{more:,} more are not listed here", "")))
            self._file.close()
            self._file = None

    def add(self, letter: DeadLetter) -> None:
        """Write a dead letter."""
        if self._file is None:
            self._file = self._path.open("a", encoding="utf-8")
        line = _as_line(letter)
        self.count += 1
        self._room -= len(line.encode())
        if self._room >= 0:
            self._file.write(line)
            self.written += 1
        if len(self.first) < SHOWN:
            self.first.append(letter)


def _as_line(letter: DeadLetter) -> str:
    return json_text(asdict(letter)) + "\n"


# The counts of a manifest, in order.
COUNTED = ("records", "replaced", "duplicates", "incomplete", "cut", "dead_letters")
BOUNDED_TEXTS = ("title", "title2", "abstract", "abstract2", "body")


class Record(NamedTuple):
    """A record of a corpus with its number, its place among the valid records."""

    number: int
    id: str
    passages: list[StoredPassage]
    origin: Origin
    cut: bool


@dataclass(slots=True)
class Tally:
    """Counts of a corpus during reading."""

    counts: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(COUNTED, 0)))
    ids: "array[int]" = field(default_factory=lambda: array("q"))  # hashes of ids by record number
    derived: "array[int]" = field(
        default_factory=lambda: array("q")
    )  # hashes of further passage ids of papers,
    owners: "array[int]" = field(default_factory=lambda: array("q"))  # and their record numbers
    refused: set[int] = field(default_factory=set)  # numbers of records in conflict with the base
    files: FileRecords = field(default_factory=lambda: FileRecords({}))


def read_records(
    plan: BuildPlan, tally: Tally, refuse: Callable[[DeadLetter], None], progress: Callable[[int, int], None]
) -> Generator[tuple[int, Paper], None, None]:
    """Yield the numbered papers of the corpus, without those excluded by the plan."""
    for item in plan.corpus:
        progress(plan.corpus.bytes_read, plan.corpus.total_bytes)
        if isinstance(item, DeadLetter):
            refuse(item)
            continue
        number = len(tally.ids)
        tally.ids.append(hash(item.id))
        place = tally.files.add(item.origin.file, item.id)
        if number in plan.superfluous or plan.skipped.has_later(item.id, place):
            tally.counts["duplicates"] += 1
        elif number in plan.contested:
            refuse(contested_id(item.origin))
        else:
            yield number, item


def contested_id(origin: Origin) -> DeadLetter:
    """Make the dead letter of a paper with a passage id of another paper."""
    reason = "id: a passage of it would have the id of another paper's (X gives X, X@en or X@ko, X#1 …)"
    return dead_letter(origin.file, origin.line, reason, origin.head)


def prepare_passages(records: Iterable[tuple[int, Paper]], plan: BuildPlan) -> Iterator[Record]:
    """Yield each paper's passages, with bounded texts."""
    for number, paper in records:
        bounded = _bounded(paper)
        passages = stored_passages(bounded, plan.corpus.unit)
        yield Record(number, paper.id, passages, paper.origin, bounded is not paper)


def changed_records(records: Iterator[Record], base: Writer, unit: Unit, tally: Tally) -> Iterator[Record]:
    """Yield records that differ from the base, or are not in it; count the others."""
    for window in windows(records, RECORDS_PER_LOOKUP):
        stored = base.stored_records(key_field(unit), [record.id for record in window])
        for record in window:
            if stored.get(record.id) == record.passages:
                tally.counts["unchanged"] += 1
            else:
                yield record


def counted_records(records: Iterable[Record], tally: Tally) -> Iterator[Record]:
    """Count the indexed records, and collect the ids of their passages."""
    for record in records:
        tally.counts["records"] += 1
        tally.counts["cut"] += record.cut
        tally.counts["incomplete"] += record.passages[0].incomplete
        for passage in record.passages[1:]:
            tally.derived.append(hash(passage.passage_id))
            tally.owners.append(record.number)
        yield record


def _bounded(paper: Paper) -> Paper:
    """Return the paper with bounded texts; unchanged if none was too long."""
    cut = {}
    for name in BOUNDED_TEXTS:
        text, shortened = cut_text(getattr(paper, name))
        if shortened:
            cut[name] = text
    return paper.model_copy(update=cut) if cut else paper


def replaced_by_later(hashes: "array[int]") -> list[int]:
    """Return the indices of all values that occur again later."""
    if not hashes:
        return []
    values = np.frombuffer(hashes, dtype=np.int64)
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    repeated: list[int] = np.sort(order[:-1][ordered[:-1] == ordered[1:]]).tolist()
    return repeated
