"""The loop that finds papers: SPAR's agents (Shi et al. 2025, section 3) as a list of steps.

Each step takes the state and returns the next one. What a step leaves undone, because a budget ended, stands
in the state, and the same loop goes on with it.
"""

from dataclasses import replace

from generator.finding.agents.evolver import evolve
from generator.finding.agents.judgement import judge
from generator.finding.agents.refchain import follow
from generator.finding.agents.reranking import RankedPaper, rerank
from generator.finding.agents.retrieval import retrieve
from generator.finding.agents.understanding import understand
from generator.finding.request import FindRequest, FindResources
from generator.finding.state import FindingState, SearchQuery
from generator.tracing.steps import Step
from retriever.question.asked_words import subject_text


async def find_in_steps(
    state: FindingState, request: FindRequest, resources: FindResources, step: Step
) -> tuple[FindingState, list[RankedPaper]]:
    """Go on from a state until the cache is full, the rounds are over, or a budget ends.

    The state is told after each step, with what was spent until then, so that it can be kept or shown.

    Raises:
        SourceFailed: no source answered, and nothing is known from before.
    """

    def told(state: FindingState) -> FindingState:
        state = replace(state, spent=resources.allowance.spent)
        step.publish(state)
        return state

    if state.understanding is None:
        understanding = await understand(request, resources, step)
        subject = subject_text(request.question, resources.this_year)
        texts = dict.fromkeys((subject, *understanding.queries))
        queries = tuple(
            SearchQuery(text, "expanded" if place else "question") for place, text in enumerate(texts)
        )
        state = told(replace(state, understanding=understanding, subject=subject, queries=queries))
        step.notes += understanding.notes
    asked, given = state.understanding and state.understanding.years, request.filters.years
    if asked and given and asked != given:
        step.notes.append(
            f"the question's years {asked.low or ''}–{asked.high or ''} give way to those of the call"
        )
    while not resources.allowance.time_is_over:
        with step.step("round", number=state.round) as inner:
            state = told(await retrieve(state, request, resources, inner))
            state = told(await judge(state, request, resources, inner))
            for layer in range(1, request.layers + 1 if request.does("refchain") else 1):
                state = told(await follow(state, request, resources, inner, layer=layer))
                state = told(await judge(state, request, resources, inner))
            enough = len(state.relevant(request.threshold)) >= request.papers
            if enough or resources.allowance.ended:
                break
            if not request.does("evolver") or state.round >= request.rounds:
                break
            number = state.round
            state = told(await evolve(state, request, resources, inner))
        # Queries that wait for sources that failed do not make a round.
        if state.round == number or not any(query.found is None for query in state.queries):
            break
    ranked = await rerank(state, request, resources, step)
    return told(state), ranked
