"""The finished benchmark: topics, qrels, provenance, report and manifest in a folder.

| file | content |
|---|---|
| topics.jsonl | the selected questions that persons judged papers for |
| qrels.txt | grades of persons, in TREC's four columns |
| provenance.jsonl | each pooled paper: method and rank, scores of the judges, grades of the assessors |
| report.md, report.html | tables, figure and notes |
| figures/funnel.svg, funnel.png | papers at each stage |
| metrics.json | the values of the tables |
| manifest.json | commands with index, models and versions; SHA-256 of each input |
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from base.amounts import counted
from base.errors import InvalidCall
from base.records import adapter
from base.versions import checkout_commit
from eval.experiments.experiment import Outcome
from eval.experiments.folder import FORMAT, check_folder, json_lines, write_files
from eval.experiments.report import Report
from eval.judging.candidates import Candidate
from eval.judging.folder import ASSESSMENTS, ENDING, KINDS, MARKER, Benchmark
from eval.judging.records import CallRecord, Judged, Pair
from eval.judging.stages import assessors, missed
from eval.judging.tables import (
    Results,
    agreement_table,
    assessors_table,
    funnel_figure,
    methods_table,
    questions_table,
    scores_table,
    stages_table,
)
from eval.manifest import file_record, software
from eval.score_commands import first_ids
from indexer.corpora.papers import language_of

NAME = "benchmark"  # in the manifest
TITLE = "Benchmark"
DESCRIPTION = (
    "Questions were searched for by several methods, and the first papers of each were pooled. Judges and "
    "then persons reduced the pool (SPAR, section 4.2, figures 3 and 5). A paper counts once per question."
)


def write_benchmark(benchmark: Benchmark, out: Path, precedence: Sequence[str]) -> tuple[Outcome, list[str]]:
    """Write the finished benchmark; return its tables, and the names of the files.

    Raises:
        InvalidCall: the folder has other files or is inside that of the benchmark; or no paper is graded.
        OutputNotWritten: the disk is full, or permission is missing.
    """
    results = Results.of(benchmark, precedence)
    if unknown := [name for name in precedence if name not in benchmark.assessments]:
        raise InvalidCall(f"{benchmark.path} has no assessor {unknown[0]!r}")
    if not results.grades:
        raise InvalidCall(
            f"no paper of {benchmark.path} is graded", remedy="grade papers with `shrag benchmark confirm`"
        )
    if Path(os.path.realpath(out)).is_relative_to(os.path.realpath(benchmark.path)):
        raise InvalidCall(f"{out} is in the folder of the benchmark", remedy="name another folder")
    check_folder(out, NAME, [str(benchmark.path / MARKER)])
    outcome = _outcome(results)
    record = _record(benchmark, precedence)
    report = Report(TITLE, [DESCRIPTION], _made_from(record))
    files = {
        "topics.jsonl": json_lines(_topics(results)),
        "qrels.txt": "".join(_qrels(results)).encode(),
        "provenance.jsonl": json_lines(_provenance(results)),
    }
    return outcome, write_files(out, record, outcome, report, files)


def _outcome(results: Results) -> Outcome:
    benchmark = results.benchmark
    tables = (
        stages_table(results),
        methods_table(results),
        scores_table(results),
        assessors_table(benchmark),
        agreement_table(benchmark),
        questions_table(results),
    )
    filled = tuple(table for table in tables if table.rows and len(table.columns) > 2)  # noqa: PLR2004
    return Outcome(filled, (funnel_figure(results),), tuple(_notes(results)))


def _notes(results: Results) -> Iterator[str]:
    benchmark, stages = results.benchmark, results.stages
    for stage in stages:
        if not stage.is_complete:
            yield f"The stage {stage.name} is incomplete: {stage.judged:,} of {stage.of:,} papers are judged."
    if waiting := len(stages[-1].pairs) - results.confirmed.judged:
        yield f"{counted(waiting, 'paper')} that passed all stages are not graded; the qrels lack them."
    graded = {query_id for query_id, _ in results.grades}
    if missing := len(benchmark.selected) - len(graded):
        yield f"{counted(missing, 'question')} without a graded paper: left out of the topics."
    if without := sorted(graded - {query_id for query_id, _ in results.relevant}):
        yield f"{counted(len(without), 'question')} without a relevant paper ({first_ids(without)})."
    if estimate := missed(stages[0].pairs, stages[-1].pairs, results.grades):
        found = len(results.confirmed.pairs)
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


def _topics(results: Results) -> Iterator[dict[str, Any]]:
    graded = {query_id for query_id, _ in results.grades}
    for query_id, question in results.benchmark.selected.items():
        if query_id in graded:
            known = results.benchmark.questions[query_id]
            seed = {"seed": known.seed} if known.seed else {}
            topic = {"query_id": query_id, "question": question, "language": language_of(question)}
            yield {**topic, "origin": known.origin, **seed}


def _qrels(results: Results) -> Iterator[str]:
    """Yield the lines of the qrels, by question and id; each record of a paper in the index has its grade."""
    for query_id, candidates in results.benchmark.candidates.items():
        grades = {
            judged_id: graded.grade
            for candidate in candidates
            if (graded := results.grades.get((query_id, candidate.key)))
            for judged_id in _judged_ids(results.benchmark, candidate)
        }
        for judged_id, grade in sorted(grades.items()):
            yield f"{query_id} 0 {judged_id} {grade}\n"


def _judged_ids(benchmark: Benchmark, candidate: Candidate) -> list[str]:
    return candidate.judged_ids(benchmark.pooled_from.index, several=len(benchmark.pooled_from.places) > 1)


def _provenance(results: Results) -> Iterator[dict[str, Any]]:
    benchmark = results.benchmark
    passed = {stage.name: set(stage.pairs) for stage in results.stages}
    for query_id, candidates in benchmark.candidates.items():
        for candidate in candidates:
            pair: Pair = (query_id, candidate.key)
            paper, graded = candidate.paper, results.grades.get(pair)
            names = ("title", "authors", "year", "doi", "url")
            yield {
                "query_id": query_id,
                "ids": _judged_ids(benchmark, candidate),
                **{name: value for name in names if (value := getattr(paper, name))},
                "pooled": [asdict(at) for at in candidate.found],
                **{
                    stage: _judgement(scores[pair], passed=pair in passed[stage]) if pair in scores else None
                    for stage, scores in results.scores.items()
                },
                "assessments": [
                    {"assessor": name, "grade": lines[pair].grade, "at": lines[pair].at}
                    for name in assessors(benchmark)
                    if pair in (lines := benchmark.assessments[name])
                ],
                "grade": graded.grade if graded else None,
            }


def _judgement(judged: Judged, *, passed: bool) -> dict[str, Any]:
    return {
        "score": judged.score,
        "passed": passed,
        "judge": judged.judge,
        "by": judged.by,
        "prompt": judged.prompt or None,
        "prompt_version": judged.version or None,
        "reason": judged.reason,
    }


def _record(benchmark: Benchmark, precedence: Sequence[str]) -> dict[str, Any]:
    """Return the manifest without the results, in the format of an experiment's (`experiment diff`)."""
    names = [MARKER, *KINDS, *(f"{ASSESSMENTS}/{name}{ENDING}" for name in benchmark.assessments)]
    files = [name for name in names if (benchmark.path / name).exists()]
    return {
        "format": FORMAT,
        "experiment": NAME,
        "call": {"assessor": list(precedence)},
        "inputs": {name: file_record(benchmark.path / name) for name in files},
        "seed": benchmark.marker.seed,
        "assessors": assessors(benchmark),
        "calls": adapter(list[CallRecord]).dump_python(benchmark.calls, mode="json"),
        **software(models=False),
        "commit": checkout_commit(),
    }


def _made_from(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the inputs of the benchmark by name, for the page."""
    made: dict[str, str] = {}
    for call in record["calls"]:
        made_with = call["made_with"]
        if "index" in made_with:
            index = made_with["index"]
            made["index"] = f"{index['name']}, version {index['version']}, {index['papers']:,} papers"
        if "sources" in made_with:
            made["sources"] = ", ".join(made_with["sources"])
        if "model" in made_with:
            made[f"model of {call['step']}"] = made_with["model"]
    return {
        **made,
        "assessors": ", ".join(record["assessors"]),
        "seed": str(record["seed"]),
        "shrag": record["shrag"],
    }
