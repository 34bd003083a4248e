"""Entry points of paper finding.

Scripts and notebooks call `find_papers`; callers with open sources await `find_in_sources`.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from base.errors import InvalidCall
from base.logs import request_id
from base.notes import Note
from base.untrusted import one_line
from generator.budgets import Allowance, Budget, Spent
from generator.finding.agents.evolver import evolve
from generator.finding.agents.judgement import judge
from generator.finding.agents.refchain import follow
from generator.finding.agents.reranking import RankedPaper, rerank
from generator.finding.agents.retrieval import retrieve
from generator.finding.agents.understanding import understand
from generator.finding.calls import FILTERS, FindCall, FindRequest
from generator.finding.result import FoundPapers
from generator.finding.state import FindingState, FindResources, SearchQuery
from generator.llm import LanguageModel
from generator.request import Settings
from generator.tracing import Listener, Step
from indexer.glossary.storage import Glossary
from retriever.conditions import Conditions, FieldValue, find_conditions
from retriever.queries.filters import Filters, make_filters
from retriever.relevance.paper_ranking import QuestionRanking
from retriever.relevance.papers import PaperRelevance
from retriever.request import SearchRequest
from retriever.sources import ANALYZER, DECOMPOUND
from retriever.sources.merging import LimitedSource
from retriever.strategy import Strategy

if TYPE_CHECKING:  # not every source is an index
    from retriever.index import SearchIndex
    from retriever.sources.gathered import SharedModels

INDEX_SECONDS = 60.0  # time limit of an index of this project


@dataclass(frozen=True, slots=True)
class OpenedSources:
    """Open sources, with glossary and models for their papers."""

    sources: Sequence[LimitedSource]
    glossary: Glossary | None = None  # of an index; it has more pairs than the general one
    models: "SharedModels | None" = None  # without them, each search opens its own


@asynccontextmanager
async def open_places(name: str, sources: Sequence[str], settings: Settings) -> AsyncIterator[OpenedSources]:
    """Open declared sources, else an index as the only source.

    Raises like `read_declared` and `open_declared`, or like `open_index`.
    """
    from retriever.index import open_index
    from retriever.sources.configuration import read_declared
    from retriever.sources.gathered import open_declared

    if sources:
        async with open_declared(read_declared(sources), settings.indexer) as declared:
            yield OpenedSources(declared)
        return
    index = await asyncio.to_thread(open_index, settings.indexer, name)
    try:
        yield index_as_source(name, index)
    finally:
        await asyncio.to_thread(index.close)


def index_as_source(name: str, index: "SearchIndex") -> OpenedSources:
    """Use an open index as the only source; the caller still closes it."""
    from retriever.sources.kinds.index import IndexSource

    same = (index.manifest.analyzer, index.manifest.decompound) == (ANALYZER, DECOMPOUND)
    source = LimitedSource(IndexSource(name, index), INDEX_SECONDS)
    return OpenedSources([source], index.glossary if same else None)


async def find_in_sources(
    opened: OpenedSources,
    request: FindRequest,
    settings: Settings,
    *,
    state: FindingState | None = None,
    model: LanguageModel | None = None,
    listener: Listener | None = None,
) -> FoundPapers:
    """Find papers, with the language model if one is configured; `state` resumes an earlier search.

    Raises:
        SourceFailed: no source answers.
        InvalidCall: the state belongs to another question, or to sources that are not open.
    """
    if state is not None and state.question != request.question:
        raise InvalidCall(Note("state_of_another_question", question=state.question[:200]))
    if state is not None and (others := state.sources - {each.name for each in opened.sources}):
        raise InvalidCall(
            Note("state_of_other_sources", sources=one_line(", ".join(sorted(others)))),
            remedy="name them too",
        )
    step = Step("find-papers", request.as_record(), listener)
    before = replace(state or FindingState(request.question), request=request.changed(budget=Budget()))
    async with (
        settings.opened_model(model) as asked,
        find_resources(opened, request, settings, asked, before.spent) as resources,
    ):
        with request_id(), step.running():
            after, ranked = await find_in_steps(before, resources, step)
    allowance = resources.allowance
    is_unchanged = replace(after, spent=before.spent) == before  # a finished search was resumed
    notes = list(dict.fromkeys(step.all_notes()))
    if resources.request.filters != request.filters:
        fields = [field.text for field in resources.conditions.fields if field.field in FILTERS]
        notes.append(Note("fields_only", written=", ".join(fields)))
    if budget := allowance.note():
        notes.append(budget)
    judged = sum(known.judgement is not None for known in after.papers.values())
    if waiting := len(after.papers) - judged:
        notes.append(Note("not_judged_yet", found=len(after.papers), waiting=waiting))
    if judged and not ranked:
        notes.append(Note("none_relevant"))
    elif not after.papers and not budget:
        notes.append(Note("no_paper_within" if resources.request.filters != Filters() else "no_paper"))
    return FoundPapers(
        request,
        replace(after, spent=before.spent if is_unchanged else allowance.spent),
        tuple(ranked),
        tuple(notes),
        complete=not allowance.ended,
        step=step,
        milliseconds=step.milliseconds or 0.0,
    )


# The loop


async def find_in_steps(
    state: FindingState, resources: FindResources, step: Step
) -> tuple[FindingState, list[RankedPaper]]:
    """Run the steps until enough relevant papers are known, the rounds are over, or a budget is spent.

    After each step the state is published with the amounts spent so far, to be saved or shown.

    Raises:
        SourceFailed: no source answered, and the state has no papers.
    """

    def published(state: FindingState) -> FindingState:
        state = replace(state, spent=resources.allowance.spent)
        step.publish(state)
        return state

    if state.understanding is None:
        subject = resources.conditions.remaining
        understanding = await understand(resources, step)
        texts = dict.fromkeys((subject, *understanding.queries))
        queries = tuple(
            SearchQuery(text, "expanded" if place else "question") for place, text in enumerate(texts)
        )
        state = published(replace(state, understanding=understanding, subject=subject, queries=queries))
        step.notes += understanding.notes
    request = resources.request
    asked, given = state.understanding and state.understanding.years, request.filters.years
    if asked and not given:
        request = request.changed(filters=replace(request.filters, years=asked))
        resources = replace(resources, request=request)
    elif asked and asked != given:
        step.notes.append(Note("years_replaced", years=f"{asked.low or ''}–{asked.high or ''}"))
    while not resources.allowance.time_is_over:
        with step.step("round", number=state.round) as inner:
            state = published(await retrieve(state, resources, inner))
            state = published(await judge(state, resources, inner))
            for layer in range(1, request.layers + 1 if request.does("refchain") else 1):
                state = published(await follow(state, resources, inner, layer=layer))
                state = published(await judge(state, resources, inner))
            enough = len(state.relevant(request.threshold)) >= request.papers
            if enough or resources.allowance.ended:
                break
            if not request.does("evolver") or state.round >= request.rounds:
                break
            number = state.round
            state = published(await evolve(state, resources, inner))
        # Queries that are unsent because sources failed do not start a round.
        if state.round == number or not any(query.found is None for query in state.queries):
            break
    state, ranked = await rerank(state, resources, step)
    return published(state), ranked


# Resources


@asynccontextmanager
async def find_resources(
    opened: OpenedSources,
    request: FindRequest,
    settings: Settings,
    model: LanguageModel | None,
    spent: Spent | None = None,
) -> AsyncIterator[FindResources]:
    """Open the resources of the agents for one question; sources and model stay the caller's."""
    conditions, sources, allowance = _conditions(request), opened.sources, Allowance(request.budget, spent)
    request = request.changed(filters=_with_fields(request.filters, conditions.fields))
    # Years are a filter of the call.
    asked = SearchRequest(conditions.remaining, exclude=conditions.exclude, conditions=False)
    async with (
        _relevance(opened, settings) as relevance,
        QuestionRanking(asked, sources, relevance.models, settings.retriever) as ranking,
    ):
        excluded = await relevance.excluded(conditions.remaining, Strategy().excluding(conditions.exclude))
        yield FindResources(request, sources, relevance, ranking, model, allowance, conditions, excluded)


def _conditions(request: FindRequest) -> Conditions:
    """Return the conditions of a question; values of fields that are no filters are words of it."""
    found = find_conditions(request.question)
    others = [field for field in found.fields if field.field not in FILTERS]
    words = " ".join(field.value for field in others if not field.is_excluded)
    without = [field.value for field in found.fields if field.is_excluded]
    remaining = f"{found.remaining} {words}".strip() or " ".join(field.value for field in found.fields)
    return replace(found, remaining=remaining, exclude=(*found.exclude, *without))


def _with_fields(filters: Filters, fields: Sequence[FieldValue]) -> Filters:
    """Return filters with the fields of a question (`author:Jang`) that no option sets."""
    values = {field.field: field.value for field in fields if not field.is_excluded}
    given = make_filters(*map(values.get, FILTERS))
    return replace(
        filters, **{part: getattr(filters, part) or getattr(given, part) for part in FILTERS.values()}
    )


@asynccontextmanager
async def _relevance(opened: OpenedSources, settings: Settings) -> AsyncIterator[PaperRelevance]:
    """Open and close PaperRelevance in a thread, since it reads dictionaries and waits for running work."""
    making = partial(PaperRelevance, settings.indexer, opened.glossary, opened.models)
    relevance = await asyncio.to_thread(lambda: making().__enter__())
    try:
        yield relevance
    finally:
        await asyncio.to_thread(relevance.__exit__)


def find_papers(
    question: str | FindRequest,
    name: str = "",
    *,
    sources: Sequence[str] = (),
    state: FindingState | None = None,
    **options: Any,
) -> FoundPapers:
    """Find papers for a question or a request, in an index or in sources; for scripts and notebooks.

    `options` are fields of `FindCall`, such as `papers` or `max_seconds`; a request has them already.

    Raises:
        InvalidCall: an unknown option, an invalid value, or both a name and sources; or as in
            `find_in_sources`.
    """
    from generator.places import check_places, run

    check_places(name, sources)
    request = FindCall.of(question=question, **options).request() if isinstance(question, str) else question

    async def find() -> FoundPapers:
        settings = Settings.from_environment()
        async with open_places(name, sources, settings) as opened:
            return await find_in_sources(opened, request, settings, state=state)

    return run(find())
