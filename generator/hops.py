"""Questions of several steps: a search for each step of the strategy, and one answer from all evidence.

The model's strategy names the steps: single-hop questions in order (SHRAG, appendix A.3). The question itself
is searched for first. Then each step is rewritten with the answers so far, gets its own strategy and search,
and a short answer. Questions without steps, and all questions without a model, are answered by their way.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import zip_longest
from typing import Annotated

from pydantic import BaseModel, StringConstraints

from base.notes import Note
from generator.answers.answer import WayResult
from generator.answers.model_answer import WHOLE_ANSWER
from generator.budgets import Allowance, Budget
from generator.model_step import ModelStep
from generator.prompts import load_prompt
from generator.request import WAY, AskRequest, Resources
from generator.strategist import ask_for_strategy, model_strategy, normalised
from generator.tracing import Step
from generator.ways import Way
from generator.ways.shrag import answer_step, search_step
from indexer.corpora.papers import language_of_question
from retriever.errors import SourceFailed
from retriever.request import SearchRequest
from retriever.search import open_search
from retriever.stages.hits import Hit, SearchResult, summed_milliseconds

MAX_EVIDENCE = 20  # papers of all steps; the model's context may shorten them further
BUDGET = Budget(calls=30, tokens=120_000, seconds=180)  # six steps need 23 calls without retries
RANK_CONSTANT = 60  # of reciprocal ranks

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1_000)]


class Rewritten(BaseModel):
    """A standalone question."""

    question: Text


class SubAnswer(BaseModel):
    """The answer to a question of one step, and the numbers of its passages."""

    answer: Annotated[str, StringConstraints(strip_whitespace=True, max_length=1_000)]
    passages: list[int]
    answered: bool


@dataclass(frozen=True, slots=True)
class Hop:
    """The question of a step as asked, its search result and its answer, "" if none."""

    question: str
    search: SearchResult
    answer: str = ""


def answered(hops: Iterable[Hop]) -> list[str]:
    """Return the answered questions with their answers."""
    return [f"{hop.question} {hop.answer}" for hop in hops if hop.answer]


async def answer_in_hops(way: Way, request: AskRequest, resources: Resources, step: Step) -> WayResult:
    """Answer from the evidence of several steps within `BUDGET`; a question of one step by `way`.

    Raises:
        RetrieverError: an invalid question, method or filter.
    """
    if request.topic is None:
        request = await ask_for_strategy(step, request, resources)
    found = await search_in_hops(request, resources, step)
    if not found:
        return await way(request, resources, step)
    search = joined_evidence(found, request)
    step.publish(search)
    form = replace(WHOLE_ANSWER, findings=tuple(answered(found)))
    return WayResult(await answer_step(step, search, resources, form), search)


async def search_in_hops(request: AskRequest, resources: Resources, step: Step) -> list[Hop]:
    """Search for the question and for the steps of its strategy; nothing for a strategy without steps.

    Raises:
        RetrieverError: an invalid question, method or filter.
    """
    steps = request.strategy.steps if request.strategy and request.topic is None else ()
    if not steps:
        return []
    with step.step("hops", question=request.question, steps=list(steps)) as hops:
        allowance = Allowance(BUDGET)
        context = open_search(resources.index, request.search(), resources.settings.retriever)
        found = [Hop(request.question, await search_step(hops, context))]
        step.publish(found[0].search)
        try:
            async with asyncio.timeout(allowance.seconds_left):
                for number, question in enumerate(steps, 1):
                    if allowance.is_spent:
                        break
                    hop = await _hop(hops, number, question, found, request, resources, allowance)
                    if hop:
                        found.append(hop)
                        step.publish(hop.search)
        except TimeoutError:
            allowance.end("seconds")
        if allowance.ended:
            limits = ", ".join(allowance.ended_limits)
            hops.notes.append(Note("steps_ended", limits=limits, done=len(found) - 1, steps=len(steps)))
        if request.way != WAY:
            hops.notes.append(Note("answered_in_steps", way=request.way))
        hops.output = {
            "answers": answered(found),
            "spent": allowance.spent.as_record(),
            "budget": asdict(allowance.budget),
        }
    return found


async def _hop(
    parent: Step,
    number: int,
    question: str,
    found: Sequence[Hop],
    request: AskRequest,
    resources: Resources,
    budget: Allowance,
) -> Hop | None:
    """Run one step; None if it repeats an earlier question, or no source answers."""
    language, facts, model = language_of_question(question), answered(found), resources.model

    with parent.step("hop", number=number, question=question) as step:
        rewriting: ModelStep[Rewritten, str] = ModelStep(
            "rewrite",
            load_prompt("rewrite", language),
            {"question": question, "facts": facts},
            Rewritten,
            read=lambda reply: reply.value.question if normalised(reply.value.question) else question,
            fallback="the step's own question",
        )
        asked = await rewriting.run(step, model if facts else None, budget) or question
        if normalised(asked) in {normalised(hop.question) for hop in found}:
            step.notes.append(Note("step_repeated", step=number))
            return None
        searched = request_of_hop(asked, request)
        if request.strategist == "model":
            strategy = await model_strategy(step, searched, model, budget)
            searched = replace(searched, strategy=strategy)
        context = open_search(resources.index, searched, resources.settings.retriever)
        try:
            search = await search_step(step, context)
        except SourceFailed as error:
            step.notes.append(Note("step_not_searched", step=number, error=str(error)))
            return None
        answer = ""
        if search.hits:
            answering: ModelStep[SubAnswer, str] = ModelStep(
                "sub_answer",
                load_prompt("sub_answer", language_of_question(asked)),
                {"question": asked},
                SubAnswer,
                read=lambda reply: reply.value.answer if reply.value.answered else "",
                fallback="no answer of this step",
                passages=[hit.passage for hit in search.hits],
            )
            answer = await answering.run(step, model, budget) or ""
        step.output = {"question": asked, "answer": answer or None}
    return Hop(asked, search, answer)


def request_of_hop(question: str, request: AskRequest) -> SearchRequest:
    """Return the search of a step; exclusions and years of the whole question apply to each step."""
    whole, strategy = request.search(), request.strategy
    exclude, filters = whole.exclude, whole.filters
    if strategy:
        exclude = (*exclude, *strategy.excluded_texts)
        if strategy.year_range:
            filters = replace(filters, years_if_known=strategy.year_range)
    return replace(
        whole, question=question, strategy=None, keywords=None, skip=(), exclude=exclude, filters=filters
    )


def joined_evidence(found: Sequence[Hop], request: AskRequest) -> SearchResult:
    """Return the first search with the interleaved hits of all searches, without repetitions.

    There are at most 20 hits, or twice the evidence of the request. A hit's score is 1 / (60 + its best
    rank). The likelihood of an answer is the highest of all searches.
    """
    searches = [hop.search for hop in found]
    if len(searches) == 1:
        return searches[0]
    ranked: dict[str, Hit] = {}
    for place, hits in enumerate(zip_longest(*(search.hits for search in searches)), 1):
        for hit in filter(None, hits):
            ranked.setdefault(hit.passage_id, replace(hit, score=round(1 / (RANK_CONSTANT + place), 4)))
    most = max(MAX_EVIDENCE, 2 * request.evidence)
    likelihoods = [search.likelihood for search in searches if search.likelihood is not None]
    return replace(
        searches[0],
        hits=tuple(replace(hit, rank=rank) for rank, hit in enumerate([*ranked.values()][:most], 1)),
        milliseconds=summed_milliseconds(searches),
        likelihood=max(likelihoods, default=None),
        notes=tuple(dict.fromkeys(note for search in searches for note in search.notes)),
    )
