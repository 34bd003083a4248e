"""Answers with evidence and trace.

Scripts and notebooks call `ask` and `find`; callers with an open index await `answer_question`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from typing_extensions import TypedDict

from base.logs import request_id
from base.records import Recordable
from generator.answers.answer import Answer, WayResult
from generator.calls import AskCall
from generator.conversation import question_step
from generator.hops import answer_in_hops
from generator.llm import LanguageModel
from generator.places import ask_place, check_places, run
from generator.request import AskRequest, Resources, Settings
from generator.strategist import ask_for_strategy, strategy_of, with_strategy
from generator.tracing import TRACE_VERSION, Listener, Step, Trace
from generator.ways import check_options, find_way, takes
from indexer.settings import IndexerSettings
from retriever.answerability import THRESHOLD
from retriever.calls import SearchCall
from retriever.index import OpenIndex, SearchIndex
from retriever.queries.filters import Filters
from retriever.search import search
from retriever.stages.hits import Hit, HitRecord, SearchResult
from retriever.strategy import Strategy

__all__ = ["AskRequest", "AskResult", "Settings", "answer_question", "ask", "find", "run"]


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


def result_of(
    index: SearchIndex, settings: Settings, found: WayResult, step: Step, started: datetime
) -> AskResult:
    """Combine answer and search of a way with the notes, times and records of its finished step."""
    manifest, llm, answer = index.manifest, settings.generator.llm, found.answer
    times, search = step.milliseconds_of_calls(), found.search
    notes = (*search.notes, *step.all_notes())
    result = replace(search, notes=notes, milliseconds=search.milliseconds | times)
    trace = Trace(
        {
            "trace": TRACE_VERSION,
            "started": started.isoformat(timespec="milliseconds"),
            "index": {
                name: getattr(manifest, name)
                for name in ("name", "version", "engine", "fingerprint", "vectors")
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
            "notes": list(notes),
            "milliseconds": round(times["total"], 2),
        }
    )
    return AskResult(answer, result, trace)


class EvidenceHit(HitRecord):
    """A hit with the text of its passage and its paper's record."""

    text: str
    paper: dict[str, Any]


def evidence_records(result: SearchResult) -> list[dict[str, Any]]:
    """Return the hits as the JSON of `EvidenceHit`."""
    return [hit.as_record() | {"text": hit.passage.text, "paper": hit.paper} for hit in result.evidence]


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


async def choose_strategy(
    index: OpenIndex, request: AskRequest, settings: Settings
) -> tuple[Strategy | None, list[str]]:
    """Return the strategy by which `answer_question` would search, and notes; None if its way uses none."""

    async def of_version(version: SearchIndex) -> tuple[Strategy | None, list[str]]:
        if not takes(request.way, "strategy") and request.hops == "never":
            return None, []
        step = Step("ask")
        async with settings.with_chosen_model(request.model).opened_model() as model:
            resources = Resources(version, settings, model)
            asked = await question_step(step, request, resources)
            asked = await ask_for_strategy(step, asked, resources)
        return await strategy_of(version, asked.search(), settings.retriever), step.all_notes()

    return await index.ask(of_version)


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
    async with settings.opened_model(model) as opened:
        with request_id(), step.running():
            resources = Resources(index, settings, opened)
            request = await question_step(step, request, resources)
            if request.hops == "never":
                found = await way(request, resources, step)
            else:
                found = await answer_in_hops(way, request, resources, step)
    return result_of(index, settings, found, step, started)


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
    asking = partial(answer_question, request=request, settings=settings)
    return ask_place(name, sources, _at(home, settings), settings.retriever.synonyms, asking)


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
    call = SearchCall.of(question=question, **options)
    request = replace(call.request(), filters=filters or call.filters())

    async def asking(index: OpenIndex) -> SearchResult:
        step = Step("search")
        asked = await with_strategy(step, request, call.strategist, settings)
        return (await search(index, asked, settings.retriever)).with_notes(step.all_notes())

    return ask_place(name, sources, _at(home, settings), settings.retriever.synonyms, asking)


def _at(home: Path | None, settings: Settings) -> IndexerSettings:
    return settings.indexer.model_copy(update={"home": home}) if home else settings.indexer
