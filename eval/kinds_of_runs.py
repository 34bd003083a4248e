"""The ranking methods of `eval run`: a search, the evidence of an answer, or the papers found."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from base.errors import InvalidCall
from eval.answering import answer_topic
from eval.finding import find_for_topic
from eval.keywords import ask_for_keywords
from eval.ranking import RankedTopic, rank_topic, without_hits
from eval.run_target import RunTarget
from generator.calls import MOST_EVIDENCE
from generator.finding.request import FindRequest
from generator.llm import LanguageModel
from generator.pipeline import AskRequest, Settings
from generator.settings import HopsMode
from generator.ways import make_request
from indexer.corpora.papers import Unit
from retriever.errors import BadFilter, BadQuestion
from retriever.methods import method_named
from retriever.search import SearchRequest
from retriever.second_round import second_round_where_asked_for, with_second_round

HITS = 100
ROUNDS = {"never": None, "auto": second_round_where_asked_for, "always": with_second_round}

Rank: TypeAlias = Callable[[str, LanguageModel | None], Awaitable[RankedTopic]]


@dataclass(frozen=True, slots=True)
class KindOfRun:
    """A ranking method, and its name."""

    name: str  # in the run's tag and the manifest
    k: int
    unit: Unit
    request: dict[str, Any]  # everything that a question's ranking depends on, except settings
    applied: dict[str, Any]  # the part shown with the applied configuration
    rank: Rank
    keywords_first: bool = False  # the model is used for keywords only, for several questions in parallel


def search_kind(
    of: RunTarget,
    settings: Settings,
    *,
    method: str,
    hops: HopsMode,
    k: int | None,
    unit: Unit,
    title_weight: float | None,
) -> KindOfRun:
    """Rank by a search without filters for duplicates; hops use two rounds, without a model for them."""
    if hops != "never" and method_named(method).analyse is not None:
        raise BadFilter(f"method {method!r} takes no hops: expressions are not answered in several steps")
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
    of: RunTarget,
    settings: Settings,
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

    async def ranked(question: str, model: LanguageModel | None) -> RankedTopic:
        asked = replace(request, question=question)
        return await answer_topic(of.index, asked, _with(model, settings), unit=unit, model=model)

    asked = {"way": request.way, "hops": hops, "searched by": request.method}
    return KindOfRun(request.way, request.evidence, unit, _without_question(request), asked, ranked)


def find_kind(of: RunTarget, settings: Settings, request: FindRequest, *, unit: Unit) -> KindOfRun:
    """Rank by the papers found, as in `find-papers` with its options."""
    if unit != "paper":
        raise InvalidCall(
            "the results are papers, but passages are judged", remedy="set the unit: --unit paper"
        )

    async def ranked(question: str, model: LanguageModel | None) -> RankedTopic:
        try:
            asked = request.changed(question=question)
        except BadQuestion as error:
            return without_hits(error)
        return await find_for_topic(of.sources(), asked, _with(model, settings), model=model)

    asked = _without_question(request)
    return KindOfRun("find-papers", request.papers, unit, asked, {"finding": asked}, ranked)


def _without_question(request: AskRequest | FindRequest) -> dict[str, Any]:
    return {name: value for name, value in request.as_record().items() if name != "question"}


def _with(model: LanguageModel | None, settings: Settings) -> Settings:
    """Return the settings, without a language model if none is used."""
    return settings if model else settings.with_llm(base_url=None)
