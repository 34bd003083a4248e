"""Judgement: the relevance of each paper to the question, 0 to 1, with a reason (SPAR, appendix A.3).

The *brief* prompt requests a score. The *complex* prompt requests the components of the score, which is
computed here by the rules. Ten papers are judged concurrently, and each text once. Without a model,
`relevance_judgement.py` judges.
"""

import asyncio
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from generator.finding.agents.prompts import abstract_of, title_of
from generator.finding.agents.relevance_judgement import (
    is_ruled,
    judged_by_relevance,
    with_judgements,
    with_links,
)
from generator.finding.request import FindResources
from generator.finding.state import FindingState, Judgement, KnownPaper, hash_of
from generator.llm import Reply
from generator.model_step import ModelStep, constant
from generator.prompts import load_prompt
from generator.tracing.progress import all_of
from generator.tracing.steps import Step

IN_FLIGHT = 10  # papers judged concurrently by the model

# Rules for complex judgements (SPAR, appendix A.3).
STUFFING, MISLEADING = 0.3, 0.2  # deductions
LOW, STEP = 0.4, 0.1  # scores below LOW are rounded down to a multiple of STEP
HIGH = 0.7  # scores from HIGH on require that all three criteria are positive
BELOW_HIGH = 0.69

Reason = Annotated[str, StringConstraints(strip_whitespace=True, max_length=600)]


class BriefJudgement(BaseModel):
    """Reply schema of the brief prompt."""

    reason: Reason
    score: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]

    def scored(self) -> tuple[float, dict[str, float]]:
        """Return the score; it has no components."""
        return self.score, {}


class ComplexJudgement(BaseModel):
    """Reply schema of the complex prompt: a gate, three weighted criteria, two deductions."""

    reason: Reason
    shares_subject: bool
    shares_domain: bool
    shares_intent: bool
    topic: Annotated[float, Field(ge=0, le=0.6, allow_inf_nan=False)]
    context: Annotated[float, Field(ge=0, le=0.3, allow_inf_nan=False)]
    depth: Annotated[float, Field(ge=0, le=0.1, allow_inf_nan=False)]
    stuffed_with_keywords: bool
    misleading: bool

    def scored(self) -> tuple[float, dict[str, float]]:
        """Return the score by the rules, and the three criteria."""
        return complex_score(self), {"topic": self.topic, "context": self.context, "depth": self.depth}


def complex_score(judged: ComplexJudgement) -> float:
    """Return the score of a complex judgement by the rules, 0 to 1.

    It is 0 if nothing is shared. Else it is the sum of topic (to .6), context (to .3) and depth (to .1), less
    .3 for keyword stuffing and .2 for a misleading title or abstract. A sum from .7 on becomes .69 unless all
    three criteria are positive; a sum below .4 is rounded down to a multiple of .1.
    """
    if not (judged.shares_subject or judged.shares_domain or judged.shares_intent):
        return 0.0
    total = judged.topic + judged.context + judged.depth
    total -= STUFFING * judged.stuffed_with_keywords + MISLEADING * judged.misleading
    total = round(min(1.0, max(0.0, total)), 6)
    if total >= HIGH and min(judged.topic, judged.context, judged.depth) <= 0:
        total = BELOW_HIGH
    if total < LOW:
        total = math.floor(round(total / STEP, 6)) * STEP
    return round(total, 6)


async def judge(state: FindingState, resources: FindResources, step: Step) -> FindingState:
    """Judge the unjudged papers: lower layers first, then papers found more often."""
    allowance, request = resources.allowance, resources.request
    waiting = [
        (paper_id, known)
        for paper_id, known in state.papers.items()
        if known.judgement is None or known.judgement.text_hash != hash_of(known.paper)
    ]
    if not waiting or allowance.time_is_over:
        return with_links(state, request)
    waiting.sort(key=lambda item: (item[1].layer, -len(item[1].found_by), item[1].found_by[0].rank))
    if (left := allowance.papers_left) is not None and left < len(waiting):
        allowance.end("papers")
        waiting = waiting[:left]
    with step.step("judgement", papers=len(waiting), threshold=request.threshold) as judging:
        model = resources.model if request.does("judgement") else None
        judged = {paper_id: known for paper_id, known in state.papers.items() if known.judgement}
        ruled = {paper_id: known for paper_id, known in judged.items() if is_ruled(known)}
        done = {
            known.judgement.text_hash: known.judgement
            for paper_id, known in judged.items()
            if known.judgement and not (model and paper_id in ruled)
        }
        hashes = {paper_id: hash_of(known.paper) for paper_id, known in waiting}
        again = {paper_id: done[text] for paper_id, text in hashes.items() if text in done}
        fresh = {paper_id: known for paper_id, known in waiting if paper_id not in again}
        by_model: dict[str, Judgement] = {}

        def publish(made: Mapping[str, Judgement]) -> None:
            newest = {**by_model, **made}
            papers = allowance.spent.papers + len(newest.keys() - judged.keys())
            judging.publish(
                replace(with_judgements(state, newest), spent=replace(allowance.spent, papers=papers))
            )

        unjudged = fresh  # for the rules: scores of a model and of rules do not share a list
        if model:
            by_model, unjudged = await _by_model(fresh, resources, judging, publish)
            others = {paper_id: known for paper_id, known in ruled.items() if paper_id not in fresh}
            if by_model and others:
                more, _ = await _by_model(others, resources, judging, publish)
                by_model, unjudged = ({**by_model, **more}, {}) if len(more) == len(others) else ({}, fresh)
            elif by_model or len(ruled) < len(judged):
                unjudged = {}
        made = {
            **again,
            **by_model,
            **await judged_by_relevance(state, [*unjudged.items()], resources, judging),
        }
        allowance.settle(papers=len(made.keys() - again.keys() - ruled.keys()))
        state = with_links(with_judgements(state, made), request)
        relevant = [each for each in made if state.is_relevant(state.papers[each], request.threshold)]
        judging.output = {
            "judged": len(made),
            "relevant": relevant[: request.papers],
            "of": len(relevant),
            "by": sorted({each.by for each in made.values()}),
        }
    return state


async def _by_model(
    waiting: Mapping[str, KnownPaper],
    resources: FindResources,
    step: Step,
    publish: Callable[[Mapping[str, Judgement]], None],
) -> tuple[dict[str, Judgement], dict[str, KnownPaper]]:
    """Return the model's judgements and the papers on which it failed; each judgement is published.

    Papers beyond the budget stay unjudged.
    """
    request = resources.request
    made: dict[str, Judgement] = {}
    failed: dict[str, KnownPaper] = {}
    places = asyncio.Semaphore(IN_FLIGHT)
    schema = BriefJudgement if request.judge == "brief" else ComplexJudgement
    by = str(resources.model and resources.model.settings.model)

    async def judge_one(paper_id: str, known: KnownPaper) -> None:
        def read(reply: Reply[BriefJudgement | ComplexJudgement]) -> Judgement:
            score, parts = reply.value.scored()
            return Judgement(score, reply.value.reason, by, hash_of(known.paper), parts)

        async def judge_later() -> None:
            failed[paper_id] = known

        judgement: ModelStep[BriefJudgement | ComplexJudgement, Judgement | None] = ModelStep(
            "judgement",
            load_prompt(f"judgement_{request.judge}", request.language),
            {
                "question": request.question,
                "title": title_of(known.paper),
                "abstract": abstract_of(known.paper),
            },
            schema,
            read=read,
            fallback="not judged by the model",
            otherwise=judge_later,
            if_spent=constant(None),
            inputs={"paper": paper_id},
            runs_after_timeout=True,
        )
        async with places:
            judged = await judgement.run(step, resources.model, resources.allowance)
        if judged is not None:
            made[paper_id] = judged
            publish(made)

    await all_of(judge_one(paper_id, known) for paper_id, known in waiting.items())
    return {paper_id: made[paper_id] for paper_id in waiting if paper_id in made}, failed
