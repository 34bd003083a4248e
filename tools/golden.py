"""Compare the scores of methods and answers with those in `tests/golden/scores.jsonl`.

    python -m tools.golden --home DIR [--engine tantivy|elasticsearch] [--renew]

Five tables are recorded, one row per line. A row's texts are its subject, its numbers the measured figures:

ranking    each method on each collection's own index, by engine, `paper` and `shrag` also with recorded
           strategies: all questions; embedded also every fourth, and the training collections
sample     answers to the questions of the sample
hints      claims of the sample with hints of the citation check
held-out   the held-out questions, on which nothing is tuned, by method and kind: Success@5; both@10, two-step
           questions with all their papers among the first ten; excluded@5, questions with an excluded paper
plain      plain questions found, answered and declined, by half

Exits with 1 if a figure differs by more than .0005 from the recorded one. `--renew` records the new figures
instead, and keeps the rows of missing collections.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, TypeAlias, get_args

import click

from base.errors import ResourceError
from base.files.output_files import write_output
from base.terminal.output import echo, echo_lines
from eval.collection import Qrels
from eval.manifest import differences
from eval.progress import question_bar
from eval.runs import Run
from indexer.settings import EngineName
from tools.answers import Half, ask, plain_rows, sample_rows
from tools.bench import (
    Bench,
    Row,
    bench_of,
    figures_of,
    home_option,
    optional_data_option,
    path_option,
    subject_of,
)
from tools.collections import (
    BOTH,
    COLLECTIONS,
    CUTOFF,
    HELD_OUT,
    OF_SAMPLE,
    TRAINING,
    Collection,
    present,
    questions,
    read_lines,
    recorded_strategies,
    scores_of,
)
from tools.hints import hint_rows, hints_of, sample_claims

RECORDED = Path(__file__).parents[1] / "tests" / "golden" / "scores.jsonl"
MEASURES = ("nDCG@10", "Success@5", "Success@15")
TOLERANCE = 0.0005 + 1e-9
EVERY = 4  # step of the subset in the daily tests
FIRST = 5
Subject: TypeAlias = tuple[tuple[str, str], ...]
SCOPE = ("table", "collection", "engine", "questions", "of")  # of a row that counts if it is not measured


def find_drift(recorded: Iterable[Row], measured: Iterable[Row]) -> list[str]:
    """Return the figures that differ, one line each: `SUBJECT.FIGURE: recorded ≠ measured`.

    A recorded row that was not measured counts if any row of its table, collection and engine was.
    """
    new = {
        _subject(row): {name: round(value, 4) for name, value in figures_of(row).items()} for row in measured
    }
    scopes = {_scope(subject) for subject in new}
    old = {
        subject: figures_of(row)
        for row in recorded
        if (subject := _subject(row)) in new or _scope(subject) in scopes
    }
    named = (
        {" ".join(text for _, text in subject): of for subject, of in each.items()} for each in (old, new)
    )
    return list(differences(*named, tolerance=TOLERANCE))


def _subject(row: Row) -> Subject:
    return tuple(subject_of(row).items())


def _scope(subject: Subject) -> tuple[str | None, ...]:
    return tuple(dict(subject).get(name) for name in SCOPE)


def ranking_rows(
    bench: Bench, data: Path, engine: EngineName, collection: Collection, *, every: int = 1
) -> list[Row]:
    """Rank every `every`-th dev question of a collection by every method."""
    topics, judged = questions(data, collection, "dev", every)
    qrels = {query_id: judged[query_id] for query_id in topics if query_id in judged}
    part = {} if every == 1 else {"questions": f"every {every}"}
    with bench.open(collection) as index:
        runs = bench.runs(index, topics, recorded_strategies(data, collection))
    subject = {"table": "ranking", "collection": collection.name, "engine": engine}
    measures = (*MEASURES, *collection.measures)
    return [
        {**subject, "method": method, **part, **scores_of(qrels, run, measures)}
        for method, run in runs.items()
    ]


def held_out_rows(bench: Bench) -> Iterator[Row]:
    """Rank the held-out questions by every method; yield one row per kind."""
    topics = read_lines(Path(HELD_OUT.splits["dev"][0]))
    asked, qrels = questions(Path(), HELD_OUT, "dev")
    with bench.open(HELD_OUT) as index:
        runs = bench.runs(index, asked, recorded_strategies(Path(), HELD_OUT))
    for method, run in runs.items():
        for kind, figures in figures_by_kind(topics, qrels, run).items():
            yield {"table": "held-out", "method": method, "kind": kind, **figures}


def figures_by_kind(
    topics: Sequence[Mapping[str, Any]], qrels: Qrels, run: Run
) -> dict[str, dict[str, float]]:
    """Return the shares of questions whose papers, or excluded papers, were found, by kind of question."""
    seen: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for topic in topics:
        order = [doc_id for doc_id, _ in run[topic["query_id"]]]
        relevant = {doc_id for doc_id, grade in qrels[topic["query_id"]].items() if grade > 0}
        of_kind = seen[topic["kind"]]
        if topic["kind"] == "two-step":
            of_kind[BOTH].append(relevant <= set(order[:CUTOFF]))
        else:
            of_kind[f"Success@{FIRST}"].append(not relevant.isdisjoint(order[:FIRST]))
        if excluded := topic.get("excluded"):
            of_kind[f"excluded@{FIRST}"].append(not set(excluded).isdisjoint(order[:FIRST]))
    return {kind: {name: fmean(values) for name, values in of.items()} for kind, of in seen.items()}


def measure(bench: Bench, data: Path, engine: EngineName, collections: Sequence[Collection]) -> Iterator[Row]:
    """Yield all rows of an engine; answers are only measured on the embedded one."""
    for collection in collections:
        yield from ranking_rows(bench, data, engine, collection)
    if engine == "tantivy":
        yield from held_out_rows(bench)
        yield from sample_rows(ask(bench, None))
        yield from hint_rows(hints_of(sample_claims()))
        for half in get_args(Half):
            yield from plain_rows(ask(bench, half), half)
        for collection in collections:
            if collection is not OF_SAMPLE:
                yield from ranking_rows(bench, data, engine, collection, every=EVERY)
        for collection in present(data, TRAINING):
            yield from ranking_rows(bench, data, engine, collection)


@click.command()
@home_option
@optional_data_option
@click.option("--engine", type=click.Choice(get_args(EngineName)), default="tantivy", show_default=True)
@path_option("--scores", "The file of recorded figures.", default=RECORDED)
@click.option("--renew", is_flag=True, help="Record the new figures.")
def main(home: Path, data: Path, engine: EngineName, scores: Path, renew: bool) -> None:
    """Measure methods and answers again, and compare them with the recorded figures."""
    collections = [OF_SAMPLE, *present(data, COLLECTIONS)]
    try:
        with question_bar() as progress:
            bench = bench_of(engine, home, data, progress, "golden")
            measured = list(measure(bench, data, engine, collections))
    except ResourceError as error:
        echo(str(error), err=True)
        sys.exit(1)
    recorded: list[Row] = [*read_lines(scores)] if scores.exists() else []
    drift = find_drift(recorded, measured)
    if drift:
        echo_lines(drift)
    echo(f"{len(measured)} rows measured, {len(drift)} figures differ from the recorded ones")
    if renew:
        rounded = (
            {**row, **{name: round(value, 4) for name, value in figures_of(row).items()}} for row in measured
        )
        rows = {_subject(row): row for row in (*recorded, *rounded)}.values()
        write_output(scores, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode())
        echo(f"recorded in {scores}")
    elif drift:
        sys.exit(1)


if __name__ == "__main__":
    main()
