"""The state of a benchmark in progress: one table of records (`records.py`) in a file of its folder.

Records are only added, each call of `append` in one transaction. One command at a time adds questions,
rankings or judgements; several assessors may add grades at the same time.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from base.calls import reason
from base.errors import DamagedFile, FileBusy, InvalidCall, OutputNotWritten
from base.files.durable import cause_of
from base.files.locks import lock_file
from base.records import adapter
from eval.errors import BadBenchmark
from eval.judging.candidates import Candidate, candidates_of
from eval.judging.records import (
    Assessment,
    CallRecord,
    Judged,
    Made,
    Pair,
    Question,
    Ranked,
    Selection,
)
from eval.kept import as_json

T = TypeVar("T")

FILE, LOCK = "benchmark.sqlite", ".lock"
TABLE = "CREATE TABLE records (number INTEGER PRIMARY KEY, kind TEXT NOT NULL, record TEXT NOT NULL) STRICT"
KINDS: Mapping[type[Any], str] = {
    kind: kind.__name__ for kind in (Made, CallRecord, Question, Selection, Ranked, Judged, Assessment)
}
WAIT_S = 30.0  # for another process that adds or reads records
NEW_FOLDER = "name an empty or a new folder"


def create(path: Path, seed: int | None) -> None:
    """Make a folder for a benchmark, unless it exists.

    Raises:
        InvalidCall: the folder has other files, or a benchmark with another seed.
        DamagedFile: its file is damaged.
        OutputNotWritten: it cannot be created.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        others = {each.name for each in path.iterdir()} - {FILE, f"{FILE}-journal"}
    except OSError as error:
        raise OutputNotWritten(f"{path} cannot be written: {cause_of(error)}") from None
    if _exists(path / FILE):
        known = Benchmark(path).made.seed
        if seed not in {None, known}:
            raise InvalidCall(f"the seed of {path} is {known}, not {seed}", remedy=NEW_FOLDER)
    elif others:
        raise InvalidCall(f"{path} contains other files, such as {min(others)}", remedy=NEW_FOLDER)
    else:
        _append(path, Made(seed or 0, now()), schema=TABLE)


def _exists(file: Path) -> bool:
    """Check for a file with content; a `create` that failed leaves an empty one."""
    return file.is_file() and file.stat().st_size > 0


def _file_in(path: Path) -> Path:
    file = path / FILE
    if not _exists(file):
        raise BadBenchmark(
            f"{path} is not a folder of a benchmark: it contains no {FILE}; "
            "`shrag benchmark questions` makes one"
        )
    return file


def _busy(path: Path) -> FileBusy:
    return FileBusy(f"another process is adding to {path}; wait until it ends")


class Benchmark:
    """A benchmark in progress, as its file was when it was opened; records are decoded when they are needed.

    Raises:
        BadBenchmark: the folder is none of a benchmark.
        DamagedFile: its file is damaged.
        FileBusy: another process locks its file.
    """

    def __init__(self, path: Path) -> None:
        """Read the records of a folder."""
        self.path, self._file = path, _file_in(path)
        self._records: dict[str, list[str]] = {name: [] for name in KINDS.values()}
        address = f"{self._file.absolute().as_uri()}?mode=rw"  # undoes the transaction of a killed process
        try:
            with closing(sqlite3.connect(address, timeout=WAIT_S, uri=True)) as database:
                for kind, record in database.execute("SELECT kind, record FROM records ORDER BY number"):
                    self._records[kind].append(record)
        except (sqlite3.Error, KeyError) as error:
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
                raise _busy(path) from None
            raise self._damaged(error) from None

    def _damaged(self, error: Exception) -> DamagedFile:
        why = reason(error) if isinstance(error, ValidationError) else error
        return DamagedFile(f"{self._file} is damaged: {why}; restore it from a copy")

    def _all(self, kind: type[T]) -> list[T]:
        of_kind: Any = kind
        read = adapter(of_kind)
        try:
            return [read.validate_json(record) for record in self._records[KINDS[of_kind]]]
        except ValidationError as error:
            raise self._damaged(error) from None

    def append(self, *records: Any) -> None:
        """Add records to the file; this value keeps its own."""
        _append(self.path, *records)

    @cached_property
    def made(self) -> Made:
        """The first record."""
        try:
            return self._all(Made)[0]
        except IndexError as error:
            raise self._damaged(error) from None

    @cached_property
    def calls(self) -> list[CallRecord]:
        """The commands that added records."""
        return self._all(CallRecord)

    @cached_property
    def questions(self) -> dict[str, Question]:
        """All questions by query_id."""
        return {each.query_id: each for each in self._all(Question)}

    @cached_property
    def selections(self) -> dict[str, Selection]:
        """The last decision about each question."""
        return {each.query_id: each for each in self._all(Selection)}

    @cached_property
    def selected(self) -> dict[str, str]:
        """The questions of the benchmark: seeds unless dropped, and derived questions if kept."""
        return {
            query_id: each.question
            for query_id, each in self.questions.items()
            if (self.selections[query_id].kept if query_id in self.selections else each.origin == "seed")
        }

    @cached_property
    def rankings(self) -> dict[str, list[Ranked]]:
        """The rankings of each question that has any."""
        found: dict[str, list[Ranked]] = {}
        for each in self._all(Ranked):
            found.setdefault(each.query_id, []).append(each)
        return found

    @property
    def pooled_from(self) -> Mapping[str, Any]:
        """The options of the last pool: `index`, `sources`, and `places`, the order of preference."""
        call = self.last_call("pool")
        return call.options if call else {"index": "", "sources": [], "places": []}

    @cached_property
    def candidates(self) -> dict[str, list[Candidate]]:
        """The pooled papers of each selected question, best rank first."""
        places = self.pooled_from["places"]
        return {each: candidates_of(self.rankings.get(each, ()), places) for each in self.selected}

    @cached_property
    def pairs(self) -> dict[Pair, Candidate]:
        """The candidates of selected questions by query_id and by each identity of the paper."""
        return {
            (query_id, identity): candidate
            for query_id, candidates in self.candidates.items()
            for candidate in candidates
            for identity in candidate.merged.ids
        }

    @property
    def pooled(self) -> tuple[Pair, ...]:
        """The pairs of selected questions and candidates."""
        return tuple((query_id, each.key) for query_id, of in self.candidates.items() for each in of)

    @cached_property
    def judged(self) -> list[Judged]:
        """All judgements by rules and models."""
        return self._all(Judged)

    @cached_property
    def assessments(self) -> dict[str, dict[Pair, Assessment]]:
        """The last judgement of each paper by each assessor, in the order of their first judgements."""
        found: dict[str, dict[Pair, Assessment]] = {}
        for each in self._all(Assessment):
            found.setdefault(each.assessor, {})[self.key(each)] = each
        return found

    def key(self, record: Judged | Assessment) -> Pair:
        """Return the pair of a judged paper, by the first identity of the paper."""
        candidate = self.pairs.get((record.query_id, record.paper))
        return record.query_id, candidate.key if candidate else record.paper

    def last_call(self, step: str) -> CallRecord | None:
        """Return the last call of a step."""
        return next((call for call in reversed(self.calls) if call.step == step), None)

    def next_call(self, step: str, options: Mapping[str, Any], made_with: Mapping[str, Any]) -> CallRecord:
        """Return the record of a new call, numbered after the last one."""
        return CallRecord(len(self.calls) + 1, step, now(), as_json(dict(options)), as_json(dict(made_with)))


def _append(path: Path, *records: Any, schema: str = "") -> None:
    """Add records to a file, or make it with its schema.

    Raises:
        OutputNotWritten: the disk is full, or permission is missing; nothing is added.
    """
    kinds: list[Any] = [type(each) for each in records]
    rows = [
        (KINDS[kind], adapter(kind).dump_json(each).decode())
        for kind, each in zip(kinds, records, strict=True)
    ]
    try:
        with closing(sqlite3.connect(path / FILE, timeout=WAIT_S)) as database, database:
            database.execute("BEGIN")
            if schema:
                database.execute(schema)
            database.executemany("INSERT INTO records (kind, record) VALUES (?, ?)", rows)
    except sqlite3.Error as error:
        raise OutputNotWritten(f"{path / FILE} cannot be written: {error}") from None


@contextmanager
def adding(path: Path) -> Iterator[Benchmark]:
    """Open a benchmark for a command that adds questions, rankings or judgements.

    Raises:
        BadBenchmark, DamagedFile: as `Benchmark`.
        FileBusy: another process adds to the benchmark.
    """
    _file_in(path)
    with lock_file(path / LOCK, _busy(path)):
        yield Benchmark(path)


def now() -> str:
    """Return the time as ISO 8601, in seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")
