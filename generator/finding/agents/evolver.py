"""Evolver: further queries about methods, applications and limitations of the relevant papers.

A seeded random sample of all new queries is searched for. Used queries, and queries whose words another query
contains, are suppressed (SPAR, section 3.2, appendix A.2). Without a model there are no further queries.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import BaseModel, StringConstraints

from generator.finding.state import (
    TITLE_CHARACTERS,
    FindingState,
    FindResources,
    KnownPaper,
    QueryKind,
    SearchQuery,
)
from generator.model_step import ModelStep
from generator.prompts import load_prompt
from generator.tracing import Step, all_of

EVOLVED_PAPERS = 10  # best papers of a round that were not evolved before
SHOWN_QUERIES = 50  # earlier queries in the prompt
OVERLAP = 0.75  # least share of a query's words in another query to suppress it
ASPECTS: tuple[QueryKind, ...] = ("method", "application", "limitation")

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=400)]


class EvolvedQueries(BaseModel):
    """Reply schema."""

    method: Text
    application: Text
    limitation: Text


async def evolve(state: FindingState, resources: FindResources, step: Step) -> FindingState:
    """Add the queries of the next round; none if the relevant papers yield no new query.

    The state is unchanged without a model, if no budget is left, or if the previous round yielded no query.
    A resumed search recognises the latter only from the state.
    """
    request = resources.request
    brought_nothing = state.round > max((query.round for query in state.queries), default=0)
    if resources.model is None or brought_nothing or resources.allowance.time_is_over:
        return state
    cache = [item for item in state.relevant(request.threshold) if not item[1].evolved][:EVOLVED_PAPERS]
    if not cache:
        return state
    with step.step("evolver", papers=[paper_id for paper_id, _ in cache], round=state.round + 1) as evolving:
        given = await all_of(
            _of_paper(state, paper_id, known, resources, evolving) for paper_id, known in cache
        )
        if all(queries is None for queries in given):
            return state
        made = [query for queries in given for query in queries or ()]
        fresh = await _without_used(made, state.queries, resources)
        draw = random.Random(f"{request.seed} {state.round}")  # noqa: S311 - the same queries each time
        drawn = draw.sample(fresh, min(request.evolved, len(fresh)))
        evolving.output = {
            "made": len(made),
            "suppressed": len(made) - len(fresh),
            "queries": [{"text": query.text, "kind": query.kind, "paper": query.paper} for query in drawn],
        }
    evolved = [
        (paper_id, replace(known, evolved=True))
        for (paper_id, known), queries in zip(cache, given, strict=True)
        if queries is not None
    ]
    return replace(state.with_papers(evolved), queries=(*state.queries, *drawn), round=state.round + 1)


async def _of_paper(
    state: FindingState, paper_id: str, known: KnownPaper, resources: FindResources, step: Step
) -> list[SearchQuery] | None:
    """Return three queries from a paper; None if no budget is left."""
    paper, request = known.paper, resources.request
    domain = state.understanding.domain if state.understanding else ""
    field = ", ".join(filter(None, [*paper.keywords[:10], paper.journal, domain]))

    evolver: ModelStep[EvolvedQueries, list[str]] = ModelStep(
        "evolver",
        load_prompt("evolver", request.language),
        {
            "queries": [query.text for query in state.queries][-SHOWN_QUERIES:],
            **known.prompt_values(),
            "field": field[:TITLE_CHARACTERS] or "not known",
            "question": resources.question,
        },
        EvolvedQueries,
        read=lambda reply: [reply.value.method, reply.value.application, reply.value.limitation],
        fallback="no further queries from this paper",
        inputs={"paper": paper_id},
    )
    texts = await evolver.run(step, resources.model, resources.allowance)
    if texts is None and resources.allowance.calls_ended:
        return None
    return [
        SearchQuery(text, aspect, state.round + 1, paper_id)
        for aspect, text in zip(ASPECTS, texts or (), strict=False)
    ]


async def _without_used(
    made: Sequence[SearchQuery], used: Iterable[SearchQuery], resources: FindResources
) -> list[SearchQuery]:
    """Drop used queries, and queries that share most of their words with an earlier one."""

    async def tokens_of(query: SearchQuery) -> frozenset[str]:
        words = await resources.relevance.words(query.text)
        return frozenset(token for word in words for token in word.keyword.tokens)

    before = [await tokens_of(query) for query in used]
    kept = []
    for query in made:
        tokens = await tokens_of(query)
        if tokens and not any(len(tokens & others) >= OVERLAP * len(tokens) for others in before):
            before.append(tokens)
            kept.append(query)
    return kept
