"""Records of a corpus in a build: read, split into passages, spooled, counted, left out; dead letters.

The spool is a file of compressed lines of JSON: a list for a record, an object for a dead letter. When all
records are in it, the records that later ones replace are known.
"""

import gzip
import json
import zlib
from array import array
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, fields
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple, Self, TextIO, TypeAlias

import numpy as np

from base.errors import Remedy
from base.files.durable import sync
from base.terminal.output import json_text
from base.windows import windows
from indexer.building.plan import BuildPlan
from indexer.building.source_files import ReadRecords
from indexer.corpora.chunking import cut_text
from indexer.corpora.papers import Origin, Paper, Unit
from indexer.corpora.readers import DeadLetter
from indexer.corpora.readers.items import dead_letter
from indexer.errors import IndexDamaged, StrictRefusal
from indexer.files.schema import StoredPassage
from indexer.files.stored import key_field, stored_passages
from indexer.files.sums import hash_of_text
from indexer.versions.writers import Writer

SHOWN = 10
RECORDS_PER_LOOKUP = 100
MOST_BYTES = 16_000_000  # size limit of the file
# The counts of a manifest, in order.
COUNTED = ("records", "replaced", "duplicates", "incomplete", "cut", "dead_letters")
BOUNDED_TEXTS = ("title", "title2", "abstract", "abstract2", "body")
FAST = 1  # the compression level of the spool
VALUES = attrgetter(*(field.name for field in fields(StoredPassage) if field.name not in {"tokens", "row"}))
CLAIMED = "id: a passage of it would have the id of another paper's (X gives X, X@en or X@ko, X#1 …)"


class DeadLetterFile:
    """A file of dead letters, one JSON object per line; created with the first one.

    `first` contains the first ten, `kinds` at most ten kinds, each with its first letter and its number,
    `count` is their total number, `written` the number in the file. If the file reached its size limit, its
    last line says how many more there were.
    """

    def __init__(self, path: Path, *, strict: bool = False) -> None:
        """Create a new file at `path`, replacing an old one; `strict` refuses the first dead letter."""
        path.unlink(missing_ok=True)
        self.first: list[DeadLetter] = []
        self.kinds: dict[str, tuple[DeadLetter, int]] = {}
        self.count = self.written = self._bytes = 0
        self._path, self._strict = path, strict
        self._file: TextIO | None = None

    def __enter__(self) -> Self:
        """Return the file."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        if self._file:
            if more := self.count - self.written:
                self._file.write(_as_line(DeadLetter("", 0, f"{more:,} more are not listed here", "")))
            self._file.close()

    def add(self, letter: DeadLetter) -> None:
        """Write a dead letter; StrictRefusal in a strict build."""
        if self._strict:
            described = f"{letter.described}; nothing was published"
            raise StrictRefusal(described, remedy=Remedy.ALLOW_DEAD_LETTERS)
        file = self._file = self._file or self._path.open("a", encoding="utf-8")
        line = _as_line(letter)
        self.count += 1
        self._bytes += len(line.encode())
        if self._bytes <= MOST_BYTES:
            file.write(line)
            self.written += 1
        self.first += [letter] if len(self.first) < SHOWN else []
        if letter.kind in self.kinds or len(self.kinds) < SHOWN:
            example, count = self.kinds.get(letter.kind, (letter, 0))
            self.kinds[letter.kind] = (example, count + 1)


def _as_line(letter: DeadLetter) -> str:
    return json_text(asdict(letter)) + "\n"


class Record(NamedTuple):
    """A record of the corpus: its number among the valid ones, and what it replaces."""

    id: str
    origin: Origin
    is_cut: bool  # whether a text was too long
    passages: list[StoredPassage]
    number: int = 0
    replaced: Sequence[StoredPassage] = ()  # of the base version, with their rows

    @property
    def passage_ids(self) -> list[str]:
        """The ids of its passages; the first one has the id of the record."""
        return [self.id, *(passage.passage_id for passage in self.passages[1:])]


Spooled: TypeAlias = Record | DeadLetter


def write_spool(path: Path, items: Generator[Spooled, None, None]) -> Generator[Spooled, None, None]:
    """Write records and dead letters, and yield them; the file exists when all were yielded."""
    writing = path.with_suffix(".unfinished")
    with (
        closing(items),  # closes the files of the corpus after an error
        gzip.open(writing, "wt", FAST, encoding="utf-8", errors="surrogatepass", newline="\n") as file,
    ):
        for item in items:
            values = asdict(item) if isinstance(item, DeadLetter) else _values_of(item)
            file.write(json.dumps(values, ensure_ascii=False) + "\n")
            yield item
    sync(writing)
    writing.rename(path)


def _values_of(record: Record) -> list[object]:
    name, line, raw = record.origin
    return [record.id, name, line, raw.decode("latin-1"), record.is_cut, list(map(VALUES, record.passages))]


def read_spool(path: Path) -> Generator[Spooled, None, None]:
    """Yield the records and dead letters; IndexDamaged if the file cannot be read."""
    try:
        with gzip.open(path, "rt", encoding="utf-8", errors="surrogatepass", newline="\n") as file:
            for values in map(json.loads, file):
                if isinstance(values, dict):
                    yield DeadLetter(**values)
                else:
                    record_id, name, line, raw, is_cut, found = values
                    passages = [
                        StoredPassage(*first, type=kind, authors=tuple(authors), keys=tuple(keys))  # type: ignore[misc]
                        for *first, kind, authors, keys in found
                    ]
                    yield Record(record_id, Origin(name, line, raw.encode("latin-1")), is_cut, passages)
    except (EOFError, zlib.error, gzip.BadGzipFile, ValueError, TypeError) as error:
        raise IndexDamaged(f"{path} cannot be read ({error})", remedy="repeat the command") from error


@dataclass(slots=True)
class Tally:
    """Counts of a corpus, hashes of its ids, and the records that are left out for later ones."""

    read: ReadRecords
    letters: DeadLetterFile
    counts: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(COUNTED, 0)))
    further: "array[int]" = field(default_factory=lambda: array("q"))  # of further passages of papers
    replaced: set[int] = field(default_factory=set)  # numbers of records that later ones replace

    def add(self, item: Spooled, plan: BuildPlan) -> None:
        """Add the next record or dead letter."""
        if isinstance(item, DeadLetter):
            self.refuse(item)
            return
        number = len(self.read.ids)
        self.read.add(item.origin.file, item.id)
        if plan.skipped.has_later(self.read.ids[number], self.read.files[number]):
            self.replaced.add(number)
        self.further.extend(map(hash_of_text, item.passage_ids[1:]))

    def refuse(self, letter: DeadLetter) -> None:
        """Add a dead letter."""
        self.letters.add(letter)
        self.read.with_letters.add(self.read.place_of(letter.file))
        self.counts["dead_letters"] += 1

    def finish(self) -> None:
        """Find the records whose id occurs again later."""
        values = np.array(self.read.ids)
        order = np.argsort(values, kind="stable")
        self.replaced.update(order[:-1][values[order[:-1]] == values[order[1:]]].tolist())
        self.counts["duplicates"] = len(self.replaced)


def read_corpus(plan: BuildPlan, progress: Callable[[int, int], None]) -> Generator[Spooled, None, None]:
    """Yield the records of the corpus with their passages, and the dead letters."""
    for item in plan.corpus:
        progress(plan.corpus.bytes_read, plan.corpus.total_bytes)
        if not isinstance(item, Paper):  # a dead letter, or a record of another version
            yield item
            continue
        texts = {name: cut_text(getattr(item, name)) for name in BOUNDED_TEXTS}
        cut = {name: text for name, (text, is_shortened) in texts.items() if is_shortened}
        paper = item.model_copy(update=cut) if cut else item
        yield Record(item.id, item.origin, bool(cut), stored_passages(paper, plan.corpus.unit))


def records_to_write(
    records: Iterator[Record], base: Writer | None, unit: Unit, tally: Tally
) -> Iterator[Record]:
    """Yield the records that are not in the base version as they are, with what they replace; count them.

    Paper X has the passages X@en and X#1, which may be ids of other papers. Such an id belongs to the first
    paper: in the base version, otherwise in the corpus. The other paper is a dead letter.
    """
    contested = set(np.intersect1d(np.array(tally.read.ids), np.array(tally.further)).tolist())
    taken, counts = set[int](), tally.counts
    for window in windows(records, RECORDS_PER_LOOKUP):
        stored, passages = dict[str, list[StoredPassage]](), dict[str, list[StoredPassage]]()
        if base:
            ids = [one for record in window for one in record.passage_ids]
            stored = base.stored_records(key_field(unit), ids)
        if base and unit == "paper":
            others = [record.id for record in window if record.id not in stored]
            passages = base.stored_records("passage_id", others)
        for record in window:
            claimed = contested and contested & set(map(hash_of_text, record.passage_ids))
            in_base = record.id in passages or not stored.keys().isdisjoint(record.passage_ids[1:])
            if in_base or (claimed and not taken.isdisjoint(claimed)):
                file, line, raw = record.origin
                tally.refuse(dead_letter(file, line, CLAIMED, raw))
                continue
            taken |= claimed
            before = stored.get(record.id)
            if before == record.passages:
                counts["unchanged"] += 1
                continue
            counts["records"] += 1
            counts["cut"] += record.is_cut
            counts["incomplete"] += record.passages[0].incomplete
            yield record._replace(replaced=before or ())
