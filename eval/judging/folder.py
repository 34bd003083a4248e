"""The folder of a benchmark in progress.

`benchmark.json` marks it; the other files are described in `records.py`. One command at a time adds
questions, rankings or judgements. Several assessors may confirm papers at the same time, each in a separate
file.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import ValidationError

from base.calls import reason
from base.errors import InvalidCall, OutputNotWritten
from base.files.durable import cause_of, create_durably
from base.files.output_files import not_written
from base.files.regular_files import read_regular
from base.records import adapter
from base.terminal.output import json_text
from eval.errors import BadBenchmark
from eval.judging.candidates import Candidate, candidates_of
from eval.judging.journal import Append, appending, locked, read_records
from eval.judging.records import (
    Assessment,
    CallRecord,
    Judged,
    Pair,
    Question,
    Ranked,
    Selection,
)

T = TypeVar("T")

MARKER = "benchmark.json"
CALLS, QUESTIONS, SELECTIONS = "calls.jsonl", "questions.jsonl", "selections.jsonl"
POOL, JUDGEMENTS, ASSESSMENTS = "pool.jsonl", "judgements.jsonl", "assessments"
KINDS: Mapping[str, type[Any]] = {
    CALLS: CallRecord,
    QUESTIONS: Question,
    SELECTIONS: Selection,
    POOL: Ranked,
    JUDGEMENTS: Judged,
}
MOST_BYTES = 65_536  # of the marker
ASSESSOR = re.compile(r"\w[\w.-]{0,63}")
ENDING = ".jsonl"
NEW_FOLDER = "name an empty or a new folder"


@dataclass(frozen=True, slots=True)
class Marker:
    """The content of `benchmark.json`: its format, and the seed of samples and of the order of papers."""

    benchmark: Literal[1]
    seed: int
    created: str


class Benchmark:
    """A benchmark in progress; its files are read when they are needed.

    Raises BadBenchmark if the folder, or a file in it, is none of a benchmark or is damaged.
    """

    def __init__(self, path: Path) -> None:
        """Read the marker of a folder."""
        self.path = path
        self.marker = _marker(path)

    @cached_property
    def calls(self) -> list[CallRecord]:
        """The commands that added lines."""
        return self._read(CALLS)

    @cached_property
    def questions(self) -> dict[str, Question]:
        """All questions by query_id."""
        return {each.query_id: each for each in self._read(QUESTIONS)}

    @cached_property
    def selections(self) -> dict[str, Selection]:
        """The last decision about each question."""
        return {each.query_id: each for each in self._known_queries(SELECTIONS)}

    @property
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
        for each in self._known_queries(POOL):
            found.setdefault(each.query_id, []).append(each)
        return found

    @property
    def places(self) -> tuple[str, ...]:
        """The index and the sources of the pool, in the order of preference for records."""
        call = self.last_call("pool")
        return tuple(call.options["places"]) if call else ()

    @property
    def index(self) -> str:
        """The name of the index among the places; "" if there is none."""
        call = self.last_call("pool")
        return str(call.options["index"] or "") if call else ""

    @cached_property
    def candidates(self) -> dict[str, list[Candidate]]:
        """The pooled papers of each selected question, best rank first."""
        return {
            query_id: candidates_of(self.rankings.get(query_id, ()), self.places)
            for query_id in self.selected
        }

    @cached_property
    def pairs(self) -> dict[Pair, Candidate]:
        """The candidates of selected questions by query_id and by each identity of the paper."""
        return {
            (query_id, identity): candidate
            for query_id, candidates in self.candidates.items()
            for candidate in candidates
            for identity in candidate.merged.ids
        }

    @cached_property
    def judged(self) -> list[Judged]:
        """All judgements by rules and models."""
        return self._of_candidates(JUDGEMENTS, self._known_queries(JUDGEMENTS))

    @cached_property
    def assessments(self) -> dict[str, dict[Pair, Assessment]]:
        """The last judgement of each paper by each assessor."""
        found: dict[str, dict[Pair, Assessment]] = {}
        for path in sorted((self.path / ASSESSMENTS).glob(f"*{ENDING}")):
            name = f"{ASSESSMENTS}/{path.name}"
            lines = self._of_candidates(name, list(read_records(path, Assessment)))
            found[path.stem] = {self.key(each): each for each in lines}
        return found

    def key(self, line: Judged | Assessment) -> Pair:
        """Return the pair of a judged paper, by the first identity of the paper."""
        candidate = self.pairs.get((line.query_id, line.paper))
        return line.query_id, candidate.key if candidate else line.paper

    def last_call(self, step: str) -> CallRecord | None:
        """Return the last call of a step."""
        return next((call for call in reversed(self.calls) if call.step == step), None)

    def _read(self, name: str) -> list[Any]:
        return list(read_records(self.path / name, KINDS[name]))

    def _known_queries(self, name: str) -> list[Any]:
        lines = self._read(name)
        for number, each in enumerate(lines, 1):
            if each.query_id not in self.questions:
                raise BadBenchmark(
                    f"{self.path / name}:{number}: {QUESTIONS} has no question {each.query_id}"
                )
        return lines

    def _of_candidates(self, name: str, lines: list[T]) -> list[T]:
        pooled = self._pooled
        for number, each in enumerate(lines, 1):
            pair: Pair = (each.query_id, each.paper)  # type: ignore[attr-defined]
            if pair not in pooled:
                raise BadBenchmark(
                    f"{self.path / name}:{number}: {':'.join(pair[1])} is no paper of {pair[0]} in {POOL}"
                )
        return lines

    @cached_property
    def _pooled(self) -> set[Pair]:
        return {
            (query_id, identity)
            for query_id, rankings in self.rankings.items()
            for each in rankings
            for identity in each.ranked
        }


@contextmanager
def writing(path: Path, *names: str, shared: bool = False) -> Iterator[tuple[Append[Any], ...]]:
    """Lock a folder, and open files of it for appending; yield a function for each.

    With `shared`, several processes may write to different files of the folder.

    Raises:
        BadBenchmark: the folder is none of a benchmark.
        BenchmarkBusy: another process writes to it.
        OutputNotWritten: permission is missing, or the disk is full.
    """
    _marker(path)
    with ExitStack() as opened:
        opened.enter_context(locked(path / MARKER, shared=shared))
        yield tuple(
            opened.enter_context(appending(path / name, KINDS.get(name, Assessment))) for name in names
        )


def create(path: Path, seed: int | None) -> Benchmark:
    """Make a folder for a benchmark, or open the one that exists.

    Raises:
        InvalidCall: the folder has other files, or a benchmark with another seed.
        BadBenchmark: its marker is damaged.
        OutputNotWritten: it cannot be created.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        others = {each.name for each in path.iterdir()}
    except OSError as error:
        raise OutputNotWritten(f"{path} cannot be written: {cause_of(error)}") from None
    if MARKER in others:
        benchmark = Benchmark(path)
        if seed not in {None, benchmark.marker.seed}:
            raise InvalidCall(
                f"the seed of {path} is {benchmark.marker.seed}, not {seed}", remedy=(NEW_FOLDER,)
            )
        return benchmark
    if others:
        raise InvalidCall(f"{path} contains other files, such as {min(others)}", remedy=NEW_FOLDER)
    marker = Marker(1, seed or 0, now())
    try:
        create_durably(path / MARKER, adapter(Marker).dump_json(marker) + b"\n", mode=0o644)
    except OSError as error:
        raise not_written(path / MARKER, error) from None
    return Benchmark(path)


def next_call(
    benchmark: Benchmark, step: str, options: Mapping[str, Any], made_with: Mapping[str, Any]
) -> CallRecord:
    """Return the record of a new call, numbered after the last one."""
    return CallRecord(len(benchmark.calls) + 1, step, now(), options, made_with)


def assessments_file(path: Path, assessor: str) -> str:
    """Return the name of an assessor's file, and make its folder.

    Raises:
        InvalidCall: the name is no word of letters and digits.
        OutputNotWritten: the folder cannot be made.
    """
    if not ASSESSOR.fullmatch(assessor):
        raise InvalidCall(
            f"{json_text(assessor)} is no name of an assessor: letters, digits, '.', '-' and '_', at most 64"
        )
    try:
        (path / ASSESSMENTS).mkdir(exist_ok=True)
    except OSError as error:
        raise not_written(path / ASSESSMENTS, error) from None
    return f"{ASSESSMENTS}/{assessor}{ENDING}"


def now() -> str:
    """Return the time as ISO 8601, in seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _marker(path: Path) -> Marker:
    try:
        marker: Marker = adapter(Marker).validate_json(read_regular(path / MARKER, MOST_BYTES))
    except OSError as error:
        raise BadBenchmark(
            f"{path} is not a folder of a benchmark: {MARKER}: {cause_of(error)}; "
            "`shrag benchmark questions` makes one"
        ) from None
    except ValidationError as error:
        raise BadBenchmark(f"{path / MARKER} is damaged: {reason(error)}") from None
    return marker
