"""The commands `eval score` and `eval compare`, which import neither search nor models."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from pydantic import BaseModel

from base.amounts import counted
from base.files.regular_files import read_regular
from base.terminal.columns import table
from base.terminal.output import echo, echo_json, echo_lines
from base.terminal.parameters import PathParameter
from eval.collection import Qrels, read_qrels
from eval.errors import BadRun
from eval.files import Input
from eval.measures import Scores, evaluate
from eval.runs import Ranking, read_run
from eval.statistics import compare, mean_overlap, mean_rank_biased_overlap
from eval.units import in_one_unit
from indexer.options import json_option

DEFAULT_MEASURES = "nDCG@10 R@100 Success@5 Success@15"
OVERLAP_DEPTH = 10
SHOWN_IDS = 5

MANIFEST_SUFFIX = ".manifest.json"
MOST_BYTES = 256_000_000  # largest manifest

FILE = PathParameter(exists=True, dir_okay=False)

measures_option = click.option(
    "--measures",
    default=DEFAULT_MEASURES,
    show_default=True,
    help="Names from https://ir-measur.es, separated by spaces.",
)


class _File(BaseModel):
    sha256: str
    questions: int = 0


class ReadManifest(BaseModel):
    """The part of a run's manifest that scores and comparisons use."""

    run: _File
    topics: _File
    failed: dict[str, str] = {}


def manifest_path(run_path: Path) -> Path:
    """Return the path of a run's manifest."""
    return run_path.with_name(run_path.name + MANIFEST_SUFFIX)


def read_manifest(run_path: Path, digest: str) -> ReadManifest | None:
    """Return the manifest of a run with this SHA-256; None if there is none."""
    try:
        read = ReadManifest.model_validate_json(read_regular(manifest_path(run_path), MOST_BYTES))
    except (OSError, ValueError):
        return None
    return read if read.run.sha256 == digest else None


@click.command("score")
@click.argument("qrels", type=FILE, metavar="QRELS")
@click.argument("run", type=FILE, metavar="RUN")
@measures_option
@click.option("--per-query", is_flag=True, help="Also print the values of each question.")
@json_option
def score_command(qrels: Path, run: Path, measures: str, per_query: bool, as_json: bool) -> None:
    """Score RUN by the judgements QRELS.

    QRELS has TREC's four columns or BEIR's three with a header. A judged question that is not in RUN
    counts 0, unless the manifest of RUN lists it as failed: then it is left out. If one file names papers
    and the other passages, both are scored by paper.
    """
    _, _, [scores], failed = _scored(qrels, [run], measures)
    by_question = {
        query_id: {measure: values[query_id] for measure, values in scores.per_query.items()}
        for query_id in next(iter(scores.per_query.values()))
    }
    if as_json:
        record: dict[str, Any] = dict(scores.means)
        if failed:
            record["left_out"] = list(failed)
        if per_query:
            record["per_query"] = by_question
        echo_json(record)
        return
    for query_id, values in by_question.items() if per_query else ():
        echo("  ".join([query_id, *(f"{measure} {value:.4f}" for measure, value in values.items())]))
    width = max(map(len, scores.means))
    for measure, mean in scores.means.items():
        echo(f"{measure:{width}}  {mean:.4f}")


@click.command("compare")
@click.argument("qrels", type=FILE, metavar="QRELS")
@click.argument("run_a", type=FILE, metavar="RUN_A")
@click.argument("run_b", type=FILE, metavar="RUN_B")
@measures_option
@json_option
def compare_command(qrels: Path, run_a: Path, run_b: Path, measures: str, as_json: bool) -> None:
    """Compare two runs: the gain of RUN_B over RUN_A, and its significance.

    p is that of the two-sided paired randomisation test, the interval that of the bootstrap of the mean
    difference, both with a fixed seed. Questions that failed in one of the runs are left out of both.
    """
    [first, second], [made_a, made_b], scores, failed = _scored(qrels, [run_a, run_b], measures)
    if made_a and made_b and made_a.topics.sha256 != made_b.topics.sha256:
        asked = [counted(made.topics.questions, "question") for made in (made_a, made_b)]
        echo(f"the runs are of different topics: {run_a} of {asked[0]}, {run_b} of {asked[1]}", err=True)
    compared = {
        measure: compare(list(values.values()), list(scores[1].per_query[measure].values()))
        for measure, values in scores[0].per_query.items()
    }
    questions = len(next(iter(scores[0].per_query.values())))
    record: dict[str, Any] = {
        "questions": questions,
        "measures": {measure: comparison.as_record() for measure, comparison in compared.items()},
    }
    if failed:
        record["left_out"] = list(failed)
    if first or second:
        record[f"overlap@{OVERLAP_DEPTH}"] = mean_overlap(first, second, OVERLAP_DEPTH)
        record["rank_biased_overlap"] = mean_rank_biased_overlap(first, second)
    if as_json:
        echo_json(record)
        return
    rows = [
        (measure, f"{each.a:.4f}", f"{each.b:.4f}", *each.as_cells()) for measure, each in compared.items()
    ]
    header = ("measure", "A", "B", "B − A", "95 % interval", "p", "better / same / worse")
    echo_lines(table([header, *rows], words=1))
    echo(f"{counted(questions, 'question')}; A is {run_a}, B {run_b}")
    if first or second:
        echo(
            f"first {OVERLAP_DEPTH} in common {record[f'overlap@{OVERLAP_DEPTH}']:.3f}, "
            f"rank-biased overlap (p = .9) {record['rank_biased_overlap']:.3f}"
        )


def _scored(
    qrels: Path, paths: Sequence[Path], measures: str
) -> tuple[list[Mapping[str, Ranking]], list[ReadManifest | None], list[Scores], dict[str, str]]:
    """Score runs over the questions that failed in none of them, and report gaps and a conversion.

    Returns the runs in the unit of the scores, their manifests if they fit, the scores, and the questions
    that failed.

    Raises:
        BadRun, BadQrels: with file and line; also if a run is empty and no manifest says that nothing was
            found.
    """
    judgements, runs, manifests = read_qrels(qrels), list[Mapping[str, Ranking]](), []
    for path in paths:
        run = read_run(file := Input(path))
        manifest = read_manifest(path, file.sha256)
        if not run and not manifest:
            raise BadRun(f"{path}: it contains no hits")
        runs.append(run)
        of_another_run = manifest and manifest.failed.keys() & run.keys()
        manifests.append(None if of_another_run else manifest)
    judgements, runs, different = in_one_unit(judgements, runs)
    if different:
        ranked, judged = different
        echo(f"{ranked} is ranked, {judged} is judged: scored by paper, best passage", err=True)
    failed = {query_id: why for each in manifests if each for query_id, why in each.failed.items()}
    if not all(failed.keys().isdisjoint(run) for run in runs):
        runs = [{key: of for key, of in run.items() if key not in failed} for run in runs]
    scores = [evaluate(judgements, run, measures, left_out=failed) for run in runs]
    for path, ranked_by, of, manifest in zip(paths, runs, scores, manifests, strict=True):
        _report_gaps(path, of, list(manifest.failed if manifest else ()))
        _report_strangers(path, ranked_by, judgements, of)
    return runs, manifests, scores, failed


def _report_gaps(run: Path, scores: Scores, failed: Sequence[str]) -> None:
    gaps = (
        ("question", "failed in the run, left out", failed),
        ("judged question", "not in the run, counted as 0", scores.missing),
        ("question", "with nothing relevant judged, not counted", scores.without_relevant),
        ("question", "not judged, not counted", scores.unjudged),
    )
    for question, words, ids in gaps:
        if ids:
            echo(f"{run}: {counted(len(ids), question)} {words} ({first_ids(ids)})", err=True)


def _report_strangers(path: Path, run: Mapping[str, Ranking], judgements: Qrels, scores: Scores) -> None:
    """Print a note if all scores are 0 and no judged id is ranked, so that the ids are of different kinds."""
    if any(any(values.values()) for values in scores.per_query.values()):
        return
    hits = [(query_id, found) for query_id, ranking in run.items() for found, _ in ranking]
    if hits and not any(found in judgements.get(query_id, ()) for query_id, found in hits):
        judged = next(iter(next(iter(judgements.values()))))
        echo(
            f"{path}: no judged id is ranked for any question. The run ranks {hits[0][1]}, …, the qrels "
            f"judge {judged}, …; make the run from the judged corpus, in the judged unit (eval run --unit)",
            err=True,
        )


def first_ids(ids: Sequence[str]) -> str:
    """Join the first `SHOWN_IDS` ids, with … if there are more."""
    return ", ".join(ids[:SHOWN_IDS]) + (", …" if len(ids) > SHOWN_IDS else "")
