"""The ranking methods of `eval run`: a search, the evidence of an answer, or the papers found."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from base.errors import InvalidCall
from eval.places import Places
from eval.ranking import NOTHING_FOUND, RankedTopic, rank_topic, without_hits
from eval.runs import as_written
from eval.strategies import strategy_of_topic
from generator.calls import MOST_EVIDENCE
from generator.finding.calls import FindRequest
from generator.finding.finding import find_in_sources
from generator.llm import LanguageModel
from generator.pipeline import AskRequest, Settings, answer_question
from generator.settings import HopsMode
from generator.ways import make_request
from indexer.corpora.papers import Unit
from retriever.errors import BadExpression, BadQuestion
from retriever.search import SearchRequest
from retriever.strategy import Strategy

HITS = 100

# Of query_id, question and model.
Rank: TypeAlias = Callable[[str, str, LanguageModel | None], Awaitable[RankedTopic]]


@dataclass(frozen=True, slots=True)
class KindOfRun:
    """A ranking method, and its name."""

    name: str  # in the run's tag and the manifest
    k: int
    unit: Unit
    request: dict[str, Any]  # everything that a question's ranking depends on, except settings
    rank: Rank
    applied: dict[str, Any] = field(default_factory=dict)  # shown with the applied configuration
    asks_at_once: bool = False  # the model is asked for strategies only, of several questions in parallel


def search_kind(
    of: Places,
    settings: Settings,
    strategies: Mapping[str, Strategy],
    *,
    method: str,
    k: int | None,
    unit: Unit,
    title_weight: float | None,
) -> KindOfRun:
    """Rank by a search without filters for duplicates."""
    request = SearchRequest(
        "", method=method, k=k or HITS, collapse=unit == "paper", title_weight=title_weight
    )
    one_at_a_time = asyncio.Lock()

    async def ranked(query_id: str, question: str, model: LanguageModel | None) -> RankedTopic:
        asked = replace(request, question=question, strategy=strategies.get(query_id))
        record, prompts = None, dict[str, list[int]]()
        if model:
            strategy, prompts = await strategy_of_topic(asked, model)
            asked = replace(asked, strategy=strategy)
            record = strategy.as_record() if strategy else {}
        async with one_at_a_time:
            topic = await rank_topic(of.searched, asked, settings.retriever)
        return replace(topic, strategy=record, prompts=prompts)

    return KindOfRun(method, request.k, unit, {"title_weight": title_weight}, ranked, asks_at_once=True)


def ask_kind(
    of: Places,
    settings: Settings,
    strategies: Mapping[str, Strategy],
    *,
    way: str | None,
    method: str,
    hops: HopsMode,
    k: int | None,
    unit: Unit,
) -> KindOfRun:
    """Rank by the evidence of an answer, as in `ask`: passages, or papers by their best passage.

    If the model failed and a fallback was used, failures and deviations name the steps.
    """
    if k is not None and k > MOST_EVIDENCE:
        raise InvalidCall(f"an answer uses at most {MOST_EVIDENCE} papers: -k {k:,} is too large")
    asked_as = make_request(settings, "?", way=way or "shrag", method=method, evidence=k, hops=hops)
    request = replace(asked_as, low_scores=True)

    async def ranked(query_id: str, question: str, model: LanguageModel | None) -> RankedTopic:
        asking = replace(request, question=question, strategy=strategies.get(query_id))
        try:
            asked = await answer_question(of.searched, asking, _with(model, settings), model=model)
        except (BadQuestion, BadExpression) as error:
            return without_hits(error)
        found: dict[str, float] = {}
        for hit in asked.evidence:
            found.setdefault(hit.doc_id if unit == "paper" else hit.passage_id, hit.score)
        applied, steps = asked.result.applied, list(asked.trace.steps())
        calls = [(step["name"], step.get("model_call") or {}) for step in steps]
        alone = [step["name"] for step in steps if model and step.get("fallback")]
        return RankedTopic(
            as_written(found.items()),
            "" if found else NOTHING_FOUND,
            applied,
            {"without the model": alone} if alone else {},
            (*(applied.failures if applied else ()), *(f"without the model: {name}" for name in alone)),
            prompts={name: [call["prompt_version"]] for name, call in calls if "prompt_version" in call},
        )

    shown = {"way": request.way, "hops": hops, "searched by": request.method}
    return KindOfRun(request.way, request.evidence, unit, _without_question(request), ranked, shown)


def find_kind(of: Places, settings: Settings, request: FindRequest, *, unit: Unit) -> KindOfRun:
    """Rank by the papers found from scratch, best first, as in `find-papers` with its options.

    The deviations contain notes if a budget ended the search or something failed.
    """
    if unit != "paper":
        raise InvalidCall(
            "the results are papers, but passages are judged", remedy="set the unit: --unit paper"
        )
    request = request.changed(this_year=request.year)

    async def ranked(query_id: str, question: str, model: LanguageModel | None) -> RankedTopic:
        del query_id
        try:
            asked = request.changed(question=question)
        except BadQuestion as error:
            return without_hits(error)
        found = await find_in_sources(of.together(), asked, _with(model, settings), model=model)
        ranking = as_written([(ranked.paper_id, ranked.score) for ranked in found.papers])
        return RankedTopic(
            ranking,
            "" if ranking else found.notes[-1],
            deviations={"complete": found.complete, "notes": list(found.notes)}
            if ranking and found.notes
            else {},
            failures=tuple(part.error for part in found.step.walk() if part.failure),
            prompts={
                part.model_call["prompt"]: [part.model_call["prompt_version"]]
                for part in found.step.walk()
                if part.model_call and "prompt" in part.model_call
            },
        )

    asked = _without_question(request)
    return KindOfRun("find-papers", request.papers, unit, asked, ranked, {"finding": asked})


def _without_question(request: AskRequest | FindRequest) -> dict[str, Any]:
    return {name: value for name, value in request.as_record().items() if name != "question"}


def _with(model: LanguageModel | None, settings: Settings) -> Settings:
    """Return the settings, without a language model if none is used."""
    return settings if model else settings.with_llm(base_url=None)
