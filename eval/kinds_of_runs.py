"""What `eval run` ranks each question by: a search, the evidence of an answer, or the papers found."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from eval.answering import answer_topics
from eval.finding import find_for_topics
from eval.keywords import ask_for_keywords
from eval.ranking import RankedTopics, rank_topics
from generator.finding.options import PAPERS, find_request
from generator.llm import LanguageModel
from generator.pipeline import Settings
from generator.settings import HopsMode
from indexer.errors import InvalidCall
from indexer.papers import Unit
from indexer.requests import Progress
from retriever.errors import BadFilter
from retriever.hops.rounds import second_round_where_asked_for, with_second_round
from retriever.index import SearchIndex
from retriever.methods import method_named
from retriever.search import SearchRequest

HITS, MOST_EVIDENCE = 100, 100
STATISTICS = {"source": "statistics"}
ROUNDS = {"never": None, "auto": second_round_where_asked_for, "always": with_second_round}

Rank: TypeAlias = Callable[
    [Mapping[str, str], LanguageModel | None, Progress], Awaitable[tuple[RankedTopics, dict[str, Any]]]
]


@dataclass(frozen=True, slots=True)
class KindOfRun:
    """How all questions are ranked, and by what name; `rank` also says where keywords came from."""

    name: str  # in the tag of the run and as the manifest's method
    k: int
    unit: Unit
    rank: Rank


def search_kind(
    index: SearchIndex,
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

    async def ranked(
        questions: Mapping[str, str], model: LanguageModel | None, progress: Progress
    ) -> tuple[RankedTopics, dict[str, Any]]:
        found, options = None, settings.retriever
        if model:
            most = None if options.keywords_ranked else options.keywords
            found = await ask_for_keywords(questions, model, index.analyzer, progress, most=most)
        run = await rank_topics(
            index,
            questions,
            request,
            options,
            keywords=found.keywords if found else None,
            further=ROUNDS[hops],
            progress=progress,
        )
        if hops != "never":
            run = replace(run, applied=run.applied | {"hops": hops})
        return run, found.record if found else STATISTICS

    return KindOfRun(method, request.k, unit, ranked)


def ask_kind(
    index: SearchIndex,
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
    request = settings.request("?", way=way or "shrag", method=method, evidence=k, hops=hops)

    async def ranked(
        questions: Mapping[str, str], model: LanguageModel | None, progress: Progress
    ) -> tuple[RankedTopics, dict[str, Any]]:
        run = await answer_topics(
            index, questions, request, _with(model, settings), unit=unit, model=model, progress=progress
        )
        asked = {"way": request.way, "hops": hops, "searched by": request.method}
        return replace(run, applied=run.applied | asked), _asked(model)

    return KindOfRun(request.way, request.evidence, unit, ranked)


def find_kind(
    index: SearchIndex, settings: Settings, given: Mapping[str, Any], *, k: int | None, unit: Unit
) -> KindOfRun:
    """Rank by the papers found, as `find-papers` does with the values of its options."""
    if unit != "paper":
        raise InvalidCall("what is found are papers, and passages are judged", remedy="name the unit: paper")
    request = find_request("?", k or PAPERS, given)

    async def ranked(
        questions: Mapping[str, str], model: LanguageModel | None, progress: Progress
    ) -> tuple[RankedTopics, dict[str, Any]]:
        run = await find_for_topics(
            index, questions, request, _with(model, settings), model=model, progress=progress
        )
        return run, _asked(model)

    return KindOfRun("find-papers", request.papers, unit, ranked)


def _with(model: LanguageModel | None, settings: Settings) -> Settings:
    """Return settings that name no language model where none is to be asked."""
    if model:
        return settings
    llm = settings.generator.llm.model_copy(update={"base_url": None})
    return replace(settings, generator=settings.generator.model_copy(update={"llm": llm}))


def _asked(model: LanguageModel | None) -> dict[str, Any]:
    if model is None:
        return STATISTICS
    told = ("model", "temperature", "seed", "revision")
    return {"source": "model"} | {name: getattr(model.settings, name) for name in told}
