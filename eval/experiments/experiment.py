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
    """A table of results; each row has one cell per column."""

    title: str  # above the table
    columns: tuple[str, ...]  # names of the columns
    rows: tuple[tuple[Cell, ...], ...]  # of cells
    judge: str = ""  # the judge of relevance or of answers, if the judgements are not those of the qrels
    timed: bool = False  # whether the cells are times; such a table is not among the results that repeat


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
    """An experiment of a paper."""

    call: type[ExperimentCall]  # the options
    topic: Callable[[Topic], Coroutine[Any, Any, TopicResult]]  # computes the result of one topic
    summary: Callable[[Results], Outcome]  # computes the outcome
    opened: Callable[[Any], AbstractContextManager[Materials]] = opened_materials  # opens the inputs
    # Published values, by the names of `Outcome.main`; the data may follow the name.
    published: Mapping[str, float] = field(default_factory=dict)
    shown: tuple[str, ...] = ()  # names of `Outcome.main` for the overview of results; by default all
    requires: str = ""  # requirements besides the inputs, such as a language model
    sample: SampleRun | None = SampleRun()  # inputs of a run on the sample; None if there are none

    @property
    def description(self) -> str:
        """The computation of the experiment: the docstring of its module."""
        return (import_module(self.summary.__module__).__doc__ or "").strip()
