"""An experiment: its call, its functions, and the values that they return."""

import inspect
import pkgutil
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeAlias

from pydantic import Field

from base.calls import Call, Flag, Section
from eval.runs import Ranking, Run
from retriever.calls import IndexName

if TYPE_CHECKING:
    from eval.experiments.materials import Materials

Cell: TypeAlias = str | int | float | None  # formatted by `report.py`; None is a missing value
Record: TypeAlias = Mapping[str, Any]  # JSON

SECONDS = "seconds"  # key of a topic's times, which are not among the results
NEEDS_MODEL = "needs a model"  # cell of a row without results, because no language model is used


Documents: TypeAlias = Annotated[
    int, Flag("-k", section=Section.LIMITS), Field(ge=1, le=100, description="Documents for each topic.")
]
Seed: TypeAlias = Annotated[
    int, Flag(section=Section.LIMITS), Field(ge=0, lt=2**63, description="Seed of the samples.")
]


class ExperimentCall(Call):
    """The options of every experiment; `files` names the fields that are paths of inputs, or None."""

    files: ClassVar[tuple[str, ...]] = ()

    model: Annotated[
        bool,
        Flag(section=Section.ANSWERING),
        Field(description="Use the configured language model; without it, statistics and rules."),
    ] = False


class IndexCall(ExperimentCall):
    """The options of an experiment on an index of the user."""

    index: IndexName = None


class JudgedCall(IndexCall):
    """The options of an experiment on an index, topics and judgements of the user."""

    files: ClassVar[tuple[str, ...]] = ("topics", "qrels")

    topics: Annotated[
        str,
        Flag(argument=True),
        Field(description="File of topics: id, tab, question, or JSON lines."),
    ]
    qrels: Annotated[str, Flag(argument=True), Field(description="File of judgements, TREC's or BEIR's.")]


Strategies: TypeAlias = Annotated[
    str | None,
    Flag(section=Section.SEARCHING, metavar="FILE"),
    Field(
        description="Recorded strategies of the topics, JSON lines with query_id, instead of a strategist."
    ),
]


class StrategyCall(JudgedCall):
    """The options of an experiment whose searches use strategies."""

    files: ClassVar[tuple[str, ...]] = (*JudgedCall.files, "strategies")

    strategies: Strategies = None


@dataclass(frozen=True, slots=True)
class TopicResult:
    """The result of a topic: a record with all values of the tables, and rankings by the name of a run.

    A key `seconds` of the record is a time, or times by name. Times are not among the results.
    """

    record: Record
    rankings: Mapping[str, Ranking] = field(default_factory=dict)


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
class Line:
    """A line of a panel: a value for each place, and the bounds of its interval if there is one."""

    label: str
    values: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel of a figure: lines over the same places of the horizontal axis.

    Args:
        title: above the panel.
        across, up: labels of the horizontal and the vertical axis.
        places: ticks of the horizontal axis.
        lines: at most five, the number of colours (`figures.py`).
    """

    title: str
    across: str
    up: str
    places: tuple[float, ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a panel, with its value and a note above it."""

    label: str
    value: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class BarPanel:
    """A panel of a figure with bars on a logarithmic scale; values below 1 have no bar.

    Args:
        title: above the panel.
        up: label of the vertical axis.
        bars: from left to right.
    """

    title: str
    up: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure, saved as `figures/NAME.svg` and `figures/NAME.png`."""

    name: str
    title: str
    panels: tuple[Panel | BarPanel, ...]


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
    runs: Mapping[str, Run] = field(default_factory=dict)  # in addition to the rankings of the topics
    files: Mapping[str, str] = field(default_factory=dict)


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


def _opened_materials(call: Any) -> "AbstractContextManager[Materials]":
    from eval.experiments.materials import opened_materials  # after this module

    return opened_materials(call)


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment of a paper.

    Args:
        title: of the report.
        source: the table or figure, or the section, with the name of the paper.
        call: the options.
        topic: computes the result of one topic, from call, materials, query_id and question.
        summary: computes the outcome from call, materials, and the records in the order of the topics.
        opened: opens the inputs; by default `opened_materials`, which reads topics, qrels and an index.
        published: published values, by the names of `Outcome.main`; the data may follow the name.
        shown: names of `Outcome.main` for the overview of results; by default all.
        requires: requirements besides the inputs, such as a language model.
        sample: inputs of a run on the sample; None if there are none.
    """

    title: str
    source: str
    call: type[ExperimentCall]
    topic: Callable[[Any, Any, str, str], Coroutine[Any, Any, TopicResult]]
    summary: Callable[[Any, Any, Sequence[Record]], Outcome]
    opened: "Callable[[Any], AbstractContextManager[Materials]]" = _opened_materials
    published: Mapping[str, float] = field(default_factory=dict)
    shown: tuple[str, ...] = ()
    requires: str = ""
    sample: SampleRun | None = SampleRun()

    @property
    def description(self) -> str:
        """The computation of the experiment: the docstring of its module."""
        return inspect.getdoc(import_module(self.topic.__module__)) or ""


@cache
def experiments() -> Mapping[str, Experiment]:
    """Return all experiments by name: the name of the module, with `-` for `_`."""
    package = import_module("eval.experiments.tables")
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    return {name.replace("_", "-"): import_module(f"{package.__name__}.{name}").EXPERIMENT for name in names}
