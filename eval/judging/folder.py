"""The folder of a benchmark in progress, and its state as the files of the folder have it.

`benchmark.json` marks the folder; the other files are described in `records.py`. One command at a time adds
questions, rankings or judgements. Several assessors may add grades at the same time, each to a separate file.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import ValidationError

from base.calls import reason
from base.errors import InvalidCall, OutputNotWritten
from base.files.durable import cause_of
from base.files.output_files import not_written, write_output
from base.files.regular_files import read_regular
from base.journal import Append, appending, read_records
from base.records import adapter
from eval.errors import BadBenchmark
from eval.judging.candidates import Candidate, candidates_of
from eval.judging.records import (
    ASSESSOR,
    Assessment,
    CallRecord,
    Judged,
    MadeWith,
    Options,
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
ENDING = ".jsonl"
NEW_FOLDER = "name an empty or a new folder"


@dataclass(frozen=True, slots=True)
class Marker:
    """The content of `benchmark.json`: its format, and the seed of samples and of the order of papers."""

    benchmark: Literal[1]
    seed: int
    created: str


def create(path: Path, seed: int | None) -> None:
    """Make a folder for a benchmark, unless it exists.

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
        marker = Benchmark(path).marker
        if seed not in {None, marker.seed}:
            raise InvalidCall(f"the seed of {path} is {marker.seed}, not {seed}", remedy=NEW_FOLDER)
    elif others:
        raise InvalidCall(f"{path} contains other files, such as {min(others)}", remedy=NEW_FOLDER)
    else:
        write_output(path / MARKER, adapter(Marker).dump_json(Marker(1, seed or 0, now())) + b"\n")


class Benchmark:
    """A benchmark in progress; its files are read when they are needed.

    Raises:
        BadBenchmark: the folder is none of a benchmark, or a line names an unknown question or paper.
        DamagedFile: a line is damaged; with file and line.
    """

    def __init__(self, path: Path) -> None:
        """Read the marker of a folder."""
        self.path = path
        try:
            self.marker: Marker = adapter(Marker).validate_json(read_regular(path / MARKER, MOST_BYTES))
        except OSError as error:
            raise BadBenchmark(
                f"{path} is not a folder of a benchmark: {MARKER}: {cause_of(error)}; "
                "`shrag benchmark questions` makes one"
            ) from None
        except ValidationError as error:
            raise BadBenchmark(f"{path / MARKER} is damaged: {reason(error)}") from None

    @cached_property
    def calls(self) -> list[CallRecord]:
        """The commands that added lines."""
        return list(read_records(self.path / CALLS, CallRecord))

    @cached_property
    def questions(self) -> dict[str, Question]:
        """All questions by query_id."""
        return {each.query_id: each for each in read_records(self.path / QUESTIONS, Question)}

    @cached_property
    def selections(self) -> dict[str, Selection]:
        """The last decision about each question."""
        return {each.query_id: each for each in self._known(SELECTIONS, Selection)}

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
        for each in self._known(POOL, Ranked):
            found.setdefault(each.query_id, []).append(each)
        return found

    @property
    def pooled_from(self) -> Options:
        """The options of the last pool: the index, the sources, and the order of preference for records."""
        call = self.last_call("pool")
        return call.options if call else Options()

    @cached_property
    def candidates(self) -> dict[str, list[Candidate]]:
        """The pooled papers of each selected question, best rank first."""
        places = self.pooled_from.places
        return {
            query_id: candidates_of(self.rankings.get(query_id, ()), places) for query_id in self.selected
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
        return self._known(JUDGEMENTS, Judged)

    @cached_property
    def assessments(self) -> dict[str, dict[Pair, Assessment]]:
        """The last judgement of each paper by each assessor."""
        folder = self.path / ASSESSMENTS
        try:
            files = sorted(each for each in folder.iterdir() if each.name.endswith(ENDING))
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise BadBenchmark(f"{folder} cannot be read: {cause_of(error)}") from None
        if foreign := [each for each in files if not ASSESSOR.fullmatch(each.stem)]:
            raise BadBenchmark(f"{foreign[0]} has no name of an assessor; move it away")
        return {
            each.stem: {
                self.key(line): line for line in self._known(f"{ASSESSMENTS}/{each.name}", Assessment)
            }
            for each in files
        }

    def key(self, line: Judged | Assessment) -> Pair:
        """Return the pair of a judged paper, by the first identity of the paper."""
        candidate = self.pairs.get((line.query_id, line.paper))
        return line.query_id, candidate.key if candidate else line.paper

    def last_call(self, step: str) -> CallRecord | None:
        """Return the last call of a step."""
        return next((call for call in reversed(self.calls) if call.step == step), None)

    def next_call(self, step: str, options: Mapping[str, Any], made_with: Mapping[str, Any]) -> CallRecord:
        """Return the record of a new call, numbered after the last one."""
        number = len(self.calls) + 1
        return CallRecord(number, step, now(), Options.model_validate(options), MadeWith(**made_with))

    def _known(self, name: str, kind: type[T]) -> list[T]:
        """Read lines whose question is known, and whose paper is pooled for it."""
        lines = list(read_records(self.path / name, kind))
        for number, each in enumerate(lines, 1):
            query_id = each.query_id  # type: ignore[attr-defined]
            if query_id not in self.questions:
                raise BadBenchmark(f"{self.path / name}:{number}: {QUESTIONS} has no question {query_id}")
            if isinstance(each, Judged | Assessment) and (query_id, each.paper) not in self._pooled:
                paper = ":".join(each.paper)
                raise BadBenchmark(
                    f"{self.path / name}:{number}: {paper} is no paper of {query_id} in {POOL}"
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


@dataclass(frozen=True, slots=True)
class Adding:
    """A benchmark whose files of calls and of a step are open for appending."""

    benchmark: Benchmark
    append_call: Append[CallRecord]
    append: Append[Any]


@contextmanager
def adding(path: Path, name: str) -> Iterator[Adding]:
    """Open the files of calls and of a step for appending; one process at a time has them.

    Raises:
        BadBenchmark: the folder is none of a benchmark.
        FileBusy: another process adds to the benchmark.
        OutputNotWritten: permission is missing, or the disk is full.
    """
    benchmark = Benchmark(path)
    with appending(path / CALLS, CallRecord) as append_call, appending(path / name, KINDS[name]) as append:
        yield Adding(benchmark, append_call, append)


@contextmanager
def adding_grades(path: Path, assessor: str) -> Iterator[Append[Assessment]]:
    """Open the file of an assessor for appending; raises FileBusy and OutputNotWritten."""
    try:
        (path / ASSESSMENTS).mkdir(exist_ok=True)
    except OSError as error:
        raise not_written(path / ASSESSMENTS, error) from None
    with appending(path / ASSESSMENTS / f"{assessor}{ENDING}", Assessment) as append:
        yield append


def now() -> str:
    """Return the time as ISO 8601, in seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")
