"""Execution of a plan's steps, sequential or concurrent."""

import asyncio
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import BaseModel, StringConstraints

from generator.hops.plans import Plan, Text, normalised, usable
from generator.llm import Reply
from generator.model_calls.budgets import Allowance
from generator.model_calls.model_step import ModelStep, constant
from generator.prompts import load_prompt
from generator.request import AskRequest, Resources
from generator.search_step import search_step
from generator.side_by_side import all_of
from generator.tracing.steps import Step
from indexer.corpora.papers import language_of
from indexer.files.schema import StoredPassage
from retriever.errors import SourceFailed
from retriever.search import open_search
from retriever.stages.hits import SearchResult


class Rewritten(BaseModel):
    """A standalone question."""

    question: Text


class SubAnswer(BaseModel):
    """The answer to a one-step question, and the numbers of its passages."""

    answer: Annotated[str, StringConstraints(strip_whitespace=True, max_length=1_000)]
    passages: list[int]
    answered: bool


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


def count_papers(found: Iterable[Finding], budget: Allowance) -> None:
    """Count the distinct papers of the searches as spent."""
    papers = len({hit.doc_id for finding in found for hit in finding.search.hits})
    budget.settle(papers=papers - budget.spent.papers)


async def follow(
    plan: Plan,
    first: Finding,
    request: AskRequest,
    resources: Resources,
    parent: Step,
    budget: Allowance,
    publish: Callable[[object], None],
) -> list[Finding]:
    """Run the steps of a plan until the budget is spent or a step has no answer; a note gives the reason.

    Independent questions run concurrently. `publish` receives each search result. The returned list starts
    with `first`, the finding of the question itself.
    """
    found = {0: first}

    async def one(number: int, question: str, facts: Sequence[str]) -> Finding | None:
        with parent.step("hop", number=number, question=question) as hop:
            rewriting = rewrite_step(question, facts)
            asked = await rewriting.run(hop, resources.model if facts else None, budget)
            known = {normalised(finding.question) for finding in found.values()}
            if facts and normalised(asked) in known:
                hop.notes.append(f"step {number} repeats an earlier question; the steps end here")
                return None
            try:
                finding = await _answer(hop, asked, request, resources, budget)
            except SourceFailed as error:
                hop.notes.append(f"step {number} was not searched for: {error}")
                return None
            hop.output = {"question": asked, "answer": finding.answer or None}
        found[number] = finding
        publish(finding.search)
        return finding

    steps = list(enumerate(plan.questions, 1))
    left = budget.seconds_left
    try:
        async with asyncio.timeout(None if math.isinf(left) else left):
            for at_once in [[step] for step in steps] if plan.ordered else [steps]:
                count_papers(found.values(), budget)
                if budget.is_spent:
                    break
                facts = answered([*found.values()])
                finding, *_ = await all_of(one(*step, facts) for step in at_once)
                if finding is None or budget.ended:
                    break
                if plan.ordered and not finding.answer:
                    parent.notes.append(f"step {len(found) - 1} found no answer; the steps end here")
                    break
    except TimeoutError:
        budget.end("seconds")
    if budget.ended:
        done = f"{len(found) - 1} of {len(plan.questions)} are done"
        parent.notes.append(f"the budget of the steps ({', '.join(budget.ended_limits)}) is spent: {done}")
    return [found[number] for number in sorted(found)]


def rewrite_step(question: str, facts: Sequence[str]) -> ModelStep[Rewritten, str]:
    """Return the step that inserts the answers of earlier steps into a step's question."""

    async def read(reply: Reply[Rewritten]) -> str:
        return reply.value.question if usable([reply.value.question], "") else question

    return ModelStep(
        "rewrite",
        load_prompt("rewrite", language_of(question)),
        {"question": question, "facts": facts},
        Rewritten,
        read=read,
        fallback="the step's own question",
        otherwise=constant(question),
    )


async def _answer(
    hop: Step, question: str, request: AskRequest, resources: Resources, budget: Allowance
) -> Finding:
    """Search for a step's question and ask for its answer from the passages found."""
    asked = replace(request.search(), question=question, keywords=None, skip=())
    context = open_search(resources.index, asked, resources.settings.retriever)
    search = await search_step(hop, context)
    if not search.hits:
        return Finding(question, search)
    passages = [hit.passage for hit in search.hits]
    answer = await sub_answer_step(question, passages).run(hop, resources.model, budget)
    return Finding(question, search, answer)


def sub_answer_step(question: str, passages: Sequence[StoredPassage]) -> ModelStep[SubAnswer, str]:
    """Return the step that asks for a short answer from passages; "" without an answer."""

    async def read(reply: Reply[SubAnswer]) -> str:
        return reply.value.answer if reply.value.answered else ""

    return ModelStep(
        "sub_answer",
        load_prompt("sub_answer", language_of(question)),
        {"question": question},
        SubAnswer,
        read=read,
        fallback="no answer of this step",
        otherwise=constant(""),
        passages=passages,
    )
