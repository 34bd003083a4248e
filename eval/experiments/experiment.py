"""An experiment: its functions and inputs, its topics with their searches, and the values that they return.

An experiment is an entry of a module of `eval/experiments/tables/`. Its function `topic` computes the rows of
one question and their rankings, `summary` the tables from the records of all questions (`comparing.py`).
`running.py` runs it, and writes its folder.
"""

import re
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, TypeAlias

from eval.experiments.comparing import ROWS, Outcome, Record, share_of
from eval.experiments.materials import ExperimentCall, Inputs, Materials, read_judged
from eval.ranking import strategy_of_topic
from eval.runs import Ranking
from generator.llm import LanguageModel
from generator.pipeline import Settings
from retriever.queries.keywords import Keyword
from retriever.query_plan import QueryPlan
from retriever.request import SearchContext, SearchRequest
from retriever.search import open_search, run_stages
from retriever.settings import RetrieverSettings
from retriever.stages.stages import Stage, Stages, computed
from retriever.strategy import Strategy

ChangeKeywords: TypeAlias = Callable[[Sequence[Keyword]], Sequence[Keyword]]
ChangePlan: TypeAlias = Callable[[QueryPlan], QueryPlan]

METHOD = "paper"  # Algorithm 1 of SHRAG


@dataclass(frozen=True, slots=True)
class TopicResult:
    """The result of a topic: a record with all values of the tables, and rankings by the name of a run.

    A key `seconds` of the record is a time, or times by row. Times are not among the results.
    """

    record: Record
    rankings: Mapping[str, Ranking] = field(default_factory=dict)


def result_of(rows: Mapping[str, Record | None], rankings: Mapping[str, Ranking], **more: Any) -> TopicResult:
    """Return the result of a topic with a record and a ranking of each row."""
    return TopicResult({**more, ROWS: rows}, {run_name(row): ranking for row, ranking in rankings.items()})


@dataclass(frozen=True, slots=True)
class TopicSearch:
    """A search for documents in the unit of the index; variants of it share its keywords."""

    materials: Materials
    context: SearchContext
    stages: Stages

    @property
    def keywords(self) -> Sequence[Keyword]:
        """The keywords, most important first; none for a question without words."""
        return self.stages.terms.keywords if self.stages.terms else ()

    @property
    def ranking(self) -> Ranking:
        """The first documents."""
        hits = self.stages.ranking.cut(self.context.shown).hits if self.stages.ranking else ()
        return [(self.materials.id_of(hit), score) for hit, score in hits]

    @property
    def union(self) -> frozenset[str]:
        """The documents that any query found."""
        pool = self.stages.pool
        return frozenset(
            self.materials.id_of(hit) for hits in (pool.found if pool else {}).values() for hit in hits
        )

    async def with_changes(
        self,
        keywords: ChangeKeywords = tuple,
        plan: ChangePlan | None = None,
        upto: Stage = "ranking",
    ) -> "TopicSearch":
        """Search with other keywords and another plan of queries; without keywords nothing is found."""

        def search(_: Any) -> Stages:
            stages = Stages(self.stages.question, self.stages.terms)
            if stages.terms:
                kept = tuple(keywords(stages.terms.keywords))
                stages = replace(stages, terms=replace(stages.terms, keywords=kept))
                if self.keywords and not kept:
                    return stages
            if plan:
                stages = run_stages(self.context, stages, upto="plan")
                stages = stages.with_plan(plan(computed(stages.plan)))
            return run_stages(self.context, stages, upto=upto)

        return replace(self, stages=await self.materials.index.run(search))


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic, with the options of the experiment and its inputs."""

    call: Any
    materials: Materials
    query_id: str
    question: str
    unusable: list[str] = field(default_factory=list)  # replies of the model in place of a strategy

    @property
    def settings(self) -> RetrieverSettings:
        """The settings of searches."""
        return self.materials.settings.retriever

    @property
    def relevant(self) -> frozenset[str]:
        """The relevant ids."""
        grades = self.materials.qrels[self.query_id]
        return frozenset(judged for judged, grade in grades.items() if grade > 0)

    def share(self, found: Iterable[str]) -> float:
        """Return the share of the relevant documents that were found."""
        return share_of(self.relevant, found)

    async def strategy(self, model: LanguageModel | None = None) -> Strategy | None:
        """Return the recorded strategy, or that of the language model; None leads to statistics.

        Raises:
            ModelFailed: the language model failed.
        """
        model = model or self.materials.model
        if self.query_id in self.materials.strategies or model is None:
            return self.materials.strategies.get(self.query_id)
        strategy, _ = await strategy_of_topic(SearchRequest(self.question), model)
        if strategy is None:
            self.unusable.append(self.question)
        return strategy

    async def search(
        self, settings: RetrieverSettings | None = None, upto: Stage = "ranking", **request: Any
    ) -> TopicSearch:
        """Search for documents; `request` are fields of `SearchRequest`."""
        asked = SearchRequest(
            self.question, collapse=self.materials.collapses, **{"method": METHOD, **request}
        )
        context = open_search(self.materials.index, asked, settings or self.settings)
        stages = await self.materials.index.run(lambda _: run_stages(context, upto=upto))
        return TopicSearch(self.materials, context, stages)


def ids_of(ranking: Ranking) -> list[str]:
    """Return the ids of a ranking, best first."""
    return [found for found, _ in ranking]


def run_name(row: str) -> str:
    """Return the name of the run of a table's row, for a file."""
    return re.sub(r"[^\w.]+", "-", row).strip("-")


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
        offered = call.files() if "topics" in call.files() else ()
        return {**{name: folder + file for name, file in files.items() if name in offered}, **self.options}


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment of a paper."""

    call: type[ExperimentCall]  # the options
    topic: Callable[[Topic], Coroutine[Any, Any, TopicResult]]  # computes the result of one topic
    summary: Callable[[Results], Outcome]  # computes the outcome
    read: Callable[[Any, Settings], Inputs] = read_judged  # reads the inputs
    # Published values, by the names of `Outcome.main`; the data may follow the name.
    published: Mapping[str, float] = field(default_factory=dict)
    requires: str = ""  # requirements besides the inputs, such as a language model
    sample: SampleRun | None = SampleRun()  # inputs of a run on the sample; None if there are none
    about: str = ""  # the computation of the experiment; by default the docstring of its module

    @property
    def description(self) -> str:
        """The computation of the experiment."""
        return self.about or (import_module(self.summary.__module__).__doc__ or "").strip()
