"""Execution of a plan's steps, sequential or concurrent."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from pydantic import BaseModel

from generator.hops.asking import Rewritten, ask_step, sub_answer
from generator.hops.evidence import papers_of
from generator.hops.plans import Plan, normalised, usable
from generator.llm import LanguageModel
from generator.model_calls.budgets import Budget, spent_within
from generator.model_calls.model_step import model_step
from generator.request import AskRequest, Resources
from generator.search_step import search_step
from generator.side_by_side import all_of
from generator.tracing.steps import Step
from retriever.errors import SourceFailed
from retriever.search import open_search
from retriever.stages.hits import SearchResult

NOT_ANSWERED = "no answer of this step"


@dataclass(frozen=True, slots=True)
class Finding:
    """The question of a step as asked, its search result and its answer, "" if none."""

    question: str
    search: SearchResult
    answer: str = ""

    @property
    def text(self) -> str:
        """The question with its answer, for a prompt."""
        return f"{self.question} {self.answer}"


def answered(findings: Sequence[Finding]) -> list[str]:
    """Return the answered questions with their answers."""
    return [finding.text for finding in findings if finding.answer]


async def follow(
    plan: Plan,
    first: Finding,
    request: AskRequest,
    resources: Resources,
    parent: Step,
    budget: Budget,
    publish: Callable[[object], None],
) -> list[Finding]:
    """Run the steps of a plan until the budget is spent or a step has no answer; a note gives the reason.

    Independent questions run concurrently. `publish` receives each search result. The returned list starts
    with `first`, the finding of the question itself.
    """
    found = {0: first}

    async def one(number: int, question: str, facts: Sequence[str]) -> Finding | None:
        with parent.step("hop", number=number, question=question) as hop:
            asked = await _with_facts(hop, question, facts, resources.model)
            known = {normalised(finding.question) for finding in found.values()}
            if facts and normalised(asked) in known:
                hop.notes.append(f"step {number} repeats an earlier question; the steps end here")
                return None
            try:
                finding = await _answer(hop, asked, request, resources)
            except SourceFailed as error:
                hop.notes.append(f"step {number} was not searched for: {error}")
                return None
            hop.output = {"question": asked, "answer": finding.answer or None}
        found[number] = finding
        publish(finding.search)
        return finding

    def end(spent: str) -> None:
        done = f"{len(found) - 1} of {len(plan.questions)} are done"
        parent.notes.append(f"the budget of the steps ({spent}) is spent: {done}")

    steps = list(enumerate(plan.questions, 1))
    try:
        async with asyncio.timeout(None if budget.seconds is None else budget.seconds - parent.seconds):
            for at_once in [[step] for step in steps] if plan.ordered else [steps]:
                papers = papers_of(finding.search for finding in found.values())
                if spent := budget.ended(spent_within(parent, papers)):
                    end(spent)
                    break
                facts = answered([*found.values()])
                finding, *_ = await all_of(one(*step, facts) for step in at_once)
                if finding is None:
                    break
                if plan.ordered and not finding.answer:
                    parent.notes.append(f"step {len(found) - 1} found no answer; the steps end here")
                    break
    except TimeoutError:
        end(f"{budget.seconds:,.0f} seconds")
    return [found[number] for number in sorted(found)]


async def _with_facts(hop: Step, question: str, facts: Sequence[str], model: LanguageModel | None) -> str:
    """Return a step's question with the answers of earlier steps inserted."""
    if not facts or model is None:
        return question
    rewritten = await ask_step(
        hop, "rewrite", Rewritten, question, model, fallback="the step's own question", facts=facts
    )
    return rewritten.question if rewritten and usable([rewritten.question], "") else question


async def _answer(hop: Step, question: str, request: AskRequest, resources: Resources) -> Finding:
    """Search for a step's question and ask for its answer from the passages found."""
    asked = replace(request.search(), question=question, keywords=None, skip=())
    context = open_search(resources.index, asked, resources.settings.retriever)
    search = await search_step(hop, context)
    if not search.hits or resources.model is None:
        return Finding(question, search)
    passages = [hit.passage for hit in search.hits]
    given = await model_step(
        hop,
        "sub_answer",
        partial(sub_answer, question, passages, resources.model),
        BaseModel.model_dump,
        fallback=NOT_ANSWERED,
    )
    return Finding(question, search, given.answer if given and given.answered else "")
