"""Results of all experiments of the papers, for the first table of docs/results.md.

    python -m tools.experiments --home DIR [--only NAME]… [--check]

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
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import click

from base.progress import no_progress
from base.sample import SAMPLE
from base.terminal.call_options import flag_of
from base.terminal.output import echo
from eval.experiments import EXPERIMENTS, load_experiment
from eval.experiments.materials import ExperimentCall
from eval.experiments.report import formatted, markdown_table
from eval.experiments.running import run_experiment
from eval.manifest import differences
from tools.bench import Bench, home_option, optional_data_option
from tools.collections import COLLECTIONS, Collection, supporting

RESULTS = Path(__file__).parents[1] / "docs" / "experiments.json"
TOLERANCE = 1e-9
MOST_SHOWN = 8  # numbers of one run
COLUMNS = ("table or figure", "command", "requires", "our result", "published")
# Experiments on the shared evaluation data, besides the sample, by collection.
SHARED: Mapping[str, tuple[str, ...]] = {
    "query-success": ("tydi-ko", "tydi-en"),
    "and-ablation": ("tydi-ko",),
    "keyword-ablation": ("tydi-ko",),
    "finding-papers": ("scifact",),
    "judging-papers": ("scifact",),
    "lexical-gap": ("tydi-ko", "tydi-en"),
    "hops": ("tydi-en", "hotpotqa-100"),
    "miracl": ("tydi-ko", "tydi-en"),
}
RECORDED = ", recorded strategies"  # behind the name of the data
MIRACL = "miracl"  # reads the collections in their folder, in MIRACL's layout, and builds its own index


class Measured(NamedTuple):
    """One run: experiment, name of the data, options, and the collection of the index, if it needs one."""

    experiment: str
    data: str
    options: dict[str, Any]
    collection: Collection | None


def all_runs(data: Path, home: Path) -> Iterator[Measured]:
    """Yield the runs on the sample, and on the collections of the folder `data` if it exists.

    A run with recorded strategies follows the same run with strategies from statistics.
    """
    for name in EXPERIMENTS:
        experiment = load_experiment(name)
        runs = []
        if sample := experiment.sample:
            options = sample.options_of(experiment.call)
            options |= {
                file: str(SAMPLE / options[file]) for file in experiment.call.files() if file in options
            }
            collection = Collection(sample.index, str(SAMPLE / sample.corpus), {})
            runs.append(Measured(name, sample.index, options | {"index": sample.index}, collection))
        if data.is_dir():
            runs += [_shared_run(name, each, data, home) for each in SHARED.get(name, ())]
        for run in runs if not experiment.requires else ():
            bare = {option: value for option, value in run.options.items() if option != "strategies"}
            yield run._replace(options=bare)
            if bare != run.options:
                yield run._replace(data=f"{run.data}{RECORDED}")


def _shared_run(name: str, of: str, data: Path, home: Path) -> Measured:
    [collection] = [each for each in COLLECTIONS if each.name == of]
    options = {"strategies": str(data / collection.strategies)}
    if "strategies" not in load_experiment(name).call.files():
        options = {}
    if name == MIRACL:
        return Measured(name, of, options | {"lang": of[-2:], "corpus": str(data / "tydi-goldp")}, None)
    topics, qrels = (data / file for file in collection.splits["dev"])
    if qrels == topics:  # its supporting papers as TREC's qrels
        qrels = home / f"{of}.qrels"
        home.mkdir(parents=True, exist_ok=True)
        judged = (
            (query_id, *pair) for query_id, of_it in supporting(topics).items() for pair in of_it.items()
        )
        lines = (f"{query_id} 0 {paper_id} {grade}\n" for query_id, paper_id, grade in judged)
        qrels.write_text("".join(lines), "utf-8")
    return Measured(name, of, options | {"topics": str(topics), "qrels": str(qrels), "index": of}, collection)


def main_numbers(run: Measured, bench: Bench) -> dict[str, float]:
    """Run an experiment and return its main numbers; build the index if it is missing."""
    if run.collection:
        bench.open(run.collection).close()
    call = load_experiment(run.experiment).call.of(**run.options)
    with tempfile.TemporaryDirectory() as folder:
        return dict(run_experiment(run.experiment, call, Path(folder))[0].main)


def overview(results: Mapping[str, Mapping[str, Mapping[str, float]]]) -> str:
    """Return the table of all experiments in Markdown, by paper and by table.

    `results` are the main numbers of runs, by experiment and by name of the data.
    """
    rows = []
    for name, heading in sorted(EXPERIMENTS.items(), key=lambda each: (each[1].source, each[0])):
        experiment, measured = load_experiment(name), results.get(name, {})
        ours = [f"{data}: {_values(values)}" for data, values in measured.items()]
        rows.append(
            (
                heading.source,
                f"`shrag experiment {name}{arguments(experiment.call)}`",
                experiment.requires or "–",
                "<br>".join(ours) or "not measured",
                _values(experiment.published) or "–",
            )
        )
    return markdown_table(COLUMNS, rows)


def _values(values: Mapping[str, float]) -> str:
    """Format the first numbers as in a report; whole numbers above 1 without decimals."""
    numbers = {
        name: int(value) if value > 1 and float(value).is_integer() else float(value)
        for name, value in islice(values.items(), MOST_SHOWN)
    }
    return " · ".join(f"{name} = {formatted(number)}" for name, number in numbers.items())


def arguments(call: type[ExperimentCall]) -> str:
    """Return the arguments and the required options of a command for its description."""
    fields = [(name, each, flag_of(each)) for name, each in call.model_fields.items()]
    named = [name.upper() for name, _, flag in fields if flag.argument]
    required = [
        f"--{name} {flag.metavar or name.upper()}"
        for name, each, flag in fields
        if each.is_required() and not flag.argument
    ]
    return "".join(f" {part}" for part in (*named, *required))


@click.command()
@home_option
@optional_data_option
@click.option("--only", multiple=True, type=click.Choice(list(EXPERIMENTS)), help="Only this experiment.")
@click.option("--check", is_flag=True, help="Compare with the recorded numbers.")
def main(home: Path, data: Path, only: tuple[str, ...], check: bool) -> None:
    """Measure the main numbers of all experiments."""
    os.environ["SHRAG_HOME"] = str(home)
    bench = Bench(home, data, no_progress)
    results = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    differing = 0
    for run in all_runs(data, home):
        if only and run.experiment not in only:
            continue
        echo(f"{run.experiment} on {run.data}", err=True)
        now = main_numbers(run, bench)
        of_experiment = results.setdefault(run.experiment, {})
        for line in differences(of_experiment.get(run.data, {}), now, tolerance=TOLERANCE) if check else ():
            echo(f"{run.experiment}, {run.data}: {line}")
            differing += 1
        of_experiment[run.data] = now
    if check:
        sys.exit(bool(differing))
    ordered = {name: results[name] for name in EXPERIMENTS if name in results}
    RESULTS.write_text(json.dumps(ordered, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
