"""The stages of a benchmark from the pool to the papers confirmed by persons, and its report (SPAR, 4.2).

| stage | question and paper pairs |
|---|---|
| pooled | papers of any ranking |
| coarse, fine | papers of the stage before with a score of at least the threshold |
| confirmed | papers that a person graded 1 or higher |

The report has topics, qrels, provenance, tables and a manifest in a folder, which
docs/how-to/building-a-benchmark.md describes.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple, get_args

from base.amounts import counted
from base.errors import InvalidCall
from base.versions import checkout_commit
from eval.experiments.comparing import Cell, Figure, Outcome, Panel, Record, Table
from eval.experiments.report import drawable
from eval.experiments.running import check_folder, json_lines, write_files
from eval.judging.benchmark import (
    FILE,
    HIGHEST_GRADE,
    Assessment,
    Benchmark,
    CallRecord,
    Judged,
    Pair,
    StageName,
)
from eval.manifest import file_record, software
from eval.score_commands import first_ids
from eval.statistics import agreement, wilson
from indexer.corpora.papers import language_of

STAGES: tuple[StageName, ...] = get_args(StageName)
JUDGE_STEP = "judge {}"  # name of a stage's calls
GRADES = range(HIGHEST_GRADE + 1)


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage: the pairs that passed it, and the number of pairs that it has judged so far."""

    name: str
    pairs: tuple[Pair, ...]
    judged: int
    of: int  # pairs of the stage before
    by: str = ""  # the judge; "" for the pool
    threshold: float | None = None  # of the scores
    scores: Mapping[Pair, Judged] = field(default_factory=dict)  # by rules or a model

    @property
    def reduction(self) -> float | None:
        """The share of pairs of the stage before that did not pass, in percent; None without pairs."""
        return 100 * (1 - len(self.pairs) / self.of) if self.of else None


def automatic_stages(benchmark: Benchmark) -> list[Stage]:
    """Return the pool, and the stages judged by rules and models."""
    stages = [Stage("pooled", benchmark.pooled, len(benchmark.pooled), len(benchmark.pooled))]
    for name in STAGES:
        if call := stage_call(benchmark, name):
            scores, before = scores_of(benchmark, call), stages[-1].pairs
            threshold = call.options["threshold"]
            judged = [pair for pair in before if pair in scores]
            passed = tuple(pair for pair in judged if scores[pair].score >= threshold)
            by = f"{call.options['judge']} {call.made_with.get('model', '')}".strip()
            stages.append(Stage(name, passed, len(judged), len(before), by, threshold, scores))
    return stages


def all_stages(benchmark: Benchmark, grades: Mapping[Pair, Assessment]) -> list[Stage]:
    """Return the automatic stages, and the confirmed one if a person graded a paper."""
    stages = automatic_stages(benchmark)
    last = stages[-1].pairs
    graded = [pair for pair in last if pair in grades]
    relevant = tuple(pair for pair in graded if grades[pair].grade)
    confirmed = Stage("confirmed", relevant, len(graded), len(last), "persons")
    return [*stages, confirmed] if grades else stages


def stage_call(benchmark: Benchmark, stage: StageName) -> CallRecord | None:
    """Return the last call of a stage: its judge and its threshold count."""
    return benchmark.last_call(JUDGE_STEP.format(stage))


def scores_of(benchmark: Benchmark, call: CallRecord) -> dict[Pair, Judged]:
    """Return the judgements on the scale of a stage's call; those by other judges or models are left out."""
    calls = [each for each in [*benchmark.calls, call] if each.step == call.step]
    comparable = {each.number for each in calls if each.scale == call.scale}
    return {benchmark.key(each): each for each in benchmark.judged if each.call in comparable}


def final_grades(benchmark: Benchmark, precedence: Sequence[str] = ()) -> dict[Pair, Assessment]:
    """Return the grade of each pair: of the first assessor of the precedence who graded the paper.

    Assessors that are not named follow in the order of their first assessment.
    """
    grades: dict[Pair, Assessment] = {}
    for name in dict.fromkeys([*precedence, *benchmark.assessments]):
        grades = {**benchmark.assessments.get(name, {}), **grades}
    return grades


class Missed(NamedTuple):
    """Dropped papers, graded and relevant ones among them, and the estimate with its 95 % interval."""

    dropped: int
    graded: int
    relevant: int
    estimate: float
    low: float
    high: float


def missed(
    pooled: Sequence[Pair], passed: Sequence[Pair], grades: Mapping[Pair, Assessment]
) -> Missed | None:
    """Estimate the relevant papers that the stages dropped, from the graded ones among the dropped papers.

    The interval is Wilson's, for a random sample. None if none of the dropped papers is graded.
    """
    dropped = set(pooled) - set(passed)
    graded = [bool(grades[pair].grade) for pair in dropped if pair in grades]
    if not graded:
        return None
    shares = sum(graded) / len(graded), *wilson(sum(graded), len(graded))
    return Missed(len(dropped), len(graded), sum(graded), *(share * len(dropped) for share in shares))


def _table(title: str, columns: Iterable[str], rows: Iterable[tuple[Any, ...]]) -> Table:
    return Table(title, tuple(columns), tuple(rows))


def stages_table(benchmark: Benchmark, stages: Sequence[Stage]) -> Table:
    """Return the number of papers at each stage, as SPAR's figure 5 has them."""
    pooled, questions, rows = len(stages[0].pairs), len(benchmark.selected), []
    for place, stage in enumerate(stages):
        papers = len(stage.pairs)
        row: list[Cell] = [stage.name, papers, 100 * papers / pooled if pooled else None]
        row += [stage.reduction if place else None, papers / questions if questions else None]
        row += [stage.judged if place else None, stage.by or None, stage.threshold]
        rows.append(tuple(row))
    columns = ("stage", "papers", "% of pool", "reduction %", "per question", "judged", "by", "threshold")
    return _table("Papers at each stage", columns, rows)


def methods_table(benchmark: Benchmark, passed: Iterable[Pair], grades: Mapping[Pair, Assessment]) -> Table:
    """Return the papers and relevant papers of each ranking, and the number that it alone found."""
    passed, relevant = set(passed), {pair for pair, each in grades.items() if each.grade}
    counts: dict[tuple[str, str], Counter[str]] = {}
    for query_id, candidates in benchmark.candidates.items():
        for candidate in candidates:
            pair, alone = (query_id, candidate.key), len(candidate.found) == 1
            named = {"papers": True, "found alone": alone, "passed": pair in passed}
            named |= {"relevant": pair in relevant, "relevant alone": alone and pair in relevant}
            for at in candidate.found:
                counts.setdefault((at.method, at.place), Counter()).update(named)
    names = ("papers", "found alone", "passed", "relevant", "relevant alone")
    rows = ((*ranking, *(of[name] for name in names)) for ranking, of in counts.items())
    return _table("Papers of each method", ("method", "searched in", *names), rows)


def agreement_table(assessments: Mapping[str, Mapping[Pair, Assessment]]) -> Table:
    """Return the agreement of each two assessors on the papers that both graded, if any."""
    rows = []
    for (first, one), (second, other) in combinations(assessments.items(), 2):
        if grades := [(one[pair].grade, other[pair].grade) for pair in one if pair in other]:
            relevant = [(grade > 0, again > 0) for grade, again in grades]
            both = [agreement(grades), agreement(relevant)]
            cells = (cell for each in both for cell in (100 * (each.share or 0), each.kappa))
            rows.append((f"{first}, {second}", len(grades), *cells))
    columns = ("assessors", "papers", "equal %", "kappa", "relevant: equal %", "relevant: kappa")
    return _table("Agreement of assessors on grades, and on relevant or not", columns, rows)


def assessors_table(assessments: Mapping[str, Mapping[Pair, Assessment]]) -> Table:
    """Return the number of papers with each grade, by assessor."""
    counts = {name: Counter(each.grade for each in of.values()) for name, of in assessments.items()}
    rows = ((name, of.total(), *(of[grade] for grade in GRADES)) for name, of in counts.items())
    columns = ("assessor", "graded", *(f"grade {grade}" for grade in GRADES))
    return _table("Grades of each assessor", columns, rows)


def funnel_figure(stages: Sequence[Stage]) -> Figure:
    """Return the number of papers at each stage as bars on a logarithmic scale (SPAR, figure 5)."""
    bars = []
    for place, stage in enumerate(stages):
        reduced = f"\n−{stage.reduction:.1f} %" if place and stage.of else ""
        bars.append((stage.name, len(stage.pairs), f"{len(stage.pairs):,}{reduced}"))
    panel = Panel("", "", "pairs of question and paper", bars=tuple(bars))
    return Figure("funnel", "Papers at each stage", (panel,))


NAME = "benchmark"  # in the manifest
DESCRIBED = ("title", "authors", "year", "doi", "url")  # fields of a paper in the provenance
DESCRIPTION = (
    "Questions were searched for by several methods, and the first papers of each were pooled. Judges and "
    "then persons reduced the pool (SPAR, section 4.2, figures 3 and 5). A paper counts once per question."
)


def write_benchmark(benchmark: Benchmark, out: Path, precedence: Sequence[str]) -> tuple[Outcome, list[str]]:
    """Write the finished benchmark; return its tables, and the names of the files."""
    if unknown := [name for name in precedence if name not in benchmark.assessments]:
        raise InvalidCall(f"{benchmark.path} has no assessor {unknown[0]!r}")
    grades = final_grades(benchmark, precedence)
    if not grades:
        raise InvalidCall(
            f"no paper of {benchmark.path} is graded", remedy="grade papers with `shrag benchmark confirm`"
        )
    if Path(os.path.realpath(out)).is_relative_to(os.path.realpath(benchmark.path)):
        raise InvalidCall(f"{out} is in the folder of the benchmark", remedy="name another folder")
    check_folder(out, NAME, [str(benchmark.path / FILE)])
    stages = all_stages(benchmark, grades)
    tables = (
        stages_table(benchmark, stages),
        methods_table(benchmark, stages[-2].pairs, grades),
        assessors_table(benchmark.assessments),
        agreement_table(benchmark.assessments),
    )
    filled = tuple(table for table in tables if table.rows)
    notes = tuple(_notes(benchmark, stages, grades))
    outcome = drawable(Outcome(filled, (funnel_figure(stages),), notes))
    # In the format of an experiment's manifest (`experiment diff`).
    record = {
        "experiment": NAME,
        "call": {"assessor": list(precedence)},
        "inputs": {FILE: file_record(benchmark.path / FILE)},
        "assessors": list(benchmark.assessments),
        "calls": list(map(asdict, benchmark.calls)),
        **software(models=False),
        "commit": checkout_commit(),
    }
    topics, qrels, provenance = _judgements(benchmark, stages, grades)
    files = {
        "topics.jsonl": json_lines(topics),
        "qrels.txt": "".join(qrels).encode(),
        "provenance.jsonl": json_lines(provenance),
    }
    return outcome, write_files(out, record, outcome, ("# Benchmark", DESCRIPTION), files)


def _notes(benchmark: Benchmark, stages: Sequence[Stage], grades: Mapping[Pair, Assessment]) -> Iterator[str]:
    pooled, passed, confirmed = stages[0], stages[-2], stages[-1]
    for stage in stages[:-1]:
        if stage.judged < stage.of:
            yield f"The stage {stage.name} is incomplete: {stage.judged:,} of {stage.of:,} papers are judged."
    if waiting := confirmed.of - confirmed.judged:
        yield f"{counted(waiting, 'paper')} that passed all stages are not graded; the qrels lack them."
    graded = {query_id for query_id, _ in grades}
    if missing := len(benchmark.selected) - len(graded):
        yield f"{counted(missing, 'question')} without a graded paper: left out of the topics."
    if without := sorted(graded - {query_id for (query_id, _), each in grades.items() if each.grade}):
        yield f"{counted(len(without), 'question')} without a relevant paper ({first_ids(without)})."
    if estimate := missed(pooled.pairs, passed.pairs, grades):
        found = len(confirmed.pairs)
        recall = 100 * found / (found + estimate.estimate) if found + estimate.estimate else 100.0
        yield (
            f"Of {estimate.dropped:,} dropped papers {estimate.graded:,} are graded, {estimate.relevant:,} "
            f"of them relevant. If these are a random sample, the stages dropped {estimate.estimate:,.0f} "
            f"relevant papers (95 % interval {estimate.low:,.0f} to {estimate.high:,.0f}), and kept "
            f"{recall:.1f} %."
        )
    else:
        yield (
            "No dropped paper is graded, so the share of relevant papers that the stages missed is unknown "
            "(`shrag benchmark confirm --dropped --sample N`)."
        )


def _judgements(
    benchmark: Benchmark, stages: Sequence[Stage], graded: Mapping[Pair, Assessment]
) -> tuple[list[Record], list[str], list[Record]]:
    """Return the topics with a grade, the lines of the qrels by question and id, and the provenance.

    Each record of a paper in the index has its grade.
    """
    pooled, judges = benchmark.pooled_from, [(stage, set(stage.pairs)) for stage in stages if stage.scores]
    with_grades = {query_id for query_id, _ in graded}
    topics, qrels, provenance = list[Record](), list[str](), list[Record]()
    for query_id, candidates in benchmark.candidates.items():
        grades: dict[str, int] = {}
        for candidate in candidates:
            pair, paper = (query_id, candidate.key), candidate.paper
            ids = candidate.judged_ids(pooled["index"], several=len(pooled["places"]) > 1)
            grade = graded[pair].grade if pair in graded else None
            if grade is not None:
                grades |= dict.fromkeys(ids, grade)
            record: dict[str, Any] = {"query_id": query_id, "ids": ids}
            record |= {name: value for name in DESCRIBED if (value := getattr(paper, name))}
            record["pooled"] = [asdict(at) for at in candidate.found]
            for stage, passed in judges:
                each = stage.scores.get(pair)
                record[stage.name] = each and {
                    "score": each.score,
                    "passed": pair in passed,
                    "judge": each.judge,
                    "by": each.by,
                    "prompt": each.prompt or None,
                    "prompt_version": each.version or None,
                    "reason": each.reason,
                }
            record["assessments"] = [
                {"assessor": name, "grade": of[pair].grade, "at": of[pair].at}
                for name, of in benchmark.assessments.items()
                if pair in of
            ]
            provenance.append({**record, "grade": grade})
        qrels += [f"{query_id} 0 {judged_id} {grade}\n" for judged_id, grade in sorted(grades.items())]
        if query_id in with_grades:
            known = benchmark.questions[query_id]
            topic = {"query_id": query_id, "question": known.question}
            topic |= {"language": language_of(known.question), "origin": known.origin}
            topics.append({**topic, "seed": known.seed} if known.seed else topic)
    return topics, qrels, provenance
