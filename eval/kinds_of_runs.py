"""The ranking methods of `eval run`: a search, the evidence of an answer, or the papers found."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from base.errors import InvalidCall
from eval.answering import answer_topic
from eval.finding import find_for_topic
from eval.ranking import RankedTopic, rank_topic, without_hits
from eval.run_target import RunTarget
from eval.strategies import strategy_of_topic
from generator.calls import MOST_EVIDENCE
from generator.finding.request import FindRequest
from generator.llm import LanguageModel
from generator.pipeline import AskRequest, Settings
from generator.settings import HopsMode
from generator.ways import make_request
from indexer.corpora.papers import Unit
from retriever.errors import BadQuestion
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
    of: RunTarget,
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
        record, prompts = None, {}
        if model:
            given = await strategy_of_topic(asked, model)
            asked, prompts = replace(asked, strategy=given.strategy), given.prompts
            record = given.strategy.as_record() if given.strategy else {}
        async with one_at_a_time:
            topic = await rank_topic(of.index, asked, settings.retriever)
        return replace(topic, strategy=record, prompts=prompts)

    return KindOfRun(method, request.k, unit, {"title_weight": title_weight}, ranked, asks_at_once=True)


def ask_kind(
    of: RunTarget,
    settings: Settings,
    strategies: Mapping[str, Strategy],
    *,
    way: str | None,
    method: str,
    hops: HopsMode,
    k: int | None,
    unit: Unit,
) -> KindOfRun:
    """Rank by the evidence of an answer, as in `ask`."""
    if k is not None and k > MOST_EVIDENCE:
        raise InvalidCall(f"an answer uses at most {MOST_EVIDENCE} papers: -k {k:,} is too large")
    asked_as = make_request(settings, "?", way=way or "shrag", method=method, evidence=k, hops=hops)
    request = replace(asked_as, low_scores=True)

    async def ranked(query_id: str, question: str, model: LanguageModel | None) -> RankedTopic:
        asked = replace(request, question=question, strategy=strategies.get(query_id))
        return await answer_topic(of.index, asked, _with(model, settings), unit=unit, model=model)

    applied = {"way": request.way, "hops": hops, "searched by": request.method}
    return KindOfRun(request.way, request.evidence, unit, _without_question(request), ranked, applied)


def find_kind(of: RunTarget, settings: Settings, request: FindRequest, *, unit: Unit) -> KindOfRun:
    """Rank by the papers found, as in `find-papers` with its options."""
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
        return await find_for_topic(of.sources(), asked, _with(model, settings), model=model)

    asked = _without_question(request)
    return KindOfRun("find-papers", request.papers, unit, asked, ranked, {"finding": asked})


def _without_question(request: AskRequest | FindRequest) -> dict[str, Any]:
    return {name: value for name, value in request.as_record().items() if name != "question"}


def _with(model: LanguageModel | None, settings: Settings) -> Settings:
    """Return the settings, without a language model if none is used."""
    return settings if model else settings.with_llm(base_url=None)
