"""Compare the scores of methods and answers with those in `tests/golden/scores.jsonl`.

    python -m eval.development.golden --home DIR [--engine tantivy|elasticsearch] [--renew]

Five tables are recorded, one row per line. A row's texts are its subject, its numbers the measured figures:

ranking    each method on each collection's own index, by engine, `paper` and `shrag` also with recorded
           strategies: all questions; embedded also every fourth, and the training collections
sample     answers to the questions of the sample
hints      claims of the sample with hints of the citation check
held-out   figures of the held-out questions, by kind
plain      plain questions found, answered and declined, by half

Exits with 1 if a figure differs by more than .0005 from the recorded one. `--renew` records the new figures
instead, and keeps the rows of missing collections.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import click

from base.errors import ResourceError
from base.files.output_files import write_output
from base.terminal.columns import table
from base.terminal.output import echo, echo_lines
from eval.development.engines import MEASURES
from eval.experiments.bench import Bench, benches
from eval.experiments.collections import (
    COLLECTIONS,
    OF_SAMPLE,
    TRAINING,
    Collection,
    present,
    questions,
    recorded_strategies,
    scores_of,
)
from eval.experiments.console import DATA, Row, home_option
from eval.experiments.held_out import held_out_rows
from eval.experiments.hints import hint_rows, hints_of, sample_claims
from eval.experiments.plain import Half, ask_half, plain_rows
from eval.experiments.sample import ask_sample, question_figures
from eval.progress import question_bar
from indexer.settings import EngineName

RECORDED = Path(__file__).parents[2] / "tests" / "golden" / "scores.jsonl"
TOLERANCE = 0.0005
EVERY = 4  # step of the subset in the daily tests


@dataclass(frozen=True, slots=True)
class Drift:
    """A figure that differs from the recorded one; None if it is not recorded, or was not measured."""

    subject: Mapping[str, str]
    figure: str
    recorded: float | None
    measured: float | None


def read_rows(path: Path) -> list[Row]:
    """Read the recorded rows; none if there is no file."""
    if not path.exists():
        return []
    records = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [
        Row(
            {name: value for name, value in record.items() if isinstance(value, str)},
            {name: value for name, value in record.items() if not isinstance(value, str)},
        )
        for record in records
    ]


def line_of(row: Row) -> str:
    """Return the line of the file, figures rounded to four places."""
    figures = {name: round(value, 4) for name, value in row.figures.items()}
    return json.dumps({**row.subject, **figures}, ensure_ascii=False)


def find_drift(recorded: Sequence[Row], measured: Sequence[Row]) -> list[Drift]:
    """Compare the rows of each subject, including recorded rows that were not measured.

    Of these, only tables, collections and engines with any measured row count.
    """
    old, new = _by_subject(recorded), _by_subject(measured)
    scopes = {_scope(row) for row in measured}
    subjects = dict.fromkeys(
        [*new, *(tuple(row.subject.items()) for row in recorded if _scope(row) in scopes)]
    )
    return [
        Drift(dict(subject), figure, before.get(figure), now.get(figure))
        for subject in subjects
        for before, now in ((old.get(subject, {}), new.get(subject, {})),)
        for figure in {**before, **now}
        if not _is_near(before.get(figure), now.get(figure))
    ]


def _by_subject(rows: Sequence[Row]) -> dict[tuple[tuple[str, str], ...], Mapping[str, float]]:
    return {tuple(row.subject.items()): row.figures for row in rows}


def _scope(row: Row) -> tuple[str | None, ...]:
    return tuple(row.subject.get(name) for name in ("table", "collection", "engine", "questions", "of"))


def _is_near(recorded: float | None, measured: float | None) -> bool:
    if recorded is None or measured is None:
        return False
    return abs(recorded - round(measured, 4)) < TOLERANCE + 1e-9  # recorded figures have four places


def renewed(recorded: Sequence[Row], measured: Sequence[Row]) -> list[Row]:
    """Replace recorded rows by measured ones of the same subject; new ones come last."""
    by_subject = {tuple(row.subject.items()): row for row in (*recorded, *measured)}
    return list(by_subject.values())


def ranking_rows(
    bench: Bench, data: Path, engine: EngineName, collection: Collection, *, every: int = 1
) -> list[Row]:
    """Rank every `every`-th dev question of a collection by every method."""
    topics, judged = questions(data, collection, "dev", every)
    qrels = {query_id: judged[query_id] for query_id in topics if query_id in judged}
    part = {} if every == 1 else {"questions": f"every {every}"}
    with bench.open(collection, "alone") as index:
        runs = bench.runs(index, topics, recorded_strategies(data, collection))
    return [
        ranking_row(
            collection.name,
            engine,
            method,
            scores_of(qrels, run, (*MEASURES, *collection.measures)).means,
            **part,
        )
        for method, run in runs.items()
    ]


def ranking_row(collection: str, engine: str, method: str, means: Mapping[str, float], **more: str) -> Row:
    """Return the row of a method's mean scores."""
    subject = {"table": "ranking", "collection": collection, "engine": engine, "method": method}
    return Row(subject | more, means)


def sample_rows(bench: Bench) -> list[Row]:
    """Answer the sample's questions."""
    return [
        Row({"table": "sample", "of": "questions", "kind": kind}, figures)
        for kind, figures in question_figures(ask_sample(bench)).items()
    ]


def measure(bench: Bench, data: Path, engine: EngineName, collections: Sequence[Collection]) -> Iterator[Row]:
    """Yield all rows of an engine; answers are only measured on the embedded one."""
    for collection in collections:
        yield from ranking_rows(bench, data, engine, collection)
    if engine == "tantivy":
        yield from held_out_rows(bench)
        yield from sample_rows(bench)
        yield from hint_rows(hints_of(sample_claims()))
        for half in get_args(Half):
            yield from plain_rows(ask_half(bench, half), half)
        for collection in collections:
            if collection is not OF_SAMPLE:
                yield from ranking_rows(bench, data, engine, collection, every=EVERY)
        for collection in present(data, TRAINING):
            yield from ranking_rows(bench, data, engine, collection)


def drift_table(drift: Sequence[Drift]) -> list[str]:
    """Format the differences as a table."""
    rows: list[tuple[str, ...]] = [("measured", "figure", "recorded", "now", "difference")]
    for found in drift:
        both = (found.recorded, found.measured)
        shown = ["–" if figure is None else f"{figure:.4f}" for figure in both]
        apart = "" if None in both else f"{(found.measured or 0) - (found.recorded or 0):+.4f}"
        rows.append((" ".join(found.subject.values()), found.figure, *shown, apart))
    return table(rows, words=2)


@click.command()
@home_option
@click.option("--data", type=click.Path(path_type=Path), default=DATA, show_default=True)
@click.option("--engine", type=click.Choice(get_args(EngineName)), default="tantivy", show_default=True)
@click.option(
    "--scores", type=click.Path(path_type=Path), default=RECORDED, help="The file of recorded figures."
)
@click.option("--renew", is_flag=True, help="Record the new figures.")
def main(home: Path, data: Path, engine: EngineName, scores: Path, renew: bool) -> None:
    """Measure methods and answers again, and compare them with the recorded figures."""
    collections = [OF_SAMPLE, *present(data, COLLECTIONS)]
    try:
        with question_bar() as progress:
            bench = benches(home, data, progress, "golden")[engine]
            measured = list(measure(bench, data, engine, collections))
    except ResourceError as error:
        echo(str(error), err=True)
        sys.exit(1)
    recorded = read_rows(scores)
    drift = find_drift(recorded, measured)
    if drift:
        echo_lines(drift_table(drift))
    echo(f"{len(measured)} rows measured, {len(drift)} figures differ from the recorded ones")
    if renew:
        lines = [line_of(row) + "\n" for row in renewed(recorded, measured)]
        write_output(scores, "".join(lines).encode("utf-8"))
        echo(f"recorded in {scores}")
    elif drift:
        sys.exit(1)


if __name__ == "__main__":
    main()
