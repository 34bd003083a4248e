"""The command `eval run`: a run from its topics to its files, which resumes after an interruption."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from base.amounts import counted
from base.calls import Section
from base.files.output_files import check_output, is_standard_output, is_stream, write_output
from base.progress import Progress
from base.terminal.call_options import field_options, given_options, made_call
from base.terminal.output import echo, echo_json, echo_lines, json_text, time_with_start
from base.terminal.parameters import FiniteRange, PathParameter, SectionedCommand, option_section
from eval.collection import read_topics
from eval.files import Input
from eval.kept import keeping, kept_path
from eval.manifest import file_record, made_with, search_record, software
from eval.places import Places, open_places
from eval.progress import question_bar
from eval.ranking import (
    KindOfRun,
    RankedTopic,
    ask_kind,
    configuration,
    find_kind,
    rank_all,
    read_recorded,
    search_kind,
    strategist_record,
)
from eval.runs import write_run
from eval.score_commands import SHOWN_IDS, manifest_path
from generator.finding.calls import FindCall, FindOptions
from generator.pipeline import Settings
from generator.settings import HopsMode
from indexer.corpora.papers import Unit
from indexer.options import json_option
from indexer.settings import named_paths
from retriever.calls import SearchCall
from retriever.options import COMPLETIONS, chosen_place, synonyms_option
from retriever.strategy import Strategy

# Fields of the options that only runs by `find-papers` use, or only runs by searches and answers.
FINDING_OPTIONS = (*(name for name in FindOptions.model_fields if name != "papers"), "pure")
BUDGETS = tuple(name for name in FindCall.model_fields if name.startswith("max_"))
SEARCH_OPTIONS = frozenset({"method", "title_weight", "synonyms", "hops", "way", "strategies"})
PARTIAL = 1  # exit code if a question failed

FILE = PathParameter(exists=True, dir_okay=False)


@click.command("run", cls=SectionedCommand)
@click.argument("topics", type=FILE, metavar="TOPICS")
@option_section(Section.PLACE, *field_options(SearchCall, ("index", "sources"), COMPLETIONS))
@option_section(
    "What is ranked",
    *field_options(SearchCall, ("method",)),
    click.option(
        "--strategies",
        type=FILE,
        metavar="FILE",
        help="Search by the recorded strategies in FILE: JSON lines with query_id.",
    ),
    click.option(
        "--strategist",
        type=click.Choice(["statistics", "model"]),
        default="statistics",
        show_default=True,
        help="Origin of strategies; model also lets ways and agents use the configured model.",
    ),
    click.option(
        "--hops",
        type=click.Choice(["auto", "never"]),
        default="never",
        show_default=True,
        help="Rank the evidence of answers in the steps of the strategies.",
    ),
    click.option("--way", metavar="WAY", help="Rank the evidence of the answer by this way."),
    click.option("--find", is_flag=True, help="Rank the papers that find-papers finds."),
    click.option(
        "-k",
        type=click.IntRange(1, 10_000),
        help="Hits per question; default 100, with --way the evidence of the settings, with --find 20.",
    ),
    click.option(
        "--unit",
        type=click.Choice(["passage", "paper"]),
        help="Unit of judgement; a paper scores as its best passage. Default: the unit of the index.",
    ),
    click.option(
        "--title-weight",
        type=FiniteRange(0, 10),
        help="Weight of the title clause; 0 leaves it out. Default: the settings.",
    ),
    synonyms_option,
)
@option_section("With --find", *field_options(FindCall, FINDING_OPTIONS))
@option_section("Budgets per question, with --find", *field_options(FindCall, BUDGETS))
@option_section(
    "Output",
    click.option(
        "--out",
        required=True,
        type=PathParameter(dir_okay=False),
        help="The run file; its inputs are written to OUT.manifest.json, unless OUT is a pipe.",
    ),
    click.option(
        "--restart", is_flag=True, help="Rank all again, and ignore kept questions of an unfinished run."
    ),
    json_option,
)
def run_command(  # noqa: PLR0913, PLR0917 - the options of the command
    topics: Path,
    index: str | None,
    sources: tuple[str, ...],
    method: str,
    k: int | None,
    unit: Unit | None,
    strategies: Path | None,
    strategist: str,
    title_weight: float | None,
    synonyms: Path | None,
    hops: HopsMode,
    way: str | None,
    find: bool,
    out: Path,
    restart: bool,
    as_json: bool,
    **finding: Any,
) -> None:
    """Rank every question of TOPICS and write the run.

    TOPICS contains id, tab, question, or JSON lines {"query_id", "question"}. The run has TREC's format:
    query_id Q0 id rank score tag. A search's run includes duplicates and incomplete papers; the evidence of a
    way is the same as in `ask`, and --find returns papers.

    Each ranked question is kept in OUT.kept.jsonl: after Ctrl-C, a kill or an error the same command resumes.
    If a source, the engine or the model fails for some questions, the run is written without them, the exit
    code is 1, and the same command repeats only those.
    """
    answers = bool(way) or hops != "never"
    _refuse_unused_options(find=find, answers=answers)
    asks_model = strategist == "model"
    if strategies and asks_model:
        raise click.UsageError("--strategies excludes --strategist model: recorded strategies need no model")
    if hops != "never" and not (strategies or asks_model):
        raise click.UsageError("--hops needs strategies with steps: --strategies FILE or --strategist model")
    papers = {"papers": k} if find and k else {}
    found_by = made_call(FindCall, {"question": "?", **finding, **papers}, {"papers": "-k"})
    settings, piped = Settings.from_environment(), is_stream(out)
    places, name = settings.indexer, chosen_place(index, sources, settings.indexer)
    synonyms = synonyms or settings.retriever.synonyms
    settings = replace(settings, retriever=settings.retriever.model_copy(update={"synonyms": synonyms}))
    asked = [settings.generator] if asks_model else []
    inputs = (topics, strategies, *([places.home / name] if name else []), *map(Path, sources))
    for place in (out,) if piped else (out, manifest_path(out), kept_path(out)):
        check_output(place, (*inputs, *named_paths(places, settings.retriever, *asked)))
    questions = read_topics(file := Input(topics))
    recorded, strategies_file = read_recorded(strategies, questions) if strategies else ({}, None)

    def kind_of(of: Places) -> KindOfRun:
        judged = unit or of.unit
        if find:
            return find_kind(of, settings, found_by.request(), unit=judged)
        if answers:
            return ask_kind(of, settings, recorded, way=way, method=method, hops=hops, k=k, unit=judged)
        return search_kind(of, settings, recorded, method=method, k=k, unit=judged, title_weight=title_weight)

    with question_bar() as progress:
        run = make_run(
            out,
            name,
            sources,
            kind_of,
            questions,
            file,
            settings,
            recorded,
            strategies_file,
            progress,
            asks_model=asks_model,
            restart=restart,
        )
        manifest = asyncio.run(run)
    _report_run(manifest, as_json=as_json, piped=piped, err=is_standard_output(out))
    if manifest["failed"]:
        raise click.exceptions.Exit(PARTIAL)


async def make_run(  # noqa: PLR0913, PLR0917 - the inputs of a run
    out: Path,
    name: str,
    sources: Sequence[str],
    kind_of: Callable[[Places], KindOfRun],
    questions: Mapping[str, str],
    topics_file: Input,
    settings: Settings,
    recorded: Mapping[str, Strategy],
    strategies_file: Input | None,
    progress: Progress,
    *,
    asks_model: bool,
    restart: bool,
) -> dict[str, Any]:
    """Rank the questions that are not kept yet, write the run and its manifest, and return the manifest.

    `name` is that of the index, "" with sources alone. A pipe has no manifest and keeps no questions.
    Manifests of repeated runs differ in `started` and `seconds` only.
    """
    begun, piped = time.perf_counter(), is_stream(out)
    model = settings.language_model() if asks_model else None
    async with AsyncExitStack() as opened:
        of = await opened.enter_async_context(open_places(name, sources, settings))
        synonyms = settings.retriever.synonyms
        synonyms_file = file_record(synonyms) if synonyms else None
        kind = kind_of(of)
        if model:
            await opened.enter_async_context(model)
        llm = model.settings if model else None
        inputs = {
            "topics": topics_file.sha256,
            "synonyms": (synonyms_file or {}).get("sha256"),
            "strategies": strategies_file.sha256 if strategies_file else None,
        }
        request = {"method": kind.name, "k": kind.k, "unit": kind.unit, **kind.request}
        index = {**of.record, "published": of.index.manifest.published if of.index else ""}
        made = made_with(index, settings, llm, request=request, inputs=inputs)
        place = None if piped else kept_path(out)
        kept = opened.enter_context(keeping(place, made, RankedTopic, len(questions), restart=restart))

        async def rank_one(query_id: str, question: str) -> RankedTopic:
            topic = await kind.rank(query_id, question, model)
            return replace(topic, failures=(*topic.failures, *of.failures()))

        at_once = llm.concurrency if llm and kind.asks_at_once else 1
        topics = await rank_all(questions, rank_one, kept, at_once=at_once, progress=progress)
        run = {query_id: topic.ranking for query_id, topic in topics.items() if topic.ranking is not None}
        digest = write_run(out, run, tag=f"{of.record['name']}-{kind.name}")
        applied, deviations = configuration(topics)
        # The models that affected the order.
        used = {"encoder": applied.get("vectors"), "reranker": applied.get("reranker")}
        models = {name: record for name, record in search_record(settings).items() if used.get(name)}
        versions = software(models=bool(models))
        manifest = {
            "shrag": versions.pop("shrag"),
            "index": of.record,
            "method": kind.name,
            "k": kind.k,
            "unit": kind.unit,
            "strategist": strategist_record(recorded, strategies_file, llm, topics),
            "applied": applied | kind.applied | {"synonyms": synonyms_file},
            "models": models,
            "deviations": deviations,
            "failed": {key: "; ".join(of.failures) for key, of in topics.items() if of.ranking is None},
            "topics": {**topics_file.record, "questions": len(topics)},
            "run": {
                "path": str(out),
                "sha256": digest,
                "hits": sum(map(len, run.values())),
                "without_hits": {key: topic.reason for key, topic in topics.items() if topic.reason},
            },
            **versions,
            "started": kept.started,
            "seconds": round(time.perf_counter() - begun, 3),
        }
        if not piped:
            write_output(manifest_path(out), (json_text(manifest, indent=1) + "\n").encode())
        if not any(topic.failures for topic in topics.values()):
            kept.discard()
    return manifest


def _refuse_unused_options(*, find: bool, answers: bool) -> None:
    """Raise UsageError if an option on the command line has no effect in this kind of run."""
    if find:
        without_effect = {"with --find": SEARCH_OPTIONS}
    else:
        without_effect = {
            "without --find": frozenset({*FINDING_OPTIONS, *BUDGETS}),
            "in this kind of run": frozenset({"title_weight"} if answers else ()),
        }
    given = given_options(click.get_current_context())
    for where, options in without_effect.items():
        if unused := options & given:
            raise click.UsageError(f"--{min(unused).replace('_', '-')} has no effect {where}")


def _report_run(manifest: Mapping[str, Any], *, as_json: bool, piped: bool, err: bool) -> None:
    """Report the run; on standard error if standard output contains the run."""
    run, failed, seconds = manifest["run"], manifest["failed"], manifest["seconds"]
    # Ranked although something failed.
    incomplete = {
        query_id: "; ".join(of["failures"])
        for query_id, of in manifest["deviations"].items()
        if "failures" in of
    }
    questions = manifest["topics"]["questions"] - len(failed)
    if as_json:
        record = {**run, "questions": questions, "failed": failed, "incomplete": incomplete}
        echo_json({**record, **{name: manifest[name] for name in ("method", "unit", "seconds")}}, err=err)
    else:
        echo(
            f"{run['path']}: {counted(questions, 'question')}, {counted(run['hits'], 'hit')}, "
            f"method {manifest['method']}, judged unit {manifest['unit']}, in {seconds:,.1f} s, "
            f"{time_with_start()}",
            err=err,
        )
    unusable = manifest["strategist"].get("unusable", ())
    lists: dict[str, Mapping[str, str]] = {
        "strategies from statistics, as the model's were unusable, for": dict.fromkeys(unusable, "unusable"),
        "no hits for": {} if as_json else run["without_hits"],
        "ranked in spite of a failure:": incomplete,
        "the run is partial, without": failed,
    }
    for heading, reasons in lists.items():
        shown = len(reasons) if piped else SHOWN_IDS  # a piped run has no manifest with all of them
        lines = [f"  {query_id}: {reason}" for query_id, reason in list(reasons.items())[:shown]]
        more = [f"  … all in {run['path']}.manifest.json"] if len(reasons) > shown else []
        if reasons:
            echo_lines([f"{heading} {counted(len(reasons), 'question')}:", *lines, *more], err=True)
    if not piped and (incomplete or failed):
        echo("the same command repeats these; the others are kept", err=True)
