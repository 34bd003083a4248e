"""An experiment: its call, its function, and the values that it returns."""

import inspect
import pkgutil
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Annotated, Any, TypeAlias

from pydantic import Field

from base.calls import Call, Flag, Section
from base.progress import Progress
from eval.qrels import Qrels
from eval.runs import Run
from retriever.calls import IndexName
from retriever.engines import EngineHit
from retriever.index import SearchIndex
from retriever.settings import RetrieverSettings

Cell: TypeAlias = str | int | float | None  # floats are shown to two places


class ExperimentCall(Call):
    """The options of every experiment."""

    topics: Annotated[
        str,
        Flag(argument=True),
        Field(description="File of topics: id, tab, question, or JSON lines."),
    ]
    qrels: Annotated[str, Flag(argument=True), Field(description="File of judgements, TREC's or BEIR's.")]
    index: IndexName = None
    seed: Annotated[
        int,
        Flag(section=Section.LIMITS),
        Field(ge=0, lt=2**63, description="Seed of the samples."),
    ] = 0


@dataclass(frozen=True, slots=True)
class Table:
    """A table of results; `published` rows are those of the paper."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a panel, with an interval for each point if there is one."""

    label: str
    values: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel of a figure: lines over the same places of the horizontal axis."""

    title: str
    across: str
    up: str
    places: tuple[float, ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure, saved as `figures/NAME.svg` and `figures/NAME.png`."""

    name: str
    title: str
    panels: tuple[Panel, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The results of an experiment: `topics` are JSON lines, one for each topic, `runs` are runs by name."""

    tables: tuple[Table, ...]
    figures: tuple[Figure, ...] = ()
    notes: tuple[str, ...] = ()
    topics: tuple[Mapping[str, Any], ...] = ()
    runs: Mapping[str, Run] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Materials:
    """What an experiment works on: an open index, its topics with judgements, and settings.

    `topics` have a relevant judgement; `unjudged` counts the others. The qrels are in the unit of the index.
    `hashes` are the SHA-256 of the files of topics and qrels.
    """

    index: SearchIndex
    topics: Mapping[str, str]
    qrels: Qrels
    hashes: Mapping[str, str]
    unjudged: int
    settings: RetrieverSettings
    progress: Progress

    def notes(self) -> tuple[str, ...]:
        """Return a note about topics without a relevant judgement."""
        missing = self.unjudged
        return (f"{missing} topics without a relevant judgement are left out.",) if missing else ()

    def id_of(self, hit: EngineHit) -> str:
        """Return the id of a hit in the unit of the index."""
        return hit.doc_id if self.collapses else hit.passage_id

    @property
    def collapses(self) -> bool:
        """Whether the index contains papers, so that hits are papers."""
        return self.index.manifest.unit == "paper"

    def relevant(self, query_id: str) -> frozenset[str]:
        """Return the ids that are relevant to a topic."""
        return frozenset(judged for judged, grade in self.qrels[query_id].items() if grade > 0)


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment of a paper: its `source` names the table or figure."""

    title: str
    source: str
    call: type[ExperimentCall]
    run: Callable[[Any, Materials], Awaitable[Outcome]]

    @property
    def description(self) -> str:
        """What is computed and how: the docstring of the experiment's module."""
        return inspect.getdoc(import_module(self.run.__module__)) or ""


@cache
def experiments() -> Mapping[str, Experiment]:
    """Return all experiments by name, which is that of the module with `-` for `_`."""
    package = import_module("eval.reproduction.experiments")
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    return {name.replace("_", "-"): import_module(f"{package.__name__}.{name}").EXPERIMENT for name in names}
