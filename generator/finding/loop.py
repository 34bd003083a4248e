"""The loop of paper finding: SPAR's agents (Shi et al. 2025, section 3) as a list of steps.

Each step takes a state and returns the next one. The state contains work left undone when a budget ends, and
the same loop resumes it.
"""

from dataclasses import replace

from base.notes import Note
from generator.finding.agents.evolver import evolve
from generator.finding.agents.judgement import judge
from generator.finding.agents.refchain import follow
from generator.finding.agents.reranking import RankedPaper, rerank
from generator.finding.agents.retrieval import retrieve
from generator.finding.agents.understanding import understand
from generator.finding.request import FindResources
from generator.finding.state import FindingState, SearchQuery
from generator.tracing.steps import Step


async def find_in_steps(
    state: FindingState, resources: FindResources, step: Step
) -> tuple[FindingState, list[RankedPaper]]:
    """Run the steps until enough relevant papers are known, the rounds are over, or a budget is spent.

    After each step the state is published with the amounts spent so far, to be saved or shown.

    Raises:
        SourceFailed: no source answered, and the state has no papers.
    """

    def published(state: FindingState) -> FindingState:
        state = replace(state, spent=resources.allowance.spent)
        step.publish(state)
        return state

    if state.understanding is None:
        subject = resources.conditions.remaining
        understanding = await understand(resources, step)
        texts = dict.fromkeys((subject, *understanding.queries))
        queries = tuple(
            SearchQuery(text, "expanded" if place else "question") for place, text in enumerate(texts)
        )
        state = published(replace(state, understanding=understanding, subject=subject, queries=queries))
        step.notes += understanding.notes
    request = resources.request
    asked, given = state.understanding and state.understanding.years, request.filters.years
    if asked and not given:
        request = request.changed(filters=replace(request.filters, years=asked))
        resources = replace(resources, request=request)
    elif asked and asked != given:
        step.notes.append(Note("years_replaced", years=f"{asked.low or ''}–{asked.high or ''}"))
    while not resources.allowance.time_is_over:
        with step.step("round", number=state.round) as inner:
            state = published(await retrieve(state, resources, inner))
            state = published(await judge(state, resources, inner))
            for layer in range(1, request.layers + 1 if request.does("refchain") else 1):
                state = published(await follow(state, resources, inner, layer=layer))
                state = published(await judge(state, resources, inner))
            enough = len(state.relevant(request.threshold)) >= request.papers
            if enough or resources.allowance.ended:
                break
            if not request.does("evolver") or state.round >= request.rounds:
                break
            number = state.round
            state = published(await evolve(state, resources, inner))
        # Queries that are unsent because sources failed do not start a round.
        if state.round == number or not any(query.found is None for query in state.queries):
            break
    ranked = await rerank(state, resources, step)
    return published(state), ranked
