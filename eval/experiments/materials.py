"""Inputs of an experiment: its options, an open index, topics, judgements, settings and models."""

import random
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import Field

from base.amounts import counted
from base.calls import Call, Flag, Section
from base.errors import InvalidCall
from base.terminal.call_options import flag_of
from eval.collection import Qrels, TopicLine, read_qrels, read_topic_lines
from eval.errors import NothingJudged
from eval.files import Input
from eval.manifest import index_record, sources_record
from eval.places import Places
from eval.ranking import read_recorded
from eval.units import grades_of_papers
from generator.llm import LanguageModel
from generator.pipeline import Settings
from indexer.options import chosen_index
from indexer.settings import CheckSettings
from retriever.calls import IndexName
from retriever.engines import EngineHit
from retriever.index import SearchIndex, open_index
from retriever.sources.configuration import DeclaredSource, read_declared
from retriever.stages.hits import Hit
from retriever.strategy import Strategy

MOST_LOOKED_UP = 10_000  # judged ids
BY_PAPER = "The qrels judge passages, and the index has papers: the grade of a paper is its highest."

ARGUMENT, LIMIT, FILE, ANSWERING, SEARCHING = (
    Flag(argument=True),
    Flag(section=Section.LIMITS),
    Flag(section=Section.PLACE, metavar="FILE"),
    Flag(section=Section.ANSWERING),
    Flag(section=Section.SEARCHING),
)


def option(text: str, default: Any = ..., flag: Flag = LIMIT, **bounds: Any) -> Any:
    """Return an option with its description, or an argument; without a default it is required."""
    field = Field(default, description=text, **bounds)
    field.metadata.append(flag)
    return field


def documents(default: int, text: str = "Documents for each topic.") -> Any:
    """Return the option of a number of documents."""
    return option(text, default, replace(LIMIT, name="-k"), ge=1, le=100)


def seed(text: str = "Seed of the samples.") -> Any:
    """Return the option of a seed."""
    return option(text, 0, ge=0, lt=2**63)


def strategies() -> Any:
    """Return the option of recorded strategies."""
    text = "Recorded strategies of the topics, JSON lines with query_id, instead of a strategist."
    return option(text, None, replace(SEARCHING, metavar="FILE"))


def drawing(seed: int | str) -> random.Random:
    """Return the generator of samples with a seed."""
    return random.Random(seed)  # noqa: S311 - not for secrets


class ExperimentCall(Call):
    """The options of every experiment."""

    model: bool = option(
        "Use the configured language model; without it, statistics and rules.", default=False, flag=ANSWERING
    )

    @classmethod
    def files(cls) -> list[str]:
        """Return the fields that are paths of inputs, or None."""
        flags = {name: flag_of(field) for name, field in cls.model_fields.items()}
        return [name for name, flag in flags.items() if flag.argument or flag.metavar == "FILE"]


class IndexCall(ExperimentCall):
    """The options of an experiment on an index of the user."""

    index: IndexName = None


class JudgedCall(IndexCall):
    """The options of an experiment on an index, topics and judgements of the user."""

    topics: str = option("File of topics: id, tab, question, or JSON lines.", flag=ARGUMENT)
    qrels: str = option("File of judgements, TREC's or BEIR's.", flag=ARGUMENT)


class StrategyCall(JudgedCall):
    """The options of an experiment whose searches use strategies."""

    strategies: str | None = strategies()


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """The inputs of an experiment that are read before the index is opened."""

    topics: Mapping[str, str]  # questions by query_id
    files: Mapping[str, Input]  # the files read, by the name of the option
    qrels: Qrels = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # about topics and judgements that are left out
    lines: Mapping[str, Any] = field(default_factory=dict)  # topics with their further keys, by query_id
    own: Any = None  # further inputs, of a type that the experiment knows
    record: Mapping[str, Any] = field(default_factory=dict)  # further properties that affect results
    index_name: str | None = None  # of an index that the experiment built
    by_id: bool = True  # whether the qrels have the ids of the index


@dataclass(frozen=True, kw_only=True)
class Materials(Inputs):
    """The inputs of an experiment with the open index, whose unit the qrels have, settings and models."""

    index: SearchIndex
    settings: Settings  # of all stages; without a language model unless the call uses it
    strategies: Mapping[str, Strategy] = field(default_factory=dict)  # recorded ones by query_id
    declared: Sequence[DeclaredSource] = ()  # of a call with further sources
    places: Places | None = None  # these sources, opened
    model: LanguageModel | None = None  # the language model, if the call uses it
    open_model: Callable[[Settings], Awaitable[LanguageModel]] | None = None  # the same with other settings

    @property
    def collapses(self) -> bool:
        """Whether hits are papers, because the index contains papers."""
        return self.index.manifest.unit == "paper"

    def id_of(self, hit: EngineHit | Hit) -> str:
        """Return the id of a hit in the unit of the index."""
        return hit.doc_id if self.collapses else hit.passage_id

    def index_record(self) -> dict[str, Any]:
        """Return the properties of the index and of sources that affect results."""
        sources = sources_record(self.declared, [])["sources"]
        return {**index_record(self.index.manifest), **sources, **self.record}


def settings_of(call: ExperimentCall) -> Settings:
    """Return the settings of an experiment.

    Answers are not checked: an experiment judges them itself, or does not use the checks.
    """
    settings = Settings.from_environment()
    unchecked = settings.indexer.model_copy(update={"check": CheckSettings(judge="none")})
    settings = replace(settings, indexer=unchecked)
    return settings if call.model else settings.with_llm(base_url=None)


@contextmanager
def opened_materials(call: ExperimentCall, inputs: Inputs, settings: Settings) -> Iterator[Materials]:
    """Open the index with a fixed version, and read the recorded strategies.

    Raises:
        InvalidCall: as `read_recorded`, or recorded strategies and a language model are given.
        NothingJudged: no relevant id is in the index.
        ResourceError: as `open_index`.
    """
    strategies: Mapping[str, Strategy] = {}
    if path := getattr(call, "strategies", None):
        if call.model:
            raise InvalidCall(
                "recorded strategies replace a language model", remedy="leave out --model or --strategies"
            )
        strategies, file = read_recorded(Path(path), inputs.topics)
        inputs = replace(inputs, files={**inputs.files, "strategies": file})
    name, places = inputs.index_name or getattr(call, "index", None), settings.indexer
    more: dict[str, Any] = {"settings": settings, "strategies": strategies}
    more["declared"] = read_declared(getattr(call, "sources", ()))
    with open_index(places, chosen_index(name, places), settings.retriever.synonyms, follow=False) as index:
        if inputs.qrels and inputs.by_id:
            qrels, notes = in_unit_of(index, inputs.qrels, inputs.topics, str(inputs.files["qrels"]))
            inputs = replace(inputs, qrels=qrels, notes=(*inputs.notes, *notes))
        yield Materials(**vars(inputs), **more, index=index)


def read_judged(
    call: JudgedCall, _: Any = None, kind: type[TopicLine] = TopicLine, *, unjudged: bool = False
) -> Inputs:
    """Read topics and qrels: the topics that have a relevant judgement, or all if `unjudged`.

    Raises:
        BadTopics, BadQrels: with file and line.
        InvalidCall: no topic has a relevant judgement.
    """
    files = {"topics": Input(call.topics), "qrels": Input(call.qrels)}
    topics, qrels = read_topic_lines(files["topics"], kind), read_qrels(files["qrels"])
    judged = {key: topic for key, topic in topics.items() if max(qrels.get(key, {}).values(), default=0) > 0}
    if not judged:
        raise InvalidCall(
            f"no topic of {call.topics} ({next(iter(topics))}, …) has a relevant judgement in {call.qrels} "
            f"({next(iter(qrels))}, …)"
        )
    notes = []
    if not unjudged and (left_out := len(topics) - len(judged)):
        notes.append(f"{counted(left_out, 'topic')} left out: no relevant judgement.")
    if unasked := [query_id for query_id in qrels if query_id not in topics]:
        number = counted(len(unasked), "judged question")
        notes.append(f"{number} not among the topics ({unasked[0]}, …).")
    lines = topics if unjudged else judged
    texts = {query_id: topic.question for query_id, topic in lines.items()}
    qrels = {query_id: {} for query_id in lines} | qrels
    return Inputs(topics=texts, files=files, qrels=qrels, notes=tuple(notes), lines=lines)


def in_unit_of(
    index: SearchIndex, qrels: Qrels, topics: Iterable[str], where: str
) -> tuple[Qrels, tuple[str, ...]]:
    """Return qrels in the unit of the index, and notes about a conversion and about ids that it lacks.

    Judgements of passages are converted to judgements of papers if the index has papers and none of the ids.

    Raises:
        NothingJudged: the index contains none of at most 10,000 relevant ids.
    """
    ranks_papers = index.manifest.unit == "paper"
    ids: list[str] = []
    for given in (qrels, {query_id: grades_of_papers(of) for query_id, of in qrels.items()}):
        grades = (given.get(query_id, {}) for query_id in topics)
        relevant = (judged for each in grades for judged, grade in each.items() if grade > 0)
        ids = list(dict.fromkeys(islice(relevant, MOST_LOOKED_UP)))
        passages, papers = index.engine.records(ids, ids)
        missing = [each for each in ids if each not in (papers if ranks_papers else passages)]
        if missing != ids:
            notes = () if given is qrels else (BY_PAPER,)
            lacks = f"{counted(len(missing), 'relevant id')} of {len(ids):,} not in the index"
            return given, (*notes, f"{lacks} ({missing[0]}, …).") if missing else notes
        if not ranks_papers:
            break
    raise NothingJudged(
        f"{where}: no relevant id ({ids[0]}, …) is in the index {index.manifest.name!r}, which ranks "
        f"{index.manifest.unit}s; index the judged corpus, with the ids of the qrels"
    )
