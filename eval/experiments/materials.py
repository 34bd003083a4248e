"""Inputs of an experiment: an open index, topics, judgements, settings and models."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Self, TypeVar

from base.amounts import counted
from base.errors import InvalidCall
from eval.experiments.experiment import ExperimentCall, JudgedCall
from eval.experiments.judged_ids import in_unit_of
from eval.files import Input
from eval.manifest import index_record, sources_record
from eval.qrels import Qrels, read_qrels
from eval.strategies import RecordedStrategies
from eval.topics import read_topics
from generator.llm import LanguageModel
from generator.pipeline import Settings
from indexer.options import chosen_index
from indexer.settings import CheckSettings, IndexerSettings
from retriever.engines import EngineHit
from retriever.index import SearchIndex, open_index
from retriever.sources.configuration import DeclaredSource, read_declared
from retriever.sources.gathered import open_declared
from retriever.sources.merging import LimitedSource
from retriever.sources.models import SharedModels
from retriever.stages.hits import Hit
from retriever.strategy import Strategy


class Models:
    """The configured language model, the same with other settings, and others of its endpoint.

    Each is opened on first use.
    """

    def __init__(self, settings: Settings) -> None:
        """Store the settings; nothing is opened yet."""
        self._settings = settings
        self._open: dict[str, LanguageModel] = {}
        self._closing = AsyncExitStack()

    async def __aenter__(self) -> Self:
        """Return the object; models are closed at the end."""
        return self

    async def __aexit__(self, *error: object) -> None:
        """Close all models."""
        await self._closing.aclose()

    async def usual(self) -> LanguageModel:
        """Return the model with its configured seed and temperature."""
        return await self._opened(self._settings)

    async def changed(self, **changes: Any) -> LanguageModel:
        """Return the model with other settings, such as another seed."""
        return await self._opened(self._settings.with_llm(**changes))

    async def named(self, model: str) -> LanguageModel:
        """Return another model of the same endpoint."""
        return await self._opened(self._settings.with_model(model))

    async def _opened(self, settings: Settings) -> LanguageModel:
        llm = settings.generator.llm
        key = llm.model_dump_json()
        if key not in self._open:
            self._open[key] = await self._closing.enter_async_context(settings.language_model())
        return self._open[key]


@dataclass(frozen=True, slots=True)
class DeclaredSources:
    """The sources of a call, opened for each topic, and the models of searches in them."""

    declared: Sequence[DeclaredSource]
    settings: IndexerSettings
    models: SharedModels

    @asynccontextmanager
    async def open(self) -> AsyncIterator[list[LimitedSource]]:
        """Open the sources; raises as `open_declared`."""
        async with open_declared(self.declared, self.settings) as sources:
            yield sources


@contextmanager
def declared_sources(names: Sequence[str], settings: Settings) -> Iterator[DeclaredSources | None]:
    """Read declarations of sources; None without names. Raises as `read_declared`."""
    if not names:
        yield None
        return
    with closing(SharedModels(settings.indexer, settings.retriever.synonyms)) as models:
        yield DeclaredSources(read_declared(names), settings.indexer, models)


@dataclass(frozen=True, slots=True)
class Materials:
    """The inputs of an experiment; an experiment with further inputs has a subclass.

    Args:
        index: an open index.
        topics: questions by query_id, each with a relevant judgement if there are judgements.
        qrels: in the unit of the index.
        inputs: the files that were read, by the name of the option.
        unjudged: number of topics without a relevant judgement, which are left out.
        gaps: notes about judgements without a topic, and judged ids that the index lacks.
        settings: settings of all stages; without a language model unless the call uses it.
        model: the language model, if the call uses it.
        models: the same model with other settings.
        strategies: recorded ones by query_id.
        sources: of a call with further sources.
    """

    index: SearchIndex
    topics: Mapping[str, str]
    settings: Settings
    qrels: Qrels = field(default_factory=dict)
    inputs: Mapping[str, Input] = field(default_factory=dict)
    unjudged: int = 0
    gaps: tuple[str, ...] = ()
    model: LanguageModel | None = None
    models: Models | None = None
    strategies: Mapping[str, Strategy] = field(default_factory=dict)
    sources: DeclaredSources | None = None

    @property
    def has_strategies(self) -> bool:
        """Whether a file or a language model gives the strategies, and not statistics alone."""
        return bool(self.strategies or self.model)

    def notes(self) -> tuple[str, ...]:
        """Return notes about topics without a relevant judgement, and about judgements without a topic."""
        left_out = f"{counted(self.unjudged, 'topic')} left out: no relevant judgement."
        return (left_out, *self.gaps) if self.unjudged else self.gaps

    def id_of(self, hit: EngineHit | Hit) -> str:
        """Return the id of a hit in the unit of the index."""
        return hit.doc_id if self.collapses else hit.passage_id

    @property
    def collapses(self) -> bool:
        """Whether hits are papers, because the index contains papers."""
        return self.index.manifest.unit == "paper"

    def relevant(self, query_id: str) -> frozenset[str]:
        """Return the ids that are relevant to a topic."""
        return frozenset(judged for judged, grade in self.qrels[query_id].items() if grade > 0)

    def index_record(self) -> dict[str, Any]:
        """Return the properties of the index and of sources that affect results."""
        record = index_record(self.index.manifest)
        return record | sources_record(self.sources.declared, [])["sources"] if self.sources else record


@dataclass(frozen=True, slots=True)
class Recorded:
    """Recorded strategies by query_id, and their file as an input."""

    strategies: Mapping[str, Strategy] = field(default_factory=dict)
    inputs: Mapping[str, Input] = field(default_factory=dict)


M = TypeVar("M", bound=Materials)


def with_more(kind: type[M], materials: Materials, **more: Any) -> M:
    """Return the inputs as a subclass; `more` has its further fields, and replaces fields."""
    given = {each.name: getattr(materials, each.name) for each in fields(materials)}
    return kind(**given | more)


def settings_for(call: ExperimentCall) -> Settings:
    """Read the settings; without a language model unless the call uses it.

    Answers are not checked: an experiment judges them itself, or does not use the checks.
    """
    settings = Settings.from_environment()
    unchecked = settings.indexer.model_copy(update={"check": CheckSettings(judge="none")})
    settings = replace(settings, indexer=unchecked)
    return settings if call.model else settings.with_llm(base_url=None)


@contextmanager
def opened_index(name: str | None, settings: Settings) -> Iterator[SearchIndex]:
    """Open the named index, or the only one, with a fixed version; raises ResourceError as `open_index`."""
    places = settings.indexer
    with open_index(places, chosen_index(name, places), settings.retriever.synonyms, follow=False) as index:
        yield index


@dataclass(frozen=True, slots=True)
class JudgedTopics:
    """Topics with a relevant judgement, all qrels, the number of other topics, notes, and the files."""

    topics: Mapping[str, str]
    qrels: Qrels
    unjudged: int
    gaps: tuple[str, ...]  # notes about judgements without a topic
    inputs: Mapping[str, Input]


def read_judged(topics_path: str, qrels_path: str) -> JudgedTopics:
    """Read topics and qrels.

    Raises:
        BadTopics, BadQrels: with file and line.
        InvalidCall: no topic has a relevant judgement.
    """
    inputs = {"topics": Input(topics_path), "qrels": Input(qrels_path)}
    topics, qrels = read_topics(topics_path, inputs["topics"]), read_qrels(qrels_path, inputs["qrels"])
    judged = {
        query_id: question
        for query_id, question in topics.items()
        if any(grade > 0 for grade in qrels.get(query_id, {}).values())
    }
    if not judged:
        raise InvalidCall(
            f"no topic of {topics_path} ({next(iter(topics))}, …) has a relevant judgement in {qrels_path} "
            f"({next(iter(qrels))}, …)"
        )
    return JudgedTopics(judged, qrels, len(topics) - len(judged), _without_topic(qrels, topics), inputs)


def _without_topic(qrels: Qrels, topics: Mapping[str, str]) -> tuple[str, ...]:
    """Return a note about judged questions that are not among the topics."""
    unasked = [query_id for query_id in qrels if query_id not in topics]
    number = counted(len(unasked), "judged question")
    return (f"{number} not among the topics ({unasked[0]}, …).",) if unasked else ()


@contextmanager
def opened_materials(call: JudgedCall, *, by_id: bool = True) -> Iterator[Materials]:
    """Open the index and read topics and qrels; close the index at the end.

    Without `by_id`, documents are identified by other means, and the ids of the qrels may be unknown.

    Raises:
        BadTopics, BadQrels, InvalidCall: as `read_judged` and `recorded_strategies`.
        NothingJudged: no relevant id is in the index.
        ResourceError: as `open_index`.
    """
    judged, settings = read_judged(call.topics, call.qrels), settings_for(call)
    recorded = recorded_strategies(call, judged.topics)
    with opened_index(call.index, settings) as index:
        qrels = judged.qrels
        notes: tuple[str, ...] = ()
        if by_id:
            qrels, notes = asyncio.run(in_unit_of(index, qrels, list(judged.topics), call.qrels))
        yield Materials(
            index,
            judged.topics,
            settings,
            qrels,
            {**judged.inputs, **recorded.inputs},
            judged.unjudged,
            (*judged.gaps, *notes),
            strategies=recorded.strategies,
        )


def recorded_strategies(call: ExperimentCall, topics: Iterable[str]) -> Recorded:
    """Read the recorded strategies of a call; none if it names no file.

    Raises:
        InvalidCall: as `RecordedStrategies.read`, or the call uses a language model too.
    """
    path = getattr(call, "strategies", None)
    if path is None:
        return Recorded()
    if call.model:
        raise InvalidCall(
            "recorded strategies replace a language model", remedy="leave out --model or --strategies"
        )
    read = RecordedStrategies.read(Path(path), topics)
    return Recorded(read.strategies, {"strategies": read.file})
