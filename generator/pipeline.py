"""Answers with evidence and trace.

Scripts and notebooks call `ask` and `find`; callers with an open index await `answer_question`.
"""

import asyncio
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from base.errors import InvalidCall
from base.logs import request_id
from generator.calls import AskCall
from generator.conversation import question_step
from generator.hops.answering import answer_in_hops
from generator.llm import LanguageModel
from generator.request import AskRequest, Resources, Settings
from generator.result import AskResult, result_of
from generator.tracing.steps import Listener, Step
from generator.ways import check_options, find_way
from indexer.settings import IndexerSettings
from retriever.calls import SearchCall
from retriever.index import OpenIndex, SearchIndex, open_index
from retriever.queries.filters import Filters
from retriever.search import SearchRequest, search
from retriever.stages.hits import SearchResult

__all__ = ["AskRequest", "AskResult", "Settings", "answer_question", "ask", "find", "run"]

T = TypeVar("T")


async def answer_question(
    index: OpenIndex,
    request: AskRequest,
    settings: Settings,
    *,
    model: LanguageModel | None = None,
    listener: Listener | None = None,
) -> AskResult:
    """Answer by the request's way, with the language model if one is configured.

    If the model fails, statistics and quotation replace it, and notes and trace say so.
    An open `model`, that of the request, may serve many questions concurrently; without it one is opened for
    this question.
    `listener` gets an event when a step starts or ends, and when the model has written more text.

    Raises:
        RetrieverError: an invalid question, method or filter, or an option that the way does not have.
        UnknownWay, UnknownModel: no way or no model has that name.
    """
    return await index.ask(lambda version: _answer(version, request, settings, model, listener))


async def answer_from_sources(
    names: Sequence[str],
    request: AskRequest,
    settings: Settings,
    synonyms: Path | None = None,
    *,
    listener: Listener | None = None,
) -> AskResult:
    """Answer like `answer_question` from papers of sources, given as names in `shrag.toml` or as files.

    Raises:
        UnknownSource, InvalidSource: no such source, or an invalid declaration.
        SourceFailed: no source answers.
    """
    from retriever.sources.gathered import open_sources

    async with open_sources(names, settings.indexer, synonyms) as index:
        return await answer_question(index, request, settings, listener=listener)


async def _answer(
    index: SearchIndex,
    request: AskRequest,
    settings: Settings,
    model: LanguageModel | None,
    listener: Listener | None,
) -> AskResult:
    way = find_way(request.way)
    check_options(request)
    settings = settings.with_chosen_model(request.model)
    started = datetime.now(UTC)
    step = Step("ask", request.as_record(), listener)
    async with AsyncExitStack() as opened:
        if model is None and settings.generator.llm.configured:
            model = await opened.enter_async_context(settings.language_model())
        with request_id(), step.running():
            resources = Resources(index, settings, model)
            request = await question_step(step, request, resources)
            if request.hops == "never":
                found = await way(request, resources, step)
            else:
                found = await answer_in_hops(way, request, resources, step)
    return result_of(index, settings, found, step.summary(), started)


def ask(
    question: str,
    name: str = "",
    *,
    sources: Sequence[str] = (),
    home: Path | None = None,
    filters: Filters | None = None,
    **options: Any,
) -> AskResult:
    """Answer a question from a named index or from sources; for scripts and notebooks.

    `options` are fields of `AskCall`, such as `way`, `evidence` or `year`; the settings supply the others.

    Raises:
        InvalidCall: an unknown option, an invalid value, or both a name and sources.
    """
    check_places(name, sources)
    settings = Settings.from_environment()
    request = AskCall.of(question=question, **options).request(settings)
    request = replace(request, filters=filters or request.filters)
    if sources:
        settings = replace(settings, indexer=_at(home, settings))
        return run(answer_from_sources(sources, request, settings, settings.retriever.synonyms))
    with open_index(_at(home, settings), name, settings.retriever.synonyms, follow=True) as index:
        return run(answer_question(index, request, settings))


def find(
    question: str,
    name: str = "",
    *,
    sources: Sequence[str] = (),
    home: Path | None = None,
    filters: Filters | None = None,
    **options: Any,
) -> SearchResult:
    """Search a named index or sources; for scripts and notebooks.

    `options` are fields of `SearchCall`, such as `method`, `k` or `exclude`. Raises like `ask`.
    """
    check_places(name, sources)
    settings = Settings.from_environment()
    request = SearchCall.of(question=question, **options).request(settings.retriever)
    request = replace(request, filters=filters or request.filters)
    if sources:
        return run(_find_in_sources(sources, request, settings, _at(home, settings)))
    with open_index(_at(home, settings), name, settings.retriever.synonyms, follow=True) as index:
        return run(search(index, request, settings.retriever))


def check_places(name: str, sources: Sequence[str]) -> None:
    """Refuse a call that names both an index and sources."""
    if sources and isinstance(sources, str):
        raise InvalidCall(f"sources must be a list of names, not one name: {sources[:100]!r}")
    if name and sources:
        raise InvalidCall(f"index {name[:100]!r} and sources exclude each other: give only one of them")


async def _find_in_sources(
    names: Sequence[str], request: SearchRequest, settings: Settings, places: IndexerSettings
) -> SearchResult:
    from retriever.sources.gathered import open_sources

    async with open_sources(names, places, settings.retriever.synonyms) as index:
        return await search(index, request, settings.retriever)


def _at(home: Path | None, settings: Settings) -> IndexerSettings:
    return settings.indexer.model_copy(update={"home": home}) if home else settings.indexer


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine, also if an event loop is already running, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
