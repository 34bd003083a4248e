"""Inputs of an experiment: an open index, topics, judgements, settings and models."""

import asyncio
import hashlib
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Self, TypeVar

from base.amounts import counted
from base.errors import InvalidCall
from eval.manifest import index_record
from eval.qrels import Qrels, read_qrels
from eval.reproduction.experiment import ExperimentCall, JudgedCall
from eval.reproduction.judged_ids import in_unit_of
from eval.topics import read_topics
from generator.llm import LanguageModel
from generator.pipeline import Settings
from indexer.options import chosen_index
from retriever.engines import EngineHit
from retriever.index import SearchIndex, open_index
from retriever.stages.hits import Hit

MOST_COPIED = 32_000_000  # bytes of an input that is copied into the folder of results


class Input:
    """A file that is read once, with its SHA-256 and a copy of its bytes.

    It has the method `update` of a hash, as the readers of topics and qrels pass on the bytes that they read.
    """

    def __init__(self, path: str | Path) -> None:
        """`path` is the path as given."""
        self.path = str(path)
        self._hash, self._copy = hashlib.sha256(), bytearray()

    def update(self, content: bytes | memoryview, /) -> None:
        """Add bytes of the file."""
        self._hash.update(content)
        if len(self._copy) <= MOST_COPIED:
            self._copy += content

    @property
    def sha256(self) -> str:
        """The SHA-256 of the bytes."""
        return self._hash.hexdigest()

    @property
    def content(self) -> bytes | None:
        """The bytes; None for a file that is too large for a copy."""
        return bytes(self._copy) if len(self._copy) <= MOST_COPIED else None


class Models:
    """The configured language model, the same with other seeds, and others of its endpoint.

    Each is opened on first use.
    """

    def __init__(self, settings: Settings) -> None:
        """Store the settings; nothing is opened yet."""
        self._settings = settings
        self._open: dict[tuple[str | None, int | None, float], LanguageModel] = {}
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

    async def sampled(self, seed: int | None, temperature: float) -> LanguageModel:
        """Return the model with another seed and temperature."""
        return await self._opened(self._settings.with_llm(seed=seed, temperature=temperature))

    async def named(self, model: str) -> LanguageModel:
        """Return another model of the same endpoint."""
        return await self._opened(self._settings.with_model(model))

    async def _opened(self, settings: Settings) -> LanguageModel:
        llm = settings.generator.llm
        key = (llm.model, llm.seed, llm.temperature)
        if key not in self._open:
            self._open[key] = await self._closing.enter_async_context(settings.language_model())
        return self._open[key]


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
        models: the same model with other seeds.
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
        """Return the properties of the index that affect results."""
        return index_record(self.index.manifest)


M = TypeVar("M", bound=Materials)


def with_more(kind: type[M], materials: Materials, **more: Any) -> M:
    """Return the inputs as a subclass; `more` has its further fields, and replaces fields."""
    given = {each.name: getattr(materials, each.name) for each in fields(materials)}
    return kind(**given | more)


def settings_for(call: ExperimentCall) -> Settings:
    """Read the settings; without a language model unless the call uses it."""
    settings = Settings.from_environment()
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
        BadTopics, BadQrels, InvalidCall: as `read_judged`.
        NothingJudged: no relevant id is in the index.
        ResourceError: as `open_index`.
    """
    judged, settings = read_judged(call.topics, call.qrels), settings_for(call)
    with opened_index(call.index, settings) as index:
        qrels = judged.qrels
        notes: tuple[str, ...] = ()
        if by_id:
            qrels, notes = asyncio.run(in_unit_of(index, qrels, list(judged.topics), call.qrels))
        gaps = (*judged.gaps, *notes)
        yield Materials(index, judged.topics, settings, qrels, judged.inputs, judged.unjudged, gaps)
