"""An experiment: its options, its functions, and the values that they return.

An experiment is a module of `eval/experiments/tables/` with a constant `EXPERIMENT`. Its function `topic`
computes the rows of one question and their rankings, `summary` the tables from the records of all questions
(`comparing.py`). `running.py` runs it, and writes its folder.
"""

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, TypeAlias

from eval.experiments.calls import ExperimentCall
from eval.experiments.figures import Figure
from eval.experiments.materials import Materials, opened_materials
from eval.experiments.topic import ROWS, Record, Topic, TopicResult

Cell: TypeAlias = str | int | float | None  # formatted by `report.py`; None is a missing value


@dataclass(frozen=True, slots=True)
class Table:
    """A table of results; each row has one cell per column.

    Args:
        title: above the table.
        columns: names of the columns.
        rows: of cells.
        judge: the judge of relevance or of answers, if the judgements are not those of the qrels.
        timed: whether the cells are times; such a table is not among the results that repeat.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    judge: str = ""
    timed: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """The tables and figures of an experiment, made from the records of its topics.

    `main` has the main numbers by name, for a comparison with published values. `files` are further files of
    the folder by name, such as a table of answers.
    """

    tables: tuple[Table, ...]
    figures: tuple[Figure, ...] = ()
    notes: tuple[str, ...] = ()
    main: Mapping[str, float] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Results:
    """The records of all topics, in their order, with the options and inputs of the experiment."""

    call: Any
    materials: Materials
    topics: Sequence[Record]

    def rows(self, names: Iterable[str], part: str = ROWS) -> dict[str, list[Any]]:
        """Return the records of each row, None for a topic without the row."""
        return {name: [topic[part].get(name) for topic in self.topics] for name in names}

    def count(self, has: Callable[[Record], object]) -> int:
        """Count the topics that satisfy a condition."""
        return sum(bool(has(topic)) for topic in self.topics)


@dataclass(frozen=True, slots=True)
class SampleRun:
    """The inputs of a run on the sample: name and corpus of an index, and options; files are in `sample/`.

    Topics, qrels and strategies are beside the corpus, unless there are other options.
    """

    index: str = "sample"
    corpus: str = "papers.jsonl"
    options: Mapping[str, Any] = field(default_factory=dict)

    def options_of(self, call: type[ExperimentCall]) -> dict[str, Any]:
        """Return the options, with the files that the call has."""
        folder = self.corpus.removesuffix("papers.jsonl")
        files = {"topics": "topics.jsonl", "qrels": "qrels.txt", "strategies": "strategies.jsonl"}
        usual = files if "topics" in call.files else {}
        return {**{name: folder + file for name, file in usual.items() if name in call.files}, **self.options}


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment of a paper.

    Args:
        call: the options.
        topic: computes the result of one topic.
        summary: computes the outcome.
        opened: opens the inputs.
        published: published values, by the names of `Outcome.main`; the data may follow the name.
        shown: names of `Outcome.main` for the overview of results; by default all.
        requires: requirements besides the inputs, such as a language model.
        sample: inputs of a run on the sample; None if there are none.
    """

    call: type[ExperimentCall]
    topic: Callable[[Topic], Coroutine[Any, Any, TopicResult]]
    summary: Callable[[Results], Outcome]
    opened: Callable[[Any], AbstractContextManager[Materials]] = opened_materials
    published: Mapping[str, float] = field(default_factory=dict)
    shown: tuple[str, ...] = ()
    requires: str = ""
    sample: SampleRun | None = SampleRun()

    @property
    def description(self) -> str:
        """The computation of the experiment: the docstring of its module."""
        return (import_module(self.summary.__module__).__doc__ or "").strip()
