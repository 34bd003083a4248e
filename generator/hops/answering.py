"""Answers to multi-step questions: a gate, the steps, and one answer from all evidence.

gate      decides by the form of the question; other questions are answered by their way
hops      with a model:     decompose, chain if one question needs another's answer; a search for the
                            question itself; then for each hop: rewrite, search, sub_answer
          without a model:  a search, and a second round with terms from its best passages
answer    from the evidence of all searches and the answers of the hops
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import zip_longest

from generator.answer_step import answer_step
from generator.answers.answer import WayResult
from generator.answers.model_answer import WHOLE_ANSWER
from generator.hops.chains import Finding, answered, count_papers, follow
from generator.hops.plans import TWO_ROUNDS, Plan, plan_steps
from generator.model_calls.budgets import Allowance, Budget
from generator.request import WAY, AskRequest, Resources
from generator.search_step import search_step
from generator.tracing.steps import Step
from generator.ways import Way
from retriever.errors import SourceFailed
from retriever.methods import method_named
from retriever.question.question_form import question_form
from retriever.requests.request import check_question
from retriever.search import open_search, present, run_stages
from retriever.second_round import with_second_round
from retriever.stages.hits import Hit, SearchResult, summed_milliseconds

ROUNDS = 2
MOST_EVIDENCE = 20  # papers of all steps; the model's context may shorten them further
ANOTHER_WAY = "answered in several steps, and not by way {!r}, which answers questions of one step"
SPENT = f"the budget of the steps ({{}}) is spent: {TWO_ROUNDS}"


def budget_of(request: AskRequest) -> Budget:
    """Return the budget of all steps; six steps need nineteen calls without retries, and seven searches."""
    return Budget(calls=24, tokens=120_000, seconds=180, papers=12 * request.evidence)


async def answer_in_hops(
    way: Way, request: AskRequest, resources: Resources, step: Step, budget: Budget | None = None
) -> WayResult:
    """Answer from the evidence of several steps within the budget; a one-step question is answered by `way`.

    Raises:
        RetrieverError: an invalid question, method or filter.
    """
    if not await _passes_the_gate(request, resources, step):
        return await way(request, resources, step)
    found = await search_in_hops(request, resources, step, budget)
    if not found:
        return await way(request, resources, step)
    search = joined_evidence(found, request)
    step.publish(search)
    form = replace(WHOLE_ANSWER, findings=tuple(answered(found)))
    return WayResult(await answer_step(step, search, resources, form), search)


async def search_in_hops(
    request: AskRequest, resources: Resources, step: Step, budget: Budget | None = None
) -> list[Finding]:
    """Search for the steps of a question's plan, or in two rounds; nothing for a question of one step.

    Raises:
        RetrieverError: an invalid question, method or filter.
    """
    found: list[Finding] = []
    with step.step("hops", question=request.question) as hops:
        allowance = Allowance(budget or budget_of(request))
        plan = await plan_steps(hops, request.question, resources.model, allowance)
        if plan is None:
            if allowance.ended:
                hops.notes.append(SPENT.format(", ".join(allowance.ended_limits)))
            found = [Finding(request.question, await _two_rounds(hops, request, resources, step.publish))]
        elif plan.questions:
            found = await _steps(hops, plan, request, resources, allowance, step.publish)
        if found and request.way != WAY:
            hops.notes.append(ANOTHER_WAY.format(request.way))
        count_papers(found, allowance)
        hops.output = {
            "steps": None if plan is None else list(plan.questions),
            "answers": answered(found),
            "spent": allowance.spent.as_record(),
            "budget": asdict(allowance.budget),
        }
    return found


def joined_evidence(found: Sequence[Finding], request: AskRequest) -> SearchResult:
    """Return the interleaved hits of all searches, at most 20 or twice the evidence of the request."""
    return joined([finding.search for finding in found], max(MOST_EVIDENCE, ROUNDS * request.evidence))


async def _passes_the_gate(request: AskRequest, resources: Resources, step: Step) -> bool:
    """Check whether to answer in steps; never for an expression or a question about one paper."""
    check_question(request.question)
    with step.step("gate", question=request.question, hops=request.hops) as gate:
        index = resources.index
        form = await index.threads.run(question_form, request.question, index.analyzer)
        one_search = request.topic is not None or method_named(request.method).analyse is not None
        passes = not one_search and (request.hops == "always" or form.has_several_steps)
        if one_search and request.hops == "always":
            what = "an expression" if request.topic is None else "about one paper"
            gate.notes.append(f"not answered in several steps: the question is {what}")
        gate.output = {"several steps": passes, "likelihood": round(form.likelihood, 4), **form.values()}
    return passes


async def _steps(
    hops: Step,
    plan: Plan,
    request: AskRequest,
    resources: Resources,
    budget: Allowance,
    publish: Callable[[object], None],
) -> list[Finding]:
    """Search for the question itself, then run the steps of its plan."""
    context = open_search(resources.index, request.search(), resources.settings.retriever)
    first = await search_step(hops, context)
    publish(first)
    if first.applied and first.applied.constraints:  # apply to all searches of the question
        request = replace(request, constraints=first.constraints.elsewhere())
    return await follow(plan, Finding(request.question, first), request, resources, hops, budget, publish)


async def _two_rounds(
    hops: Step, request: AskRequest, resources: Resources, publish: Callable[[object], None]
) -> SearchResult:
    """Search twice, the second time with terms from the best passages; return both rounds interleaved."""
    asked = replace(request.search(), k=ROUNDS * request.evidence)
    context = open_search(resources.index, asked, resources.settings.retriever)
    with hops.step("search", question=asked.question, method=asked.method, k=asked.k) as step:
        stages = await run_stages(context, upto="keywords")
        publish(stages)
        stages = await run_stages(context, stages)
        first = await present(context, stages)
        step.output = first.as_record()
    publish(first)
    with hops.step("search", question=asked.question, method=asked.method, k=asked.k, round=ROUNDS) as step:
        try:
            search = await present(context, await with_second_round(context, stages))
        except SourceFailed as error:
            step.notes.append(f"the second round was not searched for: {error}")
            return first
        if search.applied:
            order = f"{search.order}; a second round interleaved, by ranks"
            search = replace(search, applied=replace(search.applied, order=order))
        step.output = search.as_record()
    return search


def joined(searches: Sequence[SearchResult], most: int) -> SearchResult:
    """Return the first search with the interleaved hits of all searches, without repetitions; at most `most`.

    A hit's score is 1 / its best rank. The likelihood of an answer is the highest of all searches, and each
    token has its highest weight.
    """
    first = searches[0]
    if len(searches) == 1:
        return first
    ranked: dict[str, Hit] = {}
    for place, hits in enumerate(zip_longest(*(search.hits for search in searches)), 1):
        for hit in filter(None, hits):
            ranked.setdefault(hit.passage_id, replace(hit, score=round(1 / place, 4)))
    kept = [replace(hit, rank=rank) for rank, hit in enumerate(list(ranked.values())[:most], 1)]
    likelihoods = [search.likelihood for search in searches if search.likelihood is not None]
    return replace(
        first,
        hits=tuple(kept),
        token_weights=_highest([search.token_weights for search in searches]),
        milliseconds=summed_milliseconds(searches),
        likelihood=max(likelihoods, default=None),
        notes=tuple(dict.fromkeys(note for search in searches for note in search.notes)),
    )


def _highest(weights: Sequence[Mapping[str, float]]) -> dict[str, float]:
    tokens = dict.fromkeys(token for each in weights for token in each)
    return {token: max(each.get(token, 0.0) for each in weights) for token in tokens}
