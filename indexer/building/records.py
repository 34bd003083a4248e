"""Records of a corpus in a build: bounded, split into passages, counted; dead letters."""

from array import array
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NamedTuple, Self, TextIO

import numpy as np

from base.terminal.output import json_text
from base.windows import windows
from indexer.building.file_records import FileRecords
from indexer.building.plan import BuildPlan
from indexer.building.record_spool import RecordHead, Spooled, passages_in
from indexer.corpora.chunking import cut_text
from indexer.corpora.papers import Origin, Paper, Unit
from indexer.corpora.readers import DeadLetter
from indexer.files.schema import StoredPassage
from indexer.files.stored import key_field, stored_passages
from indexer.files.sums import hash_of_text
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
    """A record to write: its number among the valid records of the corpus, and what it replaces."""

    number: int
    head: RecordHead
    body: str
    replaced: Sequence[StoredPassage] = ()  # of the base version, with their rows

    @property
    def id(self) -> str:
        """The id of the record."""
        return self.head.id

    @property
    def origin(self) -> Origin:
        """The source of the record."""
        return self.head.origin

    @property
    def passage_ids(self) -> list[str]:
        """The ids of its passages."""
        return [self.head.id, *self.head.further]

    @property
    def passages(self) -> list[StoredPassage]:
        """Its passages, read at each call."""
        return passages_in(self.body)


@dataclass(slots=True)
class Tally:
    """Counts of a corpus, and hashes of its ids."""

    files: FileRecords
    counts: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(COUNTED, 0)))
    ids: "array[int]" = field(default_factory=lambda: array("q"))  # by record number
    further: "array[int]" = field(default_factory=lambda: array("q"))  # of further passages of papers
    superfluous: set[int] = field(default_factory=set)  # numbers of records that later ones replace

    def add(self, head: RecordHead, plan: BuildPlan) -> None:
        """Add the next record."""
        place, hashed = self.files.add(head.origin.file, head.id)
        if plan.skipped.has_later(hashed, place):
            self.superfluous.add(len(self.ids))
        self.ids.append(hashed)
        self.further.extend(map(hash_of_text, head.further))

    def finish(self) -> None:
        """Find the records that later ones replace."""
        self.superfluous.update(replaced_by_later(self.ids))
        self.counts["duplicates"] = len(self.superfluous)


def read_corpus(plan: BuildPlan, progress: Callable[[int, int], None]) -> Generator[Spooled, None, None]:
    """Yield the records of the corpus with their passages, and the dead letters."""
    for item in plan.corpus:
        progress(plan.corpus.bytes_read, plan.corpus.total_bytes)
        if not isinstance(item, Paper):  # a dead letter, or a record of another version
            yield item
            continue
        bounded = _bounded(item)
        passages = stored_passages(bounded, plan.corpus.unit)
        further = [passage.passage_id for passage in passages[1:]]
        incomplete = passages[0].incomplete
        yield RecordHead(item.id, item.origin, bounded is not item, incomplete, further), passages


def changed_records(records: Iterator[Record], base: Writer, unit: Unit, tally: Tally) -> Iterator[Record]:
    """Yield records that differ from the base, or are not in it; count the others."""
    for window in windows(records, RECORDS_PER_LOOKUP):
        stored = base.stored_records(key_field(unit), [record.id for record in window])
        for record in window:
            if (before := stored.get(record.id)) == record.passages:
                tally.counts["unchanged"] += 1
            else:
                yield record._replace(replaced=before or ())


def counted_records(records: Iterable[Record], tally: Tally) -> Iterator[Record]:
    """Count the indexed records."""
    for record in records:
        tally.counts["records"] += 1
        tally.counts["cut"] += record.head.cut
        tally.counts["incomplete"] += record.head.incomplete
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
