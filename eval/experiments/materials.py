"""Inputs of an experiment: its options, an open index, topics, judgements, settings and models."""

import random
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from pydantic import Field

from base.amounts import counted
from base.calls import Call, Flag, Section
from base.errors import InvalidCall
from base.terminal.call_options import flag_of
from eval.collection import Qrels, TopicLine, questions_of, read_qrels, read_topic_lines
from eval.errors import NothingJudged
from eval.files import Input
from eval.manifest import index_record, sources_record
from eval.places import Places
from eval.strategies import RecordedStrategies
from eval.units import grades_of_papers
from generator.llm import LanguageModel
from generator.pipeline import Settings
from indexer.options import chosen_index
from indexer.settings import CheckSettings
from retriever.calls import IndexName
from retriever.engines import EngineHit
from retriever.index import SearchIndex, open_index
from retriever.queries.boolean import EVERYTHING
from retriever.queries.filters import Filters
from retriever.sources.configuration import DeclaredSource, read_declared
from retriever.stages.hits import Hit
from retriever.strategy import Strategy

T = TypeVar("T", bound=TopicLine)

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


@dataclass(frozen=True, slots=True)
class Materials:
    """The inputs of an experiment."""

    index: SearchIndex  # an open index
    topics: Mapping[str, str]  # questions by query_id
    settings: Settings  # settings of all stages; without a language model unless the call uses it
    qrels: Qrels = field(default_factory=dict)  # in the unit of the index
    inputs: Mapping[str, Input] = field(default_factory=dict)  # the files read, by the name of the option
    notes: tuple[str, ...] = ()  # about topics and judgements that are left out
    strategies: Mapping[str, Strategy] = field(default_factory=dict)  # recorded ones by query_id
    lines: Mapping[str, Any] = field(default_factory=dict)  # topics with their further keys, by query_id
    declared: Sequence[DeclaredSource] = ()  # of a call with further sources
    places: Places | None = None  # these sources, opened
    more_record: Mapping[str, Any] = field(default_factory=dict)  # further properties that affect results
    own: Any = None  # further inputs, of a type that the experiment knows
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
        return {**index_record(self.index.manifest), **sources, **self.more_record}


@contextmanager
def opened_index(
    call: ExperimentCall,
    topics: Mapping[str, str],
    inputs: Mapping[str, Input],
    name_of: Callable[[Settings], str | None] | None = None,
) -> Iterator[Materials]:
    """Read the recorded strategies of a call, and open its index, or that of `name_of`, with a fixed version.

    Raises:
        InvalidCall: as `RecordedStrategies.read`, or recorded strategies and a language model are given.
        ResourceError: as `open_index`.
    """
    strategies: Mapping[str, Strategy] = {}
    if path := getattr(call, "strategies", None):
        if call.model:
            raise InvalidCall(
                "recorded strategies replace a language model", remedy="leave out --model or --strategies"
            )
        read = RecordedStrategies.read(Path(path), topics)
        strategies, inputs = read.strategies, {**inputs, "strategies": read.file}
    settings = Settings.from_environment()
    # Answers are not checked: an experiment judges them itself, or does not use the checks.
    unchecked = settings.indexer.model_copy(update={"check": CheckSettings(judge="none")})
    settings = replace(settings, indexer=unchecked)
    settings = settings if call.model else settings.with_llm(base_url=None)
    name = name_of(settings) if name_of else getattr(call, "index", None)
    places, synonyms = settings.indexer, settings.retriever.synonyms
    with open_index(places, chosen_index(name, places), synonyms, follow=False) as index:
        yield Materials(index, topics, settings, inputs=inputs, strategies=strategies)


@contextmanager
def opened_materials(
    call: JudgedCall, kind: type[TopicLine] = TopicLine, *, by_id: bool = True, unjudged: bool = False
) -> Iterator[Materials]:
    """Open the index and read topics and qrels; close the index at the end.

    Without `by_id`, documents are identified by other means, and the ids of the qrels may be unknown.
    `unjudged` includes topics without a relevant judgement.

    Raises:
        BadTopics, BadQrels, InvalidCall: as `read_judged` and `opened_index`.
        NothingJudged: no relevant id is in the index.
    """
    topics, qrels, notes, inputs = read_judged(call.topics, call.qrels, kind, unjudged=unjudged)
    with opened_index(call, questions_of(topics), inputs) as materials:
        if by_id:
            qrels, more = in_unit_of(materials.index, qrels, topics, call.qrels)
            notes += more
        of_topics = {query_id: qrels.get(query_id, {}) for query_id in topics} | qrels
        declared = read_declared(getattr(call, "sources", ()))
        yield replace(materials, qrels=of_topics, notes=notes, lines=topics, declared=declared)


def read_judged(
    topics_path: str, qrels_path: str, kind: type[T], *, unjudged: bool = False
) -> tuple[dict[str, T], Qrels, tuple[str, ...], dict[str, Input]]:
    """Read the topics that have a relevant judgement, or all if `unjudged`, and qrels.

    Returns both, notes about those that do not fit, and the files by option.

    Raises:
        BadTopics, BadQrels: with file and line.
        InvalidCall: no topic has a relevant judgement.
    """
    inputs = {"topics": Input(topics_path), "qrels": Input(qrels_path)}
    topics, qrels = read_topic_lines(inputs["topics"], kind), read_qrels(inputs["qrels"])
    judged = {key: topic for key, topic in topics.items() if max(qrels.get(key, {}).values(), default=0) > 0}
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


def in_unit_of(
    index: SearchIndex, qrels: Qrels, topics: Iterable[str], where: str
) -> tuple[Qrels, tuple[str, ...]]:
    """Return qrels in the unit of the index, and notes about a conversion and about ids that it lacks.

    Judgements of passages are converted to judgements of papers if the index has papers and none of the ids.

    Raises:
        NothingJudged: the index contains none of at most 10,000 relevant ids; names ids of both, and units.
    """
    ranks_papers, name = index.manifest.unit == "paper", index.manifest.name
    by_paper = {query_id: grades_of_papers(grades) for query_id, grades in qrels.items()}
    for given in (qrels, by_paper) if ranks_papers and by_paper != qrels else (qrels,):
        grades = (given.get(query_id, {}) for query_id in topics)
        relevant = (judged for each in grades for judged, grade in each.items() if grade > 0)
        ids = list(dict.fromkeys(islice(relevant, MOST_LOOKED_UP)))
        passages, papers = index.engine.records(ids, ids)
        found, others = (papers, passages) if ranks_papers else (passages, papers)
        missing = [each for each in ids if each not in found]
        if missing != ids:
            notes = () if given is qrels else (BY_PAPER,)
            lacks = f"{counted(len(missing), 'relevant id')} of {len(ids):,} not in the index"
            return given, (*notes, f"{lacks} ({missing[0]}, …).") if missing else notes
    ranked, judged = ("papers", "passages") if ranks_papers else ("passages", "papers")
    if others:
        raise NothingJudged(
            f"{where} judges {judged} ({next(iter(others))}, …), the index {name!r} ranks {ranked}; "
            f"build an index whose records are the judged {judged}"
        )
    [first] = index.engine.search([(EVERYTHING, 1)], filters=Filters(), collapse=ranks_papers)
    example = "".join(f", such as {hit.doc_id if ranks_papers else hit.passage_id}" for hit in first)
    raise NothingJudged(
        f"{where}: no relevant id ({missing[0]}, …) is in the index {name!r}, which contains "
        f"{ranked}{example}; index the judged corpus, with the ids of the qrels"
    )
