"""The state of a benchmark, as the files of its folder have it."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from base.files.durable import cause_of
from base.journal import read_records
from eval.errors import BadBenchmark
from eval.judging.call_parts import check_call
from eval.judging.candidates import Candidate, candidates_of
from eval.judging.folder import (
    ASSESSMENTS,
    ASSESSOR,
    CALLS,
    ENDING,
    JUDGEMENTS,
    KINDS,
    POOL,
    QUESTIONS,
    SELECTIONS,
    now,
    read_marker,
)
from eval.judging.records import Assessment, CallRecord, Judged, Pair, Question, Ranked, Selection

T = TypeVar("T")


class Benchmark:
    """A benchmark in progress; its files are read when they are needed.

    Raises BadBenchmark if the folder, or a file in it, is none of a benchmark or is damaged.
    """

    def __init__(self, path: Path) -> None:
        """Read the marker of a folder."""
        self.path = path
        self.marker = read_marker(path)

    @cached_property
    def calls(self) -> list[CallRecord]:
        """The commands that added lines."""
        calls: list[CallRecord] = self._read(CALLS)
        for number, call in enumerate(calls, 1):
            check_call(call, f"{self.path / CALLS}:{number}")
        return calls

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
        for path in _assessments_in(self.path / ASSESSMENTS):
            name = f"{ASSESSMENTS}/{path.name}"
            if not ASSESSOR.fullmatch(path.stem):
                raise BadBenchmark(f"{self.path / name} has no name of an assessor; move it away")
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


def _assessments_in(folder: Path) -> list[Path]:
    """Return the files of the assessors; raises BadBenchmark if the folder exists and cannot be read."""
    try:
        return sorted(each for each in folder.iterdir() if each.name.endswith(ENDING))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise BadBenchmark(f"{folder} cannot be read: {cause_of(error)}") from None


def next_call(
    benchmark: Benchmark, step: str, options: Mapping[str, Any], made_with: Mapping[str, Any]
) -> CallRecord:
    """Return the record of a new call, numbered after the last one."""
    return CallRecord(len(benchmark.calls) + 1, step, now(), options, made_with)
