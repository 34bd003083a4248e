"""Re-ranking of the papers found by relevance, authority and timeliness, with a reason for each.

There are two prompts (SPAR, appendix A.4): new papers are strongly preferred if the question asks for a
period, else slightly. Without a model the order is a weighted sum of the three.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from base.amounts import counted
from base.notes import Note
from generator.finding.calls import FindRequest
from generator.finding.state import TITLE_CHARACTERS, FindingState, FindResources, KnownPaper
from generator.model_step import ModelStep
from generator.prompts import load_prompt
from generator.tracing import Step
from retriever.errors import SourceFailed
from retriever.relevance.authority import Cited, authorities, citations, timeliness
from retriever.sources.merging import ask_sources

MOST_RANKED = 50  # papers in one prompt
# Weights of relevance, authority and timeliness; True: the question asks for a period.
WEIGHTS: Mapping[bool, tuple[float, float, float]] = {False: (0.75, 0.15, 0.1), True: (0.6, 0.1, 0.3)}
CITED = {
    "record": "cited {}",
    "index": "cited {} within the index",
    "found": "cited {} by the papers found",
}

LONGEST_WHY = 400
Why = Annotated[str, StringConstraints(strip_whitespace=True, max_length=LONGEST_WHY)]


class Reranked(BaseModel):
    """Number of a paper in the prompt, its new score and the reason."""

    paper: Annotated[int, Field(ge=1, le=MOST_RANKED)]
    score: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
    why: Why


class RerankedPapers(BaseModel):
    """Reply schema."""

    papers: Annotated[list[Reranked], Field(max_length=MOST_RANKED)]


@dataclass(frozen=True, slots=True)
class RankedPaper:
    """A paper of the result with its score, the components of the score, and the reason.

    `cited` is the citation count behind its authority, None if unknown.
    """

    paper_id: str
    known: KnownPaper
    score: float
    authority: float
    timeliness: float
    why: str
    cited: Cited | None = None


async def rerank(
    state: FindingState, resources: FindResources, step: Step
) -> tuple[FindingState, list[RankedPaper]]:
    """Return the papers of the cache, best first, and the state with this order if a model made it.

    A resumed search that found no other papers keeps its order.
    """
    request = resources.request
    if not request.does("reranking"):
        return state, order_by_rules(state, request)
    in_index = await _counts_of_indexes(_cache(state, request), resources, step)
    ruled = order_by_rules(state, request, in_index)
    if not ruled:
        return state, ruled
    by_id = {ranked.paper_id: ranked for ranked in ruled}
    if by_id.keys() == {paper_id for paper_id, *_ in state.model_order}:
        return state, [replace(by_id[each], score=score, why=why) for each, score, why in state.model_order]
    if resources.model is None:
        with step.step("reranking", papers=len(ruled)) as ranking:
            ranking.output = [ranked.paper_id for ranked in ruled]
        return state, ruled
    first = ruled[:MOST_RANKED]
    asks_for_time = bool(state.understanding and state.understanding.asks_for_time)

    reranking: ModelStep[RerankedPapers, list[RankedPaper]] = ModelStep(
        "reranking",
        load_prompt("reranking_time" if asks_for_time else "reranking", request.language),
        {"papers": [_described(ranked) for ranked in first], "question": resources.question},
        RerankedPapers,
        read=lambda reply: [*_by_model(reply.value, first), *ruled[MOST_RANKED:]],
        fallback="ordered by a weighted sum",
        inputs={"papers": [ranked.paper_id for ranked in first]},
    )
    ranked = await reranking.run(step, resources.model, resources.allowance)
    order = tuple((each.paper_id, each.score, each.why) for each in ranked or ())
    return replace(state, model_order=order), ranked or ruled


async def _counts_of_indexes(
    cache: Sequence[tuple[str, KnownPaper]], resources: FindResources, step: Step
) -> dict[str, int]:
    """Return citation counts within indexes for papers whose record has no count.

    It sends one request to each index with a citation graph; the largest count is used.
    """
    uncounted = [(paper_id, known) for paper_id, known in cache if known.paper.cited_by_count is None]
    own_ids: dict[str, dict[str, str]] = {}  # ids here, by source and the id there
    for paper_id, known in uncounted:
        for source, own in known.merged.ids:
            own_ids.setdefault(source, {})[own] = paper_id
    asked = [
        each for each in resources.sources if each.source.features.citation_counts and each.name in own_ids
    ]
    if not asked or resources.allowance.time_is_over:
        return {}
    try:
        given = await ask_sources(asked, lambda source: source.citation_counts(list(own_ids[source.name])))
    except SourceFailed as error:
        step.notes.append(Note("counting_failed", error=str(error)))
        return {}
    counts: dict[str, int] = {}
    for name, of_source in given.answers.items():
        for own, count in of_source.items():
            paper_id = own_ids[name][own]
            counts[paper_id] = max(count, counts.get(paper_id, 0))
    return counts


def _by_model(answer: RerankedPapers, ruled: Sequence[RankedPaper]) -> list[RankedPaper]:
    """Order by the model's scores; papers that it omitted follow in the order by rules."""
    named: dict[int, Reranked] = {}
    for each in answer.papers:
        if each.paper <= len(ruled):
            named.setdefault(each.paper, each)
    scored = [
        replace(ranked, score=named[number].score, why=named[number].why or ranked.why)
        for number, ranked in enumerate(ruled, 1)
        if number in named
    ]
    scored.sort(key=lambda ranked: -ranked.score)
    return [*scored, *(ranked for number, ranked in enumerate(ruled, 1) if number not in named)]


def _cache(state: FindingState, request: FindRequest) -> Sequence[tuple[str, KnownPaper]]:
    return state.relevant(request.threshold)[: request.papers]


def order_by_rules(
    state: FindingState, request: FindRequest, in_index: Mapping[str, int] | None = None
) -> list[RankedPaper]:
    """Return the papers of the cache ordered by the weighted sum, without a model.

    `in_index` has the citation counts within indexes by paper id.
    """
    cache = _cache(state, request)
    papers = [known.paper for _, known in cache]
    links = {paper_id: sum(by.kind == "reference" for by in known.found_by) for paper_id, known in cache}
    cited = citations(papers, in_index, links)
    standing = authorities(papers, cited, request.year)
    asks_for_time = bool(state.understanding and state.understanding.asks_for_time)
    weights = WEIGHTS[asks_for_time] if request.does("reranking") else (1.0, 0.0, 0.0)
    ranked = []
    for (paper_id, known), times, authority in zip(cache, cited, standing, strict=True):
        recency = timeliness(known.paper, request.year)
        score = weights[0] * known.score + weights[1] * authority + weights[2] * recency
        rounded = round(score, 6), round(authority, 6), round(recency, 6)
        ranked.append(RankedPaper(paper_id, known, *rounded, _why(known, times), times))
    return sorted(ranked, key=lambda each: -each.score)


def _why(known: KnownPaper, cited: Cited | None) -> str:
    """Format the reasons for a paper as a sentence."""
    parts = [known.reason or "it was not judged"]
    if cited and (cited.count or cited.by == "record"):
        parts.append(CITED[cited.by].format(counted(cited.count, "time")))
    if known.paper.year:
        parts.append(f"from {known.paper.year}")
    text = "; ".join(parts).rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."


def _described(ranked: RankedPaper) -> str:
    """Describe a paper for the prompt: title, origin, citations and relevance."""
    paper, times = ranked.known.paper, ranked.cited
    origin = [
        ", ".join(paper.authors[:5])[:TITLE_CHARACTERS] or "authors not known",
        paper.journal[:TITLE_CHARACTERS] or "venue not known",
        str(paper.year or "year not known"),
    ]
    if times and times.by != "found":
        origin.append(CITED[times.by].format(counted(times.count, "time")))
    title = ranked.known.title[:TITLE_CHARACTERS]
    return f"{title}\n{'; '.join(origin)}\nrelevance {ranked.known.score:.2f}"
