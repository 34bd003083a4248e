"""The commands of an evaluation: `eval run`, `eval score` and `eval compare`."""

import asyncio
import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from generator.finding.options import BUDGET_OPTIONS, STEP_OPTIONS
from indexer.option_sections import SectionedCommand, option_section
from indexer.options import chosen_index, json_option, name_option
from indexer.settings import IndexerSettings
from indexer.terminal import echo, echo_json, echo_lines
from retriever.methods import method_names
from retriever.options import synonyms_option

if TYPE_CHECKING:
    from eval.kinds_of_runs import KindOfRun
    from eval.manifest import RunManifest
    from eval.measures import Scores
    from eval.ranking import RankedTopics
    from eval.significance import Comparison
    from generator.llm import LanguageModel
    from generator.settings import HopsMode
    from indexer.ingest import Progress
    from indexer.papers import Unit
    from retriever.index import SearchIndex

# Options of `eval run` that each kind of run takes, and those that a search or an answer takes.
OF_ALL = frozenset({"topics", "name", "k", "unit", "keywords", "find", "out", "as_json"})
OF_SEARCHES = frozenset({"method", "title_weight", "synonyms", "hops", "way"})
DEFAULT_MEASURES = "nDCG@10 R@100 Success@5 Success@15"
SHOWN_IDS = 5
OVERLAP_DEPTH = 10

a_file = click.Path(exists=True, dir_okay=False, path_type=Path)
measures_option = click.option(
    "--measures",
    default=DEFAULT_MEASURES,
    show_default=True,
    help="As https://ir-measur.es names them, separated by spaces.",
)


@click.group("eval")
def evaluate() -> None:
    """Make runs of topics, score them with judgements, compare them."""


@evaluate.command("run", cls=SectionedCommand)
@click.argument("topics", type=a_file, metavar="TOPICS")
@option_section(
    "What is ranked",
    name_option,
    click.option("--method", type=click.Choice(method_names()), default="shrag", show_default=True),
    click.option(
        "--hops",
        type=click.Choice(["auto", "always", "never"]),
        default="never",
        show_default=True,
        help="Questions of several steps in two rounds of searches, with the model in its steps.",
    ),
    click.option("--way", metavar="WAY", help="Rank the evidence of the answer that this way gives."),
    click.option("--find", is_flag=True, help="Rank the papers that find-papers finds."),
    click.option(
        "-k",
        type=click.IntRange(1, 10_000),
        help="Hits a question; 100 unless given. Of a way the evidence, as the settings say; with --find 20.",
    ),
    click.option(
        "--unit",
        type=click.Choice(["passage", "paper"]),
        help="What was judged; a paper scores as its best passage. The index says which unless this is "
        "given.",
    ),
    click.option(
        "--keywords",
        type=click.Choice(["statistics", "model"]),
        default="statistics",
        show_default=True,
        help="Where keywords come from, and whether ways, hops and agents ask the model; it must be "
        "configured.",
    ),
    click.option(
        "--title-weight",
        type=click.FloatRange(0, 10),
        help="Of the title clause; 0 leaves it out. Else the settings'.",
    ),
    synonyms_option,
)
@option_section("With --find", *STEP_OPTIONS)
@option_section("Budgets of a question, with --find", *BUDGET_OPTIONS)
@option_section(
    "Output",
    click.option(
        "--out",
        required=True,
        type=click.Path(dir_okay=False, path_type=Path),
        help="The run file; beside it, unless it is a pipe, OUT.manifest.json says what it was made with.",
    ),
    json_option,
)
def run_command(  # noqa: PLR0913, PLR0917 - the options of the command
    topics: Path,
    name: str | None,
    method: str,
    k: int | None,
    unit: "Unit | None",
    keywords: str,
    title_weight: float | None,
    synonyms: Path | None,
    hops: "HopsMode",
    way: str | None,
    find: bool,
    out: Path,
    as_json: bool,
    **finding: Any,
) -> None:
    """Rank every question of TOPICS and write the run.

    TOPICS holds id, tab, question, or JSON lines {"query_id", "question"}. The run is TREC's: query_id Q0 id
    rank score tag. Nothing is left out of a search's run as a duplicate or as incomplete; the evidence of a
    way, and of hops with a model, is that of `ask`, and --find gives papers.
    """
    from eval.kinds_of_runs import ask_kind, find_kind, search_kind
    from eval.manifest import file_record, manifest_path
    from eval.runs import write_run
    from eval.topics import read_topics
    from generator.pipeline import Settings
    from indexer.output_files import check_output, is_standard_output, is_stream
    from indexer.settings import named_paths
    from retriever.index import open_index

    begun = time.perf_counter()
    answers = bool(way) or (hops != "never" and keywords == "model")
    _refuse_what_has_no_effect(find=find, answers=answers)
    settings, piped = Settings.from_environment(), is_stream(out)
    places, name = settings.indexer, chosen_index(name, settings.indexer)
    synonyms = synonyms or settings.retriever.synonyms
    settings = replace(settings, retriever=settings.retriever.model_copy(update={"synonyms": synonyms}))
    asked = [settings.generator] if keywords == "model" else []
    for place in (out,) if piped else (out, manifest_path(out)):
        check_output(place, (topics, places.home / name, *named_paths(places, settings.retriever, *asked)))
    topics_digest = hashlib.sha256()
    questions = read_topics(topics, topics_digest)
    model = settings.language_model() if asked else None
    with open_index(places, name, synonyms, follow=False) as index:  # one version for all topics
        inputs = {
            "topics": {"path": str(topics), "sha256": topics_digest.hexdigest()},
            "synonyms": file_record(synonyms) if synonyms else None,
        }
        judged = unit or index.manifest.unit
        if find:
            kind = find_kind(index, settings, finding, k=k, unit=judged)
        elif answers:
            kind = ask_kind(index, settings, way=way, method=method, hops=hops, k=k, unit=judged)
        else:
            kind = search_kind(
                index, settings, method=method, hops=hops, k=k, unit=judged, title_weight=title_weight
            )
        ranked, source = _rank_all(kind, questions, model)
    digest = write_run(out, ranked.run, tag=f"{name}-{kind.name}")
    seconds = time.perf_counter() - begun
    written = {"path": str(out), "sha256": digest}
    manifest = _manifest(index, kind, inputs, source, written, ranked, seconds)
    if not piped:
        manifest.write(out)
    _report_run(manifest, ranked, as_json=as_json, piped=piped, err=is_standard_output(out))


@evaluate.command("score")
@click.argument("qrels", type=a_file, metavar="QRELS")
@click.argument("run", type=a_file, metavar="RUN")
@measures_option
@click.option("--per-query", is_flag=True, help="Each question's values too.")
@json_option
def score_command(qrels: Path, run: Path, measures: str, per_query: bool, as_json: bool) -> None:
    """Score RUN by the judgements QRELS.

    QRELS has TREC's four columns or BEIR's three with a header. A judged question that is not in RUN
    counts 0.
    """
    from eval.measures import evaluate as evaluate_run
    from eval.qrels import read_qrels
    from eval.runs import read_run

    scores = evaluate_run(read_qrels(qrels), read_run(run), measures)
    _report_gaps(run, scores)
    if as_json:
        record: dict[str, Any] = dict(scores.means)
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


@evaluate.command("compare")
@click.argument("qrels", type=a_file, metavar="QRELS")
@click.argument("run_a", type=a_file, metavar="RUN_A")
@click.argument("run_b", type=a_file, metavar="RUN_B")
@measures_option
@json_option
def compare_command(qrels: Path, run_a: Path, run_b: Path, measures: str, as_json: bool) -> None:
    """Compare two runs: what RUN_B gains over RUN_A, and whether that is more than chance.

    p is the two-sided paired randomisation test's, the interval the bootstrap's of the mean difference, both
    with a fixed seed.
    """
    from eval.measures import evaluate as evaluate_run
    from eval.overlap import mean_overlap, mean_rank_biased_overlap
    from eval.qrels import read_qrels
    from eval.runs import read_run
    from eval.significance import compare
    from indexer.requests import counted

    judgements, first, second = read_qrels(qrels), read_run(run_a), read_run(run_b)
    scores_a, scores_b = evaluate_run(judgements, first, measures), evaluate_run(judgements, second, measures)
    _report_gaps(run_a, scores_a)
    _report_gaps(run_b, scores_b)
    compared = {
        measure: compare(list(values.values()), list(scores_b.per_query[measure].values()))
        for measure, values in scores_a.per_query.items()
    }
    questions = len(next(iter(scores_a.per_query.values())))
    record = {
        "questions": questions,
        "measures": {measure: comparison.as_record() for measure, comparison in compared.items()},
    }
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


def _refuse_what_has_no_effect(*, find: bool, answers: bool) -> None:
    """Refuse options of the call that the kind of run takes no account of."""
    context = click.get_current_context()
    given = {
        name
        for name in context.params
        if context.get_parameter_source(name) == click.core.ParameterSource.COMMANDLINE
    }
    of_finding = {option.name for option in context.command.params} - OF_ALL - OF_SEARCHES
    unused = (OF_SEARCHES if find else of_finding | ({"title_weight"} if answers else set())) & given
    if unused:
        shown = "--" + min(unused).replace("_", "-")
        where = "without --find" if unused & of_finding else "in this kind of run"
        raise click.UsageError(f"{shown} has no effect {'with --find' if find else where}")


def _rank_all(
    kind: "KindOfRun", questions: Mapping[str, str], model: "LanguageModel | None"
) -> "tuple[RankedTopics, dict[str, Any]]":
    """Rank all questions, with progress for a person; say where their keywords came from."""
    from eval.progress import question_bar

    async def ranked(progress: "Progress") -> "tuple[RankedTopics, dict[str, Any]]":
        if model is None:
            return await kind.rank(questions, None, progress)
        async with model:
            return await kind.rank(questions, model, progress)

    with question_bar() as progress:
        return asyncio.run(ranked(progress))


def _manifest(
    index: "SearchIndex",
    kind: "KindOfRun",
    inputs: Mapping[str, Any],
    keywords: dict[str, Any],
    written: dict[str, Any],
    ranked: "RankedTopics",
    seconds: float,
) -> "RunManifest":
    """Say what the run that was written just now was made with."""
    from eval.manifest import RunManifest, index_record, models_record, software

    counts = {"hits": sum(map(len, ranked.run.values())), "without_hits": ranked.without_hits}
    models = models_record(IndexerSettings(), ranked.applied)
    return RunManifest(
        index=index_record(index.manifest),
        method=kind.name,
        k=kind.k,
        unit=kind.unit,
        keywords=keywords,
        applied=ranked.applied | {"synonyms": inputs["synonyms"]},
        deviations=ranked.deviations,
        topics=inputs["topics"] | {"questions": len(ranked.run)},
        run=written | counts,
        started=(datetime.now(UTC) - timedelta(seconds=seconds)).isoformat(timespec="seconds"),
        seconds=round(seconds, 3),
        models=models,
        **software(models=bool(models)),
    )


def _report_run(
    manifest: "RunManifest", ranked: "RankedTopics", *, as_json: bool, piped: bool, err: bool
) -> None:
    """Tell what was made; on standard error where standard output holds the run."""
    from indexer.requests import counted

    run, questions, seconds = manifest.run, len(ranked.run), manifest.seconds
    if unusable := manifest.keywords.get("unusable"):
        asked = counted(len(unusable), "question")
        echo(
            f"keywords from statistics for {asked}: the model gave none of use ({_some(unusable)})", err=True
        )
    if as_json:
        made = {"method": manifest.method, "unit": manifest.unit, "seconds": seconds}
        echo_json({**run, "questions": questions, **made}, err=err)
        return
    rate = questions / seconds if seconds else 0
    echo(
        f"{run['path']}: {counted(questions, 'question')}, {counted(run['hits'], 'hit')}, "
        f"method {manifest.method}, judged unit {manifest.unit}, in {seconds:,.1f} s ({rate:,.0f} a second)",
        err=err,
    )
    if ranked.without_hits:
        echo(f"no hits for {counted(len(ranked.without_hits), 'question')}:", err=True)
        shown = len(ranked.without_hits) if piped else SHOWN_IDS
        for query_id, reason in list(ranked.without_hits.items())[:shown]:
            echo(f"  {query_id}: {reason}", err=True)
        if len(ranked.without_hits) > shown:
            echo(f"  … all in {run['path']}.manifest.json", err=True)


def _report_gaps(run: Path, scores: "Scores") -> None:
    from indexer.requests import counted

    gaps = (
        ("judged question", "not in it, counted as 0", scores.missing),
        ("question", "with nothing relevant judged, not counted", scores.without_relevant),
        ("question", "of it not judged, not counted", scores.unjudged),
    )
    for question, words, ids in gaps:
        if ids:
            echo(f"{run}: {counted(len(ids), question)} {words} ({_some(ids)})", err=True)


def _some(ids: Sequence[str]) -> str:
    return ", ".join(ids[:SHOWN_IDS]) + (", …" if len(ids) > SHOWN_IDS else "")


def _by_question(scores: "Scores") -> dict[str, dict[str, float]]:
    questions = next(iter(scores.per_query.values()))
    return {
        query_id: {measure: values[query_id] for measure, values in scores.per_query.items()}
        for query_id in questions
    }


def _show_comparison(compared: Mapping[str, "Comparison"]) -> None:
    from indexer.columns import table

    rows = [
        (measure, f"{comparison.mean_a:.4f}", f"{comparison.mean_b:.4f}", *comparison.as_cells())
        for measure, comparison in compared.items()
    ]
    header = ("measure", "A", "B", "B − A", "95 % interval", "p", "better / same / worse")
    echo_lines(table([header, *rows], words=1))
