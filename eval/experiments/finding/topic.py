"""A question with its judged papers, and searches for papers with the options of a call."""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date
from http import HTTPStatus
from typing import Any

from eval.experiments.finding.inputs import FindingCall, FindingMaterials
from eval.experiments.finding.paper_identity import JudgedPapers, is_after
from eval.experiments.finding.set_measures import SetCounts
from eval.experiments.materials import DeclaredSources
from eval.runs import Ranking, as_written
from generator.errors import CircuitOpen, ContextExceeded, ModelFailed, ModelRefusedCall
from generator.finding.agents import PURE
from generator.finding.finding import (
    OpenedSources,
    find_in_sources,
    find_resources,
    index_as_source,
)
from generator.finding.request import FindRequest, FindResources
from generator.finding.result import FoundPapers
from generator.llm import LanguageModel
from generator.pipeline import Settings
from generator.tracing.steps import Step
from indexer.corpora.papers import Paper
from retriever.conditions import find_conditions
from retriever.queries.boolean import Range
from retriever.queries.filters import Filters


@dataclass(frozen=True, slots=True)
class FindingTopic:
    """A question, its judged papers, and everything that a search for papers needs.

    Args:
        question: as typed.
        day: of the question; newer papers are left out of every list. None if unknown.
        judged: its judged papers.
        opened: the index as a source.
        sources: of the call, which are searched instead of the index; None without any.
        settings: of all stages.
        filters: of searches in sources: the years of the question, up to its day; without a day no filter.
            The index is searched without it, since its papers may have no year.
        model: the language model, if the call uses it.
    """

    question: str
    day: date | None
    judged: JudgedPapers
    opened: OpenedSources
    sources: DeclaredSources | None
    settings: Settings
    filters: Filters
    model: LanguageModel | None

    def ids(self, papers: Iterable[Paper], *, own_id: bool | None = None) -> list[str]:
        """Return the ids of papers in their order: the judged id, else their own.

        Newer papers and further records of a paper are left out. `own_id` states that the papers have the ids
        of the index, as they do by default if the call names no sources.
        """
        own_id = self.sources is None if own_id is None else own_id
        known = (paper for paper in papers if not is_after(paper, self.day))
        return self.judged.known_ids(known, own_id=own_id)

    def counts(self, ids: Sequence[str]) -> dict[str, int]:
        """Return the counts of a list of ids as JSON."""
        return SetCounts.of(ids, self.judged.relevant).record()

    @asynccontextmanager
    async def searched(self) -> AsyncIterator[OpenedSources]:
        """Open the sources of the call, or return the index."""
        if self.sources is None:
            yield self.opened
            return
        async with self.sources.open() as sources:
            yield OpenedSources(sources, models=self.sources.models)


async def open_topic(materials: FindingMaterials, query_id: str, question: str) -> FindingTopic:
    """Read the records of the judged papers, from the index or the file of papers."""
    index = materials.index
    grades = materials.qrels.get(query_id, {})
    opened = index_as_source(index.manifest.name, index)
    indexed = await opened.sources[0].source.papers(list(grades))
    records = {paper_id: materials.records[paper_id] for paper_id in grades if paper_id in materials.records}
    records |= {paper_id: found.paper for paper_id, found in indexed.items()}
    judged = JudgedPapers.of(grades, records, held=indexed)
    day = materials.days.get(query_id)
    return FindingTopic(
        question,
        day,
        judged,
        opened,
        materials.sources,
        materials.settings,
        _until(question, day),
        materials.model,
    )


def _until(question: str, day: date | None) -> Filters:
    """Return a filter of the years that the question names, up to its day.

    A filter replaces the years that a search for papers reads in the question.
    """
    if day is None:
        return Filters()
    low, high = find_conditions(question).years or (None, None)
    return Filters(years=Range(low, day.year if high is None else min(high, day.year)))


def find_request(call: FindingCall, topic: FindingTopic, **options: Any) -> FindRequest:
    """Return the request of a search for the papers of a topic; `options` are fields of `FindRequest`."""
    without = frozenset(options.pop("without", ())) | (PURE if call.pure else frozenset())
    values = {"papers": call.k, "rounds": call.rounds, "seed": call.seed} | options
    if topic.day:
        values["this_year"] = topic.day.year
    return FindRequest(topic.question, **values, without=without)


async def find(call: FindingCall, topic: FindingTopic, **options: Any) -> FoundPapers:
    """Find the papers of a topic from scratch in the sources of the call, or in the index."""
    if topic.sources:
        options["filters"] = topic.filters
    request = find_request(call, topic, **options)
    async with topic.searched() as opened:
        return await find_in_sources(opened, request, topic.settings, model=topic.model)


async def find_in_index(call: FindingCall, topic: FindingTopic) -> FoundPapers:
    """Find the papers of a topic from scratch in the index."""
    request = find_request(call, topic)
    return await find_in_sources(topic.opened, request, topic.settings, model=topic.model)


@asynccontextmanager
async def resources_of(
    topic: FindingTopic, request: FindRequest, *, of_index: bool = False
) -> AsyncIterator[FindResources]:
    """Open the resources of the agents, to call one of them alone."""
    async with topic.searched() as searched:
        opened = topic.opened if of_index else searched
        async with find_resources(opened, request, topic.settings, topic.model) as resources:
            yield resources


def ranking_of(ids: Sequence[str]) -> Ranking:
    """Return a ranking in the order of the ids, with the score 1 / rank."""
    return as_written([(paper_id, 1 / rank) for rank, paper_id in enumerate(ids, 1)])


def failures_of(step: Step) -> list[str]:
    """Return the errors of model calls whose reply was unusable, so that rules replaced it.

    Raises:
        ModelFailed: the server is unreachable, too slow, or refuses calls, so that the result of the topic
            would be that of the rules.
    """
    errors = []
    for part in step.walk():
        if part.failure is None:
            continue
        if _concerns_all_calls(part.failure):
            raise part.failure
        errors.append(part.error or str(part.failure))
    return errors


def _concerns_all_calls(failure: Exception) -> bool:
    if isinstance(failure, ModelRefusedCall) and not isinstance(failure, ContextExceeded):
        return failure.status >= HTTPStatus.BAD_REQUEST
    return isinstance(failure, CircuitOpen) or (isinstance(failure, ModelFailed) and failure.of_server)
