"""Inputs of an experiment: an open index, topics, judgements in its unit, settings and models."""

import asyncio
import gzip
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from base.amounts import counted
from base.calls import reason
from base.errors import InvalidCall
from eval.errors import BadTopics, NothingJudged
from eval.experiments.calls import ExperimentCall, JudgedCall
from eval.files import GZIP_MAGIC, MARK, Input
from eval.manifest import index_record, sources_record
from eval.qrels import Qrels, read_qrels
from eval.strategies import RecordedStrategies
from eval.topics import query_id_of, read_topics
from eval.units import grades_of_papers
from generator.llm import LanguageModel
from generator.pipeline import Settings
from indexer.corpora.readers.json_records import DECODER
from indexer.options import chosen_index
from indexer.settings import CheckSettings, IndexerSettings
from retriever.engines import EngineHit
from retriever.index import SearchIndex, open_index
from retriever.queries.boolean import EVERYTHING
from retriever.queries.filters import Filters
from retriever.sources.configuration import DeclaredSource, read_declared
from retriever.sources.gathered import SharedModels, open_declared
from retriever.sources.merging import LimitedSource
from retriever.stages.hits import Hit
from retriever.strategy import Strategy

T = TypeVar("T")

MOST_LOOKED_UP = 10_000  # judged ids
UNITS = {"paper": "papers", "passage": "passages"}
BY_PAPER = "The qrels judge passages, and the index has papers: the grade of a paper is its highest."


class Models:
    """The configured language model with other settings, and others of its endpoint, opened on first use."""

    def __init__(self, settings: Settings, closed_at_end: AsyncExitStack) -> None:
        """Store the settings; nothing is opened yet."""
        self._settings = settings
        self._closed_at_end = closed_at_end
        self._open: dict[str, LanguageModel] = {}

    async def changed(self, **changes: Any) -> LanguageModel:
        """Return the model, with other settings such as another seed."""
        return await self._opened(self._settings.with_llm(**changes))

    async def named(self, model: str) -> LanguageModel:
        """Return another model of the same endpoint."""
        return await self._opened(self._settings.with_model(model))

    async def _opened(self, settings: Settings) -> LanguageModel:
        key = settings.generator.llm.model_dump_json()
        if key not in self._open:
            self._open[key] = await self._closed_at_end.enter_async_context(settings.language_model())
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


@dataclass(frozen=True, slots=True)
class Materials:
    """The inputs of an experiment."""

    index: SearchIndex  # an open index
    topics: Mapping[str, str]  # questions by query_id
    settings: Settings  # settings of all stages; without a language model unless the call uses it
    qrels: Qrels = field(default_factory=dict)  # in the unit of the index
    # The files that were read, by the name of the option.
    inputs: Mapping[str, Input] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # about topics and judgements that are left out
    strategies: Mapping[str, Strategy] = field(default_factory=dict)  # recorded ones by query_id
    sources: DeclaredSources | None = None  # of a call with further sources
    # Further properties that affect results, for the record of the index.
    more_record: Mapping[str, Any] = field(default_factory=dict)
    own: Any = None  # further inputs, of a type that the experiment knows
    model: LanguageModel | None = None  # the language model, if the call uses it
    models: Models | None = None  # the same model with other settings

    @property
    def has_strategies(self) -> bool:
        """Whether a file or a language model gives the strategies, and not statistics alone."""
        return bool(self.strategies or self.model)

    @property
    def collapses(self) -> bool:
        """Whether hits are papers, because the index contains papers."""
        return self.index.manifest.unit == "paper"

    def id_of(self, hit: EngineHit | Hit) -> str:
        """Return the id of a hit in the unit of the index."""
        return hit.doc_id if self.collapses else hit.passage_id

    def index_record(self) -> dict[str, Any]:
        """Return the properties of the index and of sources that affect results."""
        sources = sources_record(self.sources.declared, [])["sources"] if self.sources else {}
        return {**index_record(self.index.manifest), **sources, **self.more_record}


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


@contextmanager
def with_sources(materials: Materials, names: Sequence[str]) -> Iterator[Materials]:
    """Add declared sources, if any are named; raises as `read_declared`."""
    if not names:
        yield materials
        return
    settings = materials.settings
    with closing(SharedModels(settings.indexer, settings.retriever.synonyms)) as models:
        sources = DeclaredSources(read_declared(names), settings.indexer, models)
        yield replace(materials, sources=sources)


@contextmanager
def opened_materials(call: JudgedCall, *, by_id: bool = True, unjudged: bool = False) -> Iterator[Materials]:
    """Open the index and read topics and qrels; close the index at the end.

    Without `by_id`, documents are identified by other means, and the ids of the qrels may be unknown.
    `unjudged` includes topics without a relevant judgement.

    Raises:
        BadTopics, BadQrels, InvalidCall: as `read_judged` and `recorded_strategies`.
        NothingJudged: no relevant id is in the index.
        ResourceError: as `open_index`.
    """
    topics, qrels, notes, inputs = read_judged(call.topics, call.qrels, unjudged=unjudged)
    settings, (strategies, file) = settings_for(call), recorded_strategies(call, topics)
    with opened_index(call.index, settings) as index:
        if by_id:
            qrels, more = asyncio.run(in_unit_of(index, qrels, topics, call.qrels))
            notes += more
        of_topics = {query_id: qrels.get(query_id, {}) for query_id in topics} | qrels
        yield Materials(index, topics, settings, of_topics, inputs | file, notes, strategies)


def read_judged(
    topics_path: str, qrels_path: str, *, unjudged: bool = False
) -> tuple[dict[str, str], Qrels, tuple[str, ...], dict[str, Input]]:
    """Return the topics that have a relevant judgement, qrels, notes about the others, and the files.

    `unjudged` includes all topics.

    Raises:
        BadTopics, BadQrels: with file and line.
        InvalidCall: no topic has a relevant judgement.
    """
    inputs = {"topics": Input(topics_path), "qrels": Input(qrels_path)}
    topics, qrels = read_topics(topics_path, inputs["topics"]), read_qrels(qrels_path, inputs["qrels"])
    relevant = {query_id for query_id, grades in qrels.items() if max(grades.values()) > 0}
    judged = {query_id: question for query_id, question in topics.items() if query_id in relevant}
    if not judged:
        raise InvalidCall(
            f"no topic of {topics_path} ({next(iter(topics))}, …) has a relevant judgement in {qrels_path} "
            f"({next(iter(qrels))}, …)"
        )
    notes = []
    if not unjudged and (left_out := len(topics) - len(judged)):
        notes.append(f"{counted(left_out, 'topic')} left out: no relevant judgement.")
    if unasked := [query_id for query_id in qrels if query_id not in topics]:
        number = counted(len(unasked), "judged question")
        notes.append(f"{number} not among the topics ({unasked[0]}, …).")
    return topics if unjudged else judged, qrels, tuple(notes), inputs


def recorded_strategies(
    call: ExperimentCall, topics: Iterable[str]
) -> tuple[Mapping[str, Strategy], dict[str, Input]]:
    """Read the recorded strategies of a call, by query_id, and their file; none if it names no file.

    Raises:
        InvalidCall: as `RecordedStrategies.read`, or the call uses a language model too.
    """
    path = getattr(call, "strategies", None)
    if path is None:
        return {}, {}
    if call.model:
        raise InvalidCall(
            "recorded strategies replace a language model", remedy="leave out --model or --strategies"
        )
    read = RecordedStrategies.read(Path(path), topics)
    return read.strategies, {"strategies": read.file}


async def in_unit_of(
    index: SearchIndex, qrels: Qrels, topics: Iterable[str], where: str
) -> tuple[Qrels, tuple[str, ...]]:
    """Return qrels in the unit of the index, and notes about a conversion and about ids that it lacks.

    Judgements of passages are converted to judgements of papers if the index has papers and none of the ids.

    Raises:
        NothingJudged: the index contains none of at most 10,000 relevant ids; names ids of both, and units.
    """
    unit, name = index.manifest.unit, index.manifest.name

    async def look_up(given: Qrels) -> tuple[list[str], list[str], Iterable[str]]:
        """Return the relevant ids, those that the index lacks, and those that it has in the other unit."""
        grades = (given.get(query_id, {}) for query_id in topics)
        relevant = (judged for each in grades for judged, grade in each.items() if grade > 0)
        ids = list(dict.fromkeys(islice(relevant, MOST_LOOKED_UP)))
        passages, papers = await index.engine.records(ids, ids)
        found, others = (papers, passages) if unit == "paper" else (passages, papers)
        return ids, [each for each in ids if each not in found], others

    ids, missing, others = await look_up(qrels)
    notes: tuple[str, ...] = ()
    by_paper = {query_id: grades_of_papers(grades) for query_id, grades in qrels.items()}
    if missing == ids and unit == "paper" and by_paper != qrels:
        qrels, notes = by_paper, (BY_PAPER,)
        ids, missing, others = await look_up(qrels)
    if missing != ids:
        lacks = f"{counted(len(missing), 'relevant id')} of {len(ids):,} not in the index"
        return qrels, (*notes, f"{lacks} ({missing[0]}, …).") if missing else notes
    if others:
        judged = UNITS["passage" if unit == "paper" else "paper"]
        raise NothingJudged(
            f"{where} judges {judged} ({next(iter(others))}, …), the index {name!r} ranks {UNITS[unit]}; "
            f"build an index whose records are the judged {judged}"
        )
    [first] = await index.engine.search([(EVERYTHING, 1)], filters=Filters(), collapse=unit == "paper")
    example = "".join(f", such as {hit.doc_id if unit == 'paper' else hit.passage_id}" for hit in first)
    raise NothingJudged(
        f"{where}: no relevant id ({missing[0]}, …) is in the index {name!r}, which contains "
        f"{UNITS[unit]}{example}; index the judged corpus, with the ids of the qrels"
    )


def topic_values(topics: Input, key: str, kind: TypeAdapter[T]) -> dict[str, T]:
    """Return the values of a key of topics in JSON lines by query_id, such as the day of a question.

    Topics without a value, and in columns, are left out. The copy of the bytes is read, since a pipe can be
    read only once.

    Args:
        topics: a file that `read_topics` has read.
        key: of the JSON objects.
        kind: checks and converts a value.

    Raises:
        BadTopics: with file and line; a value of another type.
    """
    content = Path(topics.path).read_bytes() if topics.content is None else topics.content
    if content.startswith(GZIP_MAGIC):
        content = gzip.decompress(content)
    values: dict[str, T] = {}
    for number, line in enumerate(content.decode().split("\n"), 1):
        text, where = line.removeprefix(MARK).strip(), f"{topics.path}:{number}"
        record = DECODER.decode(text) if text.startswith("{") else {}
        if record.get(key) not in (None, ""):
            try:
                values[query_id_of(record, where)] = kind.validate_python(record[key])
            except ValidationError as error:
                raise BadTopics(f"{where}: {key}: {reason(error)}") from None
    return values
