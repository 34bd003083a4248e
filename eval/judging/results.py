"""The finished benchmark: topics, qrels, provenance, report and manifest in a folder.

docs/how-to/building-a-benchmark.md describes the files.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from base.amounts import counted
from base.errors import InvalidCall
from base.versions import checkout_commit
from eval.experiments.comparing import Record
from eval.experiments.report import Outcome, drawable
from eval.experiments.running import check_folder, json_lines, write_files
from eval.judging.benchmark import FILE, Assessment, Benchmark, Pair
from eval.judging.stages import (
    Stage,
    agreement_table,
    all_stages,
    assessors_table,
    final_grades,
    funnel_figure,
    methods_table,
    missed,
    stages_table,
)
from eval.manifest import file_record, software
from eval.score_commands import first_ids
from indexer.corpora.papers import language_of

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
        if any(graded_id == query_id for graded_id, _ in graded):
            known = benchmark.questions[query_id]
            topic = {"query_id": query_id, "question": known.question}
            topic |= {"language": language_of(known.question), "origin": known.origin}
            topics.append({**topic, "seed": known.seed} if known.seed else topic)
    return topics, qrels, provenance
