"""The commands `eval score` and `eval compare`, which import neither search nor models."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from base.terminal.output import echo, echo_json, echo_lines
from base.terminal.parameters import PathParameter
from indexer.options import json_option

if TYPE_CHECKING:
    from eval.manifest_reader import ReadManifest
    from eval.measures import Scores
    from eval.qrels import Qrels
    from eval.run_reader import ReadRun
    from eval.runs import Ranking
    from eval.significance import Comparison

DEFAULT_MEASURES = "nDCG@10 R@100 Success@5 Success@15"
OVERLAP_DEPTH = 10
SHOWN_IDS = 5

FILE = PathParameter(exists=True, dir_okay=False)

measures_option = click.option(
    "--measures",
    default=DEFAULT_MEASURES,
    show_default=True,
    help="Names from https://ir-measur.es, separated by spaces.",
)


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
    from eval.measures import evaluate as evaluate_run
    from eval.qrels import read_qrels

    judgements, (as_read, manifest) = read_qrels(qrels), _read_run(run)
    judgements, [ranked] = _in_one_unit(judgements, [(run, as_read, manifest)])
    failed = manifest.failed if manifest else {}
    scores = evaluate_run(judgements, ranked, measures, left_out=failed)
    _report_gaps(run, scores, failed)
    _report_strangers(run, ranked, judgements, scores)
    if as_json:
        record: dict[str, Any] = dict(scores.means)
        if failed:
            record["left_out"] = list(failed)
        if per_query:
            record["per_query"] = _by_question(scores)
        echo_json(record)
        return
    if per_query:
        for query_id, values in _by_question(scores).items():
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
    from base.amounts import counted
    from eval.measures import evaluate as evaluate_run
    from eval.overlap import mean_overlap, mean_rank_biased_overlap
    from eval.qrels import read_qrels
    from eval.significance import compare

    judgements = read_qrels(qrels)
    (read_a, made_a), (read_b, made_b) = _read_run(run_a), _read_run(run_b)
    judgements, converted = _in_one_unit(judgements, [(run_a, read_a, made_a), (run_b, read_b, made_b)])
    failed_a, failed_b = (made.failed if made else {} for made in (made_a, made_b))
    failed = failed_a | failed_b
    first, second = (
        {query_id: ranking for query_id, ranking in run.items() if query_id not in failed}
        for run in converted
    )
    scores_a = evaluate_run(judgements, first, measures, left_out=failed)
    scores_b = evaluate_run(judgements, second, measures, left_out=failed)
    _report_gaps(run_a, scores_a, failed_a)
    _report_gaps(run_b, scores_b, failed_b)
    _report_strangers(run_a, first, judgements, scores_a)
    _report_strangers(run_b, second, judgements, scores_b)
    if made_a and made_b and made_a.topics.sha256 != made_b.topics.sha256:
        asked = [counted(made.topics.questions, "question") for made in (made_a, made_b)]
        echo(f"the runs are of different topics: {run_a} of {asked[0]}, {run_b} of {asked[1]}", err=True)
    compared = {
        measure: compare(list(values.values()), list(scores_b.per_query[measure].values()))
        for measure, values in scores_a.per_query.items()
    }
    questions = len(next(iter(scores_a.per_query.values())))
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
    _show_comparison(compared)
    echo(f"{counted(questions, 'question')}; A is {run_a}, B {run_b}")
    if first or second:
        echo(
            f"first {OVERLAP_DEPTH} in common {record[f'overlap@{OVERLAP_DEPTH}']:.3f}, "
            f"rank-biased overlap (p = .9) {record['rank_biased_overlap']:.3f}"
        )


def _read_run(path: Path) -> "tuple[ReadRun, ReadManifest | None]":
    """Read a run, and its manifest; None if there is none, or a question listed as failed is ranked.

    Raises:
        BadRun: as `read_run`; also if the file is empty and no manifest says that nothing was found.
    """
    from eval.errors import BadRun
    from eval.manifest_reader import read_manifest
    from eval.run_reader import read_run

    digest = hashlib.sha256()
    run = read_run(path, digest)
    manifest = read_manifest(path, digest.hexdigest())
    if not run and not manifest:
        raise BadRun(f"{path}: it contains no hits")
    return run, None if manifest and manifest.failed.keys() & run.keys() else manifest


def _in_one_unit(
    judgements: "Qrels", runs: "Sequence[tuple[Path, ReadRun, ReadManifest | None]]"
) -> "tuple[Qrels, list[Mapping[str, Ranking]]]":
    """Return judgements and runs in one unit, and print notes about conversions."""
    from eval.units import MadeRun, in_one_unit

    made = [MadeRun(str(path), run, manifest.unit if manifest else "") for path, run, manifest in runs]
    judgements, converted, notes = in_one_unit(judgements, made)
    echo_lines(notes, err=True)
    return judgements, converted


def _report_gaps(run: Path, scores: "Scores", failed: Mapping[str, str]) -> None:
    from base.amounts import counted

    gaps = (
        ("question", "failed in the run, left out", list(failed)),
        ("judged question", "not in the run, counted as 0", scores.missing),
        ("question", "with nothing relevant judged, not counted", scores.without_relevant),
        ("question", "not judged, not counted", scores.unjudged),
    )
    for question, words, ids in gaps:
        if ids:
            echo(f"{run}: {counted(len(ids), question)} {words} ({first_ids(ids)})", err=True)
    if any(ids for _, _, ids in gaps):
        scored = next(iter(scores.per_query.values()))
        echo(f"{run}: scored over {counted(len(scored), 'question')}", err=True)


def _report_strangers(
    path: Path, run: "Mapping[str, Ranking]", judgements: "Qrels", scores: "Scores"
) -> None:
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


def _by_question(scores: "Scores") -> dict[str, dict[str, float]]:
    questions = next(iter(scores.per_query.values()))
    return {
        query_id: {measure: values[query_id] for measure, values in scores.per_query.items()}
        for query_id in questions
    }


def _show_comparison(compared: Mapping[str, "Comparison"]) -> None:
    from base.terminal.columns import table

    rows = [
        (measure, f"{comparison.mean_a:.4f}", f"{comparison.mean_b:.4f}", *comparison.as_cells())
        for measure, comparison in compared.items()
    ]
    header = ("measure", "A", "B", "B − A", "95 % interval", "p", "better / same / worse")
    echo_lines(table([header, *rows], words=1))
