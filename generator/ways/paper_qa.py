"""Ways I to VIII of paper-QA: retrieve passages, expand, re-rank, filter, answer briefly (section 5)."""

from collections.abc import Mapping
from dataclasses import dataclass

from generator.answers.answer import WayResult
from generator.passages.answering import answer_briefly, draft_answer
from generator.passages.expanding import FURTHER_QUERIES, HYPOTHESES, Expansion, expand
from generator.passages.retrieving import filter_relevant, fuse, open_question, rerank, retrieve
from generator.request import AskRequest, Resources
from generator.tracing.steps import Step

RETRIEVED, FUSED = 10, 15  # passages for each of several texts, passages after fusion
RELEVANT = 0.6  # passages with a higher relevance are kept


@dataclass(frozen=True, slots=True)
class PassageWay:
    """The steps of a way.

    Args:
        expansions: further texts to search for; the rankings of all texts are fused.
        reranks: whether more passages are retrieved, and the most relevant ones kept.
        filters: whether irrelevant passages are dropped.
        drafts: whether a temporary answer guides the re-ranking.
    """

    expansions: tuple[Expansion, ...] = ()
    reranks: bool = True
    filters: bool = False
    drafts: bool = False


WAYS: Mapping[str, PassageWay] = {
    "paper-qa-1": PassageWay(reranks=False),
    "paper-qa-2": PassageWay(),
    "paper-qa-3": PassageWay((FURTHER_QUERIES,)),
    "paper-qa-4": PassageWay((HYPOTHESES,)),
    "paper-qa-5": PassageWay((FURTHER_QUERIES, HYPOTHESES)),
    "paper-qa-6": PassageWay((FURTHER_QUERIES,), filters=True),
    "paper-qa-7": PassageWay((FURTHER_QUERIES, HYPOTHESES), filters=True),
    "paper-qa-8": PassageWay((FURTHER_QUERIES,), filters=True, drafts=True),
}


async def answer(request: AskRequest, resources: Resources, step: Step) -> WayResult:
    """Answer from passages by the way of the request."""
    way = WAYS[request.way]
    asked = await open_question(step, request, resources)
    if way.expansions:
        texts = await expand(step, asked, *way.expansions)
        result = fuse(step, asked, await retrieve(step, asked, texts, k=RETRIEVED), k=FUSED)
    else:
        [result] = await retrieve(step, asked, k=FUSED if way.reranks else request.evidence)
    if way.reranks:
        guide = await draft_answer(step, asked, result) if way.drafts else ()
        result = await rerank(step, asked, result, k=request.evidence, guide=guide)
    if way.filters:
        result = filter_relevant(step, result, above=RELEVANT)
    return await answer_briefly(step, asked, result)
