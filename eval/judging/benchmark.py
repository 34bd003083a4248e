"""A benchmark in progress: its records, its pool of candidates, and the file of its folder.

The file has one table of records. They are only added, each call of `append` in one transaction. One command
at a time adds questions, rankings or judgements; several assessors may add grades at the same time.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from pydantic import ValidationError

from base.calls import reason
from base.errors import DamagedFile, FileBusy, InvalidCall, OutputNotWritten
from base.files.locks import lock_file
from base.files.output_files import not_written
from base.records import adapter
from eval.errors import BadBenchmark
from eval.kept import as_json
from indexer.corpora.papers import Paper
from retriever.sources import SourceAnswer
from retriever.sources.merging import MergedPaper, merge

Identity: TypeAlias = tuple[str, str]  # the name of the index or source, and the id of a paper in it
Pair: TypeAlias = tuple[str, Identity]  # query_id and paper

StageName: TypeAlias = Literal["coarse", "fine"]
JudgeName: TypeAlias = Literal["rules", "brief", "complex"]

HIGHEST_GRADE = 3
OF_A_SCALE = ("model", "prompts", "encoder", "reranker")  # decide, with stage and judge, what a score means
FILE, LOCK = "benchmark.sqlite", ".lock"
COLUMNS = "number INTEGER PRIMARY KEY, kind TEXT NOT NULL, record TEXT NOT NULL"
TABLE = f"CREATE TABLE IF NOT EXISTS records ({COLUMNS}) STRICT"
WAIT_S = 30.0  # for another process that adds or reads records


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A command that added records, which name it by its `number`.

    `made_with` are the inputs besides the options: software, models, settings, index, files.
    """

    number: int
    step: str  # the name of the command
    started: str
    options: dict[str, Any]
    made_with: dict[str, Any]

    @property
    def scale(self) -> tuple[Any, ...]:
        """The stage, and all that decides what a score means; other scales need other thresholds."""
        decisive = (self.made_with.get(name) or None for name in OF_A_SCALE)
        return self.options["stage"], self.options["judge"], *decisive


@dataclass(frozen=True, slots=True)
class Question:
    """A question; one that a model derived from a seed has the seed's query_id. The last record counts."""

    query_id: str
    question: str
    origin: Literal["seed", "extended"]
    call: int
    seed: str = ""
    kept: bool | None = None  # the decision of a person; undecided seeds are kept, and derived questions not
    assessor: str = ""  # of the decision


@dataclass(frozen=True, slots=True)
class Ranked:
    """The papers of one ranking for one question, best first."""

    query_id: str
    place: str  # the index or source; of `find-papers` all of them, joined by a comma
    method: str
    depth: int  # the number of papers requested
    papers: tuple[tuple[str, Paper], ...]  # (source, record)
    call: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judged:
    """A judgement by rules or by a model."""

    query_id: str
    paper: Identity
    stage: StageName
    judge: JudgeName  # the rules, or the prompt of the model
    by: str  # the name of the model, or of the rule
    score: float
    reason: str
    call: int
    prompt: str = ""  # name and language of the prompt, such as `judgement_brief.ko`; "" for rules
    version: int = 0  # of the prompt; 0 for rules
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Assessment:
    """A judgement by a person; the last one of a paper counts."""

    query_id: str
    paper: Identity
    assessor: str
    grade: int
    at: str


KINDS: Mapping[str, type[Any]] = {
    kind.__name__: kind for kind in (CallRecord, Question, Ranked, Judged, Assessment)
}


@dataclass(frozen=True, slots=True)
class FoundAt:
    """The rank of a paper in a ranking, from 1."""

    place: str
    method: str
    rank: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """A paper to judge; records of the same paper are one candidate (`retriever/sources/merging.py`)."""

    merged: MergedPaper
    found: tuple[FoundAt, ...]

    @property
    def key(self) -> Identity:
        """The first identity of the paper."""
        return self.merged.ids[0]

    @property
    def paper(self) -> Paper:
        """The record, with missing fields from the other records."""
        return self.merged.paper

    @property
    def best_rank(self) -> int:
        """The best rank in any ranking."""
        return min(each.rank for each in self.found)

    def judged_ids(self, index: str, *, several: bool) -> list[str]:
        """Return the ids of the paper in judgements, as a run has them (`shrag eval run`).

        These are the ids of all its records in the index, if the index has any. Otherwise it is the id of the
        first record, after the name of its source if there are `several` places.
        """
        of_index = [paper_id for source, paper_id in self.merged.ids if source == index]
        source, paper_id = self.key
        return of_index or [f"{source}:{paper_id}" if several else paper_id]


def candidates_of(rankings: Sequence[Ranked], places: Sequence[str]) -> list[Candidate]:
    """Merge the papers of the rankings of a question; best rank first, ties in the order of the places.

    If a ranking was repeated with a larger depth, the ranks of the last one count. Papers of earlier ones are
    kept. Of the records of a paper in a ranking the best one counts.
    """
    records: dict[str, dict[str, Paper]] = {place: {} for place in places}
    found: dict[Identity, dict[tuple[str, str], FoundAt]] = {}
    for each in rankings:
        for rank, (source, paper) in enumerate(each.papers, 1):
            records.setdefault(source, {}).setdefault(paper.id, paper)
            at = FoundAt(each.place, each.method, rank)
            found.setdefault((source, paper.id), {})[each.place, each.method] = at
    answers = {
        source: SourceAnswer((tuple(papers.values()),)) for source, papers in records.items() if papers
    }
    candidates = []
    for merged in merge(answers, {}, several=True).papers.values():
        best: dict[tuple[str, str], FoundAt] = {}
        for ranking, at in (each for identity in merged.ids for each in found.get(identity, {}).items()):
            best[ranking] = min(best.get(ranking, at), at, key=lambda each: each.rank)
        if best:
            candidates.append(Candidate(merged, tuple(best.values())))
    return sorted(candidates, key=lambda each: each.best_rank)


def create(path: Path) -> None:
    """Make a folder for a benchmark, unless it exists.

    Raises:
        InvalidCall: the folder has other files.
        OutputNotWritten: it cannot be created.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        others = {each.name for each in path.iterdir()}
    except OSError as error:
        raise not_written(path, error) from None
    if others and FILE not in others:
        raise InvalidCall(
            f"{path} contains other files, such as {min(others)}", remedy="name an empty or a new folder"
        )
    _append(path)


class Benchmark:
    """A benchmark in progress, as its file was when it was opened.

    Raises:
        BadBenchmark: the folder is none of a benchmark.
        DamagedFile: its file is damaged.
    """

    def __init__(self, path: Path) -> None:
        """Read the records of a folder."""
        self.path, records = path, _read(path)
        self.calls: list[CallRecord] = records[CallRecord]
        self.questions: dict[str, Question] = {each.query_id: each for each in records[Question]}
        self.rankings: dict[str, list[Ranked]] = {}
        for each in records[Ranked]:
            self.rankings.setdefault(each.query_id, []).append(each)
        self.judged: list[Judged] = records[Judged]  # by rules and models
        self._graded: list[Assessment] = records[Assessment]

    def append(self, *records: Any) -> None:
        """Add records to the file; this value keeps its own."""
        _append(self.path, *records)

    @cached_property
    def selected(self) -> dict[str, str]:
        """The questions of the benchmark: seeds unless dropped, and derived questions if kept."""
        return {
            query_id: each.question
            for query_id, each in self.questions.items()
            if (each.origin == "seed" if each.kept is None else each.kept)
        }

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
    def assessments(self) -> dict[str, dict[Pair, Assessment]]:
        """The last judgement of each paper by each assessor, in the order of their first judgements."""
        found: dict[str, dict[Pair, Assessment]] = {}
        for each in self._graded:
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


def _read(path: Path) -> dict[type[Any], list[Any]]:
    """Return the records of a file by kind."""
    if not (path / FILE).is_file():
        raise BadBenchmark(
            f"{path} is not a folder of a benchmark: it contains no {FILE}; "
            "`shrag benchmark questions` makes one"
        )
    records: dict[type[Any], list[Any]] = {kind: [] for kind in KINDS.values()}
    try:
        with closing(sqlite3.connect(path / FILE, timeout=WAIT_S)) as database:
            for name, record in database.execute("SELECT kind, record FROM records ORDER BY number"):
                read: Any = adapter(cast("Any", KINDS[name]))
                records[KINDS[name]].append(read.validate_json(record))
    except (sqlite3.Error, KeyError, ValidationError) as error:
        why = reason(error) if isinstance(error, ValidationError) else error
        raise DamagedFile(f"{path / FILE} cannot be read: {why}; restore it from a copy") from None
    return records


def _append(path: Path, *records: Any) -> None:
    """Add records to a file; OutputNotWritten, and nothing is added, if it cannot be written."""
    kinds: list[Any] = [type(each) for each in records]
    rows = [
        (kind.__name__, adapter(kind).dump_json(each).decode())
        for kind, each in zip(kinds, records, strict=True)
    ]
    try:
        with closing(sqlite3.connect(path / FILE, timeout=WAIT_S)) as database, database:
            database.execute(TABLE)
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
    Benchmark(path)  # before a file is made in the folder
    with lock_file(path / LOCK, FileBusy(f"another process is adding to {path}; wait until it ends")):
        yield Benchmark(path)


def now() -> str:
    """Return the time as ISO 8601, in seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")
