"""An experiment: its call, its function, and the values that it returns."""

import inspect
import pkgutil
from collections.abc import Callable, Coroutine, Iterator, Mapping
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

Cell: TypeAlias = str | int | float | None  # formatted by `report.py`; None is a missing value


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
    """A table of results; each row has one cell per column."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


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
    """Inputs of an experiment: an open index, topics with their judgements, and settings.

    Args:
        index: an open index.
        topics: questions by query_id, each with a relevant judgement.
        qrels: in the unit of the index.
        unjudged: number of topics without a relevant judgement, which are left out.
        settings: of the searches.
        progress: called with a name, the number of finished topics, and their total.
        hashes: SHA-256 of the files of topics and qrels.
    """

    index: SearchIndex
    topics: Mapping[str, str]
    qrels: Qrels
    hashes: Mapping[str, str]
    unjudged: int
    settings: RetrieverSettings
    progress: Progress

    def each_topic(self) -> Iterator[tuple[str, str]]:
        """Yield query_id and question of each topic, and report the progress."""
        for done, topic in enumerate(self.topics.items()):
            self.progress("topics", done, len(self.topics))
            yield topic

    def notes(self) -> tuple[str, ...]:
        """Return a note about topics without a relevant judgement."""
        missing = self.unjudged
        return (f"{missing} topics without a relevant judgement are left out.",) if missing else ()

    def id_of(self, hit: EngineHit) -> str:
        """Return the id of a hit in the unit of the index."""
        return hit.doc_id if self.collapses else hit.passage_id

    @property
    def collapses(self) -> bool:
        """Whether hits are papers, because the index contains papers."""
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
    run: Callable[[Any, Materials], Coroutine[Any, Any, Outcome]]

    @property
    def description(self) -> str:
        """The computation of the experiment: the docstring of its module."""
        return inspect.getdoc(import_module(self.run.__module__)) or ""


@cache
def experiments() -> Mapping[str, Experiment]:
    """Return all experiments by name: the name of the module, with `-` for `_`."""
    package = import_module("eval.reproduction.experiments")
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    return {name.replace("_", "-"): import_module(f"{package.__name__}.{name}").EXPERIMENT for name in names}
