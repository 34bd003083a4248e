"""Results of all experiments of the papers, for the first table of docs/results.md.

    python -m eval.experiments.recorded_results --home DIR [--only NAME]… [--check]

Builds the indexes in DIR if they are missing, runs each experiment on the sample and on the shared evaluation
data, if present, without a language model, and writes the main numbers to docs/experiments.json. `make
reference` makes the table from them. `--check` compares them with the file instead, and exits with 1 if they
differ. Experiments that require a model or an encoder are left out.
"""

import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from base.sample import SAMPLE
from base.terminal.output import echo
from eval.experiments.collections import COLLECTIONS, supporting
from eval.experiments.console import DATA
from eval.experiments.experiment import experiments
from eval.experiments.running import run_experiment
from eval.manifest import differences
from indexer.errors import UnknownIndex
from indexer.ingest import IngestRequest, build_index
from indexer.settings import IndexerSettings
from retriever.index import open_index

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "experiments.json"
TOLERANCE = 1e-9

# Experiments on the shared evaluation data, besides the sample, by collection.
SHARED: Mapping[str, tuple[str, ...]] = {
    "query-success": ("tydi-ko", "tydi-en"),
    "and-ablation": ("tydi-ko",),
    "keyword-ablation": ("tydi-ko",),
    "finding-papers": ("scifact",),
    "judging-papers": ("scifact",),
    "lexical-gap": ("tydi-ko", "tydi-en"),
    "hops": ("tydi-en", "hotpotqa-100"),
}
RECORDED = ", recorded strategies"  # behind the name of the data
MIRACL = "miracl"  # reads the collections in their folder, in MIRACL's layout


@dataclass(frozen=True, slots=True)
class Measured:
    """One run: the experiment, the name of the data, the options, and the corpus of the index.

    Without a corpus the experiment builds its own index.
    """

    experiment: str
    data: str
    options: Mapping[str, Any]
    corpus: Path | None = None


def all_runs(data: Path, home: Path) -> Iterator[Measured]:
    """Yield the runs on the sample, and on the collections of the folder `data` if it exists."""
    collections = {collection.name: collection for collection in COLLECTIONS}
    for name, experiment in experiments().items():
        if experiment.requires:
            continue
        takes_strategies = "strategies" in experiment.call.files
        if sample := experiment.sample:
            options = sample.options_of(experiment.call)
            files = {file: str(SAMPLE / options[file]) for file in experiment.call.files if file in options}
            run = Measured(
                name, sample.index, {**options, **files, "index": sample.index}, SAMPLE / sample.corpus
            )
            yield from _by_statistics_too(run)
        for each in SHARED.get(name, ()) if data.is_dir() else ():
            collection = collections[each]
            topics, qrels = (data / file for file in collection.splits["dev"])
            if qrels == topics:
                qrels = write_supporting(topics, home / f"{each}.qrels")
            options = {"topics": str(topics), "qrels": str(qrels), "index": each}
            if takes_strategies:
                options["strategies"] = str(data / collection.strategies)
            yield from _by_statistics_too(Measured(name, each, options, data / collection.corpus))
        if name == MIRACL and data.is_dir():
            for language in ("ko", "en"):
                options = {"lang": language, "corpus": str(data / "tydi-goldp")}
                options["strategies"] = str(data / collections[f"tydi-{language}"].strategies)
                yield from _by_statistics_too(Measured(name, f"tydi-{language}", options))


def _by_statistics_too(run: Measured) -> Iterator[Measured]:
    """Yield a run, and before it the run with strategies from statistics, if it has recorded ones."""
    if "strategies" in run.options:
        options = {name: value for name, value in run.options.items() if name != "strategies"}
        yield replace(run, options=options)
        yield replace(run, data=f"{run.data}{RECORDED}")
    else:
        yield run


def write_supporting(questions: Path, qrels: Path) -> Path:
    """Write the supporting papers of each question as TREC's qrels; return the path."""
    lines = [
        f"{query_id} 0 {judged} {grade}\n"
        for query_id, grades in supporting(questions).items()
        for judged, grade in grades.items()
    ]
    qrels.parent.mkdir(parents=True, exist_ok=True)
    qrels.write_text("".join(lines), "utf-8")
    return qrels


def main_numbers(run: Measured) -> dict[str, float]:
    """Run an experiment and return its main numbers; build the index if it is missing."""
    settings = IndexerSettings()
    if run.corpus:
        try:
            open_index(settings, run.options["index"]).close()
        except UnknownIndex:
            build_index(IngestRequest(name=run.options["index"], paths=[str(run.corpus)]), settings)
    call = experiments()[run.experiment].call.of(**run.options)
    with tempfile.TemporaryDirectory() as folder:
        return dict(run_experiment(run.experiment, call, Path(folder)).outcome.main)


@click.command()
@click.option("--home", required=True, type=click.Path(path_type=Path), help="The folder for the indexes.")
@click.option("--data", type=click.Path(path_type=Path), default=DATA, help="The shared evaluation data.")
@click.option("--only", multiple=True, type=click.Choice(list(experiments())), help="Only this experiment.")
@click.option("--check", is_flag=True, help="Compare with the recorded numbers.")
def main(home: Path, data: Path, only: tuple[str, ...], check: bool) -> None:
    """Measure the main numbers of all experiments."""
    os.environ["SHRAG_HOME"] = str(home)
    results = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    differing = 0
    for run in all_runs(data, home):
        if only and run.experiment not in only:
            continue
        echo(f"{run.experiment} on {run.data}", err=True)
        now = main_numbers(run)
        of_experiment = results.setdefault(run.experiment, {})
        if check:
            lines = list(differences(of_experiment.get(run.data, {}), now, tolerance=TOLERANCE))
            differing += len(lines)
            for line in lines:
                echo(f"{run.experiment}, {run.data}: {line}")
        of_experiment[run.data] = now
    if check:
        sys.exit(bool(differing))
    ordered = {name: results[name] for name in experiments() if name in results}
    RESULTS.write_text(json.dumps(ordered, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
