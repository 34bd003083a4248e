"""What `eval run` ranks each question by: a search, the evidence of an answer, or the papers found."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from eval.answering import answer_topic
from eval.asked_of import AskedOf
from eval.finding import find_for_topic
from eval.keywords import ask_for_keywords
from eval.ranking import RankedTopic, rank_topic, without_hits
from generator.finding.bounds import DEFAULTS
from generator.finding.options import find_request
from generator.finding.request import FindRequest
from generator.llm import LanguageModel
from generator.pipeline import AskRequest, Settings
from generator.settings import HopsMode
from indexer.errors import InvalidCall
from indexer.papers import Unit
from retriever.errors import BadFilter, BadQuestion
from retriever.hops.rounds import second_round_where_asked_for, with_second_round
from retriever.methods import method_named
from retriever.search import SearchRequest

HITS, MOST_EVIDENCE = 100, 100
ROUNDS = {"never": None, "auto": second_round_where_asked_for, "always": with_second_round}

Rank: TypeAlias = Callable[[str, LanguageModel | None], Awaitable[RankedTopic]]


@dataclass(frozen=True, slots=True)
class KindOfRun:
    """How each question is ranked, and by what name."""

    name: str  # in the tag of the run and as the manifest's method
    k: int
    unit: Unit
    request: dict[str, Any]  # all that the ranking of a question depends on, but for settings
    applied: dict[str, Any]  # what of it stands with the configuration that took effect
    rank: Rank
    keywords_first: bool = False  # whether the model is asked for these alone: for many questions at a time


def search_kind(
    of: AskedOf,
    settings: Settings,
    *,
    method: str,
    hops: HopsMode,
    k: int | None,
    unit: Unit,
    title_weight: float | None,
) -> KindOfRun:
    """Rank by a search, without anything left out; with hops in two rounds, no model asked for them."""
    if hops != "never" and method_named(method).analyse is not None:
        raise BadFilter(f"method {method!r} takes no hops: an expression is not answered in several steps")
    request = SearchRequest(
        "", method=method, k=k or HITS, collapse=unit == "paper", title_weight=title_weight
    )
    options = settings.retriever
    most = None if options.keywords_ranked else options.keywords
    one_at_a_time = asyncio.Lock()

    async def ranked(question: str, model: LanguageModel | None) -> RankedTopic:
        asked, record = replace(request, question=question), None
        if model:
            given = await ask_for_keywords(question, model, of.analyzer, most=most)
            asked, record = replace(asked, keywords=given.keywords), given.record
        async with one_at_a_time:
            return replace(await rank_topic(of.index, asked, options, ROUNDS[hops]), keywords=record)

    return KindOfRun(
        method,
        request.k,
        unit,
        {"title_weight": title_weight, "hops": hops},
        {"hops": hops} if hops != "never" else {},
        ranked,
        keywords_first=True,
    )


def ask_kind(
    of: AskedOf,
    settings: Settings,
    *,
    way: str | None,
    method: str,
    hops: HopsMode,
    k: int | None,
    unit: Unit,
) -> KindOfRun:
    """Rank by the evidence of an answer, as `ask` gives it."""
    if k is not None and k > MOST_EVIDENCE:
        raise InvalidCall(f"an answer rests on at most {MOST_EVIDENCE} papers: -k {k:,} is more")
    asked_as = settings.request("?", way=way or "shrag", method=method, evidence=k, hops=hops)
    request = replace(asked_as, low_scores=True)

    async def ranked(question: str, model: LanguageModel | None) -> RankedTopic:
        asked = replace(request, question=question)
        return await answer_topic(of.index, asked, _with(model, settings), unit=unit, model=model)

    asked = {"way": request.way, "hops": hops, "searched by": request.method}
    return KindOfRun(request.way, request.evidence, unit, _without_question(request), asked, ranked)


def find_kind(
    of: AskedOf, settings: Settings, given: Mapping[str, Any], *, k: int | None, unit: Unit
) -> KindOfRun:
    """Rank by the papers found, as `find-papers` does with the values of its options."""
    if unit != "paper":
        raise InvalidCall("what is found are papers, and passages are judged", remedy="name the unit: paper")
    request = find_request("?", k or DEFAULTS["papers"], given)

    async def ranked(question: str, model: LanguageModel | None) -> RankedTopic:
        try:
            asked = replace(request, question=question)
        except BadQuestion as error:
            return without_hits(error)
        return await find_for_topic(of.sources(), asked, _with(model, settings), model=model)

    asked = _without_question(request)
    return KindOfRun("find-papers", request.papers, unit, asked, {"finding": asked}, ranked)


def _without_question(request: AskRequest | FindRequest) -> dict[str, Any]:
    return {name: value for name, value in request.as_record().items() if name != "question"}


def _with(model: LanguageModel | None, settings: Settings) -> Settings:
    """Return settings that name no language model where none is to be asked."""
    if model:
        return settings
    llm = settings.generator.llm.model_copy(update={"base_url": None})
    return replace(settings, generator=settings.generator.model_copy(update={"llm": llm}))
