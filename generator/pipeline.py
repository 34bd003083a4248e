"""Answers with evidence and trace.

Scripts and notebooks call `ask` and `find`; callers with an open index await `answer_question`.
"""

import asyncio
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from typing_extensions import TypedDict

from base.errors import InvalidCall
from base.logs import request_id
from base.records import Recordable
from generator.answers.answer import Answer
from generator.calls import AskCall
from generator.conversation import question_step
from generator.hops.answering import answer_in_hops
from generator.llm import LanguageModel
from generator.request import AskRequest, Resources, Settings
from generator.tracing.steps import Listener, Step
from generator.tracing.trace import TRACE_VERSION, Trace
from generator.ways import check_options, find_way
from indexer.settings import IndexerSettings
from retriever.calls import SearchCall
from retriever.index import OpenIndex, SearchIndex, open_index
from retriever.queries.boolean import Filters
from retriever.search import SearchRequest, search
from retriever.searching.confidence import THRESHOLD
from retriever.stages.hits import Hit, HitRecord, SearchResult

__all__ = ["AskRequest", "AskResult", "Settings", "answer_question", "ask", "find", "run"]

T = TypeVar("T")


class AnswerWithEvidence(TypedDict):
    """A search result with the answer and its evidence."""

    answer: Answer
    evidence: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class AskResult(Recordable):
    """An answer, the search whose hits are its evidence, and the trace of its steps."""

    answer: Answer
    result: SearchResult
    trace: Trace

    @property
    def evidence(self) -> tuple[Hit, ...]:
        """The papers that support the answer; the nearest papers for an abstention."""
        return self.result.evidence

    def as_record(self) -> dict[str, Any]:
        """Return the JSON of `shrag ask --json`."""
        return self.result.as_record() | Recordable.as_record(self)

    def record_fields(self) -> AnswerWithEvidence:
        """Return the fields that are added to the record of the search."""
        return {"answer": self.answer, "evidence": self.evidence}


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
    An open `model` may serve many questions concurrently; without it one is opened for this question.
    `listener` gets an event when a step starts or ends, and when the model has written more text.

    Raises:
        RetrieverError: an invalid question, method or filter, or an option that the way does not have.
        UnknownWay: no way has that name.
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
    notes = [note for part in step.walk() for note in part.notes]
    result = replace(
        found.search,
        notes=(*found.search.notes, *notes),
        milliseconds=found.search.milliseconds | _times(step),
    )
    return AskResult(found.answer, result, _trace(index, settings, found.answer, result, step, started))


def _times(step: Step) -> dict[str, float]:
    """Sum the milliseconds of the model calls by step name; `total` is the whole answer."""
    times: dict[str, float] = {}
    for part in step.walk():
        if part.model_call is not None and part.milliseconds is not None:
            stage = f"{part.name} (model)"
            times[stage] = times.get(stage, 0.0) + part.milliseconds
    return times | {"total": step.milliseconds or 0.0}


def _trace(
    index: SearchIndex,
    settings: Settings,
    answer: Answer,
    result: SearchResult,
    step: Step,
    started: datetime,
) -> Trace:
    manifest, llm = index.manifest, settings.generator.llm
    return Trace(
        {
            "trace": TRACE_VERSION,
            "started": started.isoformat(timespec="milliseconds"),
            "index": {
                "name": manifest.name,
                "version": manifest.version,
                "engine": manifest.engine,
                "fingerprint": manifest.fingerprint,
                "vectors": manifest.vectors,
            },
            "settings": {
                **settings.retriever.model_dump(mode="json"),
                "abstention_threshold": THRESHOLD,
                "model": llm.model if llm.configured else None,
                "seed": llm.seed,
                "temperature": llm.temperature,
                "revision": llm.revision,
            },
            "request": step.inputs,
            "steps": [child.as_record() for child in step.children],
            "likelihood": result.as_record()["likelihood"],
            "unknown_words": list(result.unknown_words),
            "answer": answer.as_record(),
            "evidence": evidence_records(result),
            "notes": list(result.notes),
            "milliseconds": round(step.milliseconds or 0.0, 2),
        }
    )


class EvidenceHit(HitRecord):
    """A hit with the text of its passage and its paper's record."""

    text: str
    paper: dict[str, Any]


def evidence_records(result: SearchResult) -> list[dict[str, Any]]:
    """Return the hits as the JSON of `EvidenceHit`."""
    return [hit.as_record() | {"text": hit.passage.text, "paper": hit.paper} for hit in result.evidence]


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
