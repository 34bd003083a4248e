"""The whole way of a question: keywords, queries, evidence, answer, trace.

Scripts and notebooks call `ask` and `find`; whoever keeps an index open awaits `answer_question`.
"""

import asyncio
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from generator.answers import Answer
from generator.calls import ModelCalls
from generator.extractive import extractive_answer
from generator.llm import LanguageModel, OnText
from generator.settings import GeneratorSettings
from generator.trace import TRACE_VERSION, Trace
from indexer.settings import IndexerSettings
from retriever.confidence import THRESHOLD
from retriever.hits import Hit, SearchResult
from retriever.index import SearchIndex, open_index
from retriever.queries import Filters
from retriever.search import SearchRequest, open_search, present, run_stages, search
from retriever.settings import RetrieverSettings

if TYPE_CHECKING:  # an answer without a model does not wait for it
    import httpx

T = TypeVar("T")
EVIDENCE = 5  # passages that an answer rests on (SHRAG, section 3.5)


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of all stages."""

    indexer: IndexerSettings
    retriever: RetrieverSettings
    generator: GeneratorSettings

    @classmethod
    def from_environment(cls) -> "Settings":
        """Read the variables `SHRAG_…`; pydantic's ValidationError names one that does not fit."""
        return cls(IndexerSettings(), RetrieverSettings(), GeneratorSettings())

    def language_model(self, transport: "httpx.AsyncBaseTransport | None" = None) -> LanguageModel:
        """Make the language model with its cache, to be opened by `async with`."""
        return LanguageModel(self.generator.llm, transport=transport, cache=self.generator.cache)


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer, the evidence it rests on, and the trace of how they came about."""

    answer: Answer
    evidence: tuple[Hit, ...]
    result: SearchResult
    trace: Trace

    def as_record(self) -> dict[str, Any]:
        """Return the contract's JSON of `shrag ask --json`."""
        return self.result.as_record() | {
            "answer": self.answer.as_record(),
            "evidence": [hit.as_record() for hit in self.evidence],
        }


async def answer_question(
    index: SearchIndex,
    question: str,
    settings: Settings,
    filters: Filters | None = None,
    *,
    model: LanguageModel | None = None,
    on_text: OnText | None = None,
    transport: "httpx.AsyncBaseTransport | None" = None,
) -> Answered:
    """Search for the five best papers and answer from them, with the language model if one is configured.

    Where the model fails, statistics and quotation take its place, and the notes and the trace say so.
    An open `model` serves many questions, at once too; without it one is opened for this question.
    `on_text` is called as what the model writes grows. `transport` stands in for the network.

    Raises:
        RetrieverError: a question or filter that cannot be used.
    """
    if model is None and settings.generator.llm.configured:
        async with settings.language_model(transport) as own:
            return await _answered(index, question, settings, filters or Filters(), own, on_text)
    return await _answered(index, question, settings, filters or Filters(), model, on_text)


async def _answered(
    index: SearchIndex,
    question: str,
    settings: Settings,
    filters: Filters,
    model: LanguageModel | None,
    on_text: OnText | None,
) -> Answered:
    started, clock = datetime.now(UTC), time.perf_counter()
    request = SearchRequest(question, k=EVIDENCE, filters=filters)
    context = open_search(index, request, settings.retriever)
    stages = await run_stages(context, upto="question")
    if stages.question is None or stages.question.is_empty:
        model = None  # it is not troubled with a question of no word
    calls = ModelCalls(index, model, on_text)
    context = context.with_keywords(await calls.keywords(question))
    result = await present(context, await run_stages(context, stages))
    answer = await calls.answer(result) or extractive_answer(result, index, THRESHOLD)
    spent = result.milliseconds | calls.milliseconds | {"total": (time.perf_counter() - clock) * 1000}
    result = replace(result, notes=(*result.notes, *calls.notes), milliseconds=spent)
    trace = _trace(index, request, result, answer, settings, calls, started)
    return Answered(answer, result.hits, result, trace)


def _trace(
    index: SearchIndex,
    request: SearchRequest,
    result: SearchResult,
    answer: Answer,
    settings: Settings,
    calls: ModelCalls,
    started: datetime,
) -> Trace:
    manifest, llm, filters = index.manifest, settings.generator.llm, request.filters
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
            "filters": {
                "years": [filters.years.low, filters.years.high] if filters.years else None,
                "lang": filters.lang,
                "journal": filters.journal,
            },
            **result.as_record(),
            "model_calls": calls.records,
            "answer": answer.as_record(),
            "evidence": [
                hit.as_record() | {"text": hit.passage.text, "paper": hit.paper} for hit in result.hits
            ],
        }
    )


def ask(question: str, name: str, *, home: Path | None = None, filters: Filters | None = None) -> Answered:
    """Answer a question from the index of that name; for scripts and notebooks."""
    settings = Settings.from_environment()
    with open_index(_at(home, settings), name, settings.retriever.synonyms) as index:
        return run(answer_question(index, question, settings, filters))


def find(
    question: str,
    name: str,
    *,
    method: str = "shrag",
    k: int = 10,
    home: Path | None = None,
    filters: Filters | None = None,
) -> SearchResult:
    """Search the index of that name; for scripts and notebooks."""
    settings = Settings.from_environment()
    request = SearchRequest(question, method=method, k=k, filters=filters or Filters())
    with open_index(_at(home, settings), name, settings.retriever.synonyms) as index:
        return run(search(index, request, settings.retriever))


def _at(home: Path | None, settings: Settings) -> IndexerSettings:
    return settings.indexer.model_copy(update={"home": home}) if home else settings.indexer


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, also where an event loop runs already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
