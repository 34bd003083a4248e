"""Judgement: the relevance of each paper to the question, 0 to 1, with a reason (SPAR, appendix A.3).

The *brief* prompt requests a score. The *complex* prompt requests the components of the score, which is
computed here by the rules. Ten papers are judged concurrently, and again if their text changes. Without a
model, a cross-encoder, an encoder or the probability of the paper's score in the question's ranking judges
(`paper_ranking.py`). Then links from several relevant papers make a paper relevant, which is this project's
addition (`links`).
"""

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from base.notes import Note
from generator.finding.calls import FindRequest
from generator.finding.state import (
    FindingState,
    FindResources,
    Judgement,
    KnownPaper,
    hash_of,
)
from generator.llm import Reply
from generator.model_step import ModelStep
from generator.prompts import load_prompt
from generator.tracing import Step, all_of
from indexer.corpora.papers import Paper
from retriever.errors import SourceFailed
from retriever.relevance.paper_ranking import highest_expected_f

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
    if (most := allowance.papers_left) is not None and most < len(waiting):
        allowance.end("papers")
        waiting = waiting[:most]
    with step.step("judgement", papers=len(waiting), threshold=request.threshold) as judging:
        ruled = {
            paper_id: known
            for paper_id, known in state.papers.items()
            if is_ruled(known) and paper_id not in dict(waiting)
        }
        by_model, left = dict[str, Judgement](), dict(waiting)
        has_model_scores = any(known.judgement and not is_ruled(known) for known in state.papers.values())
        if resources.model and request.does("judgement"):
            by_model, left = await _by_model(state, left | ruled, resources, judging)
        if ruled.keys() - by_model.keys():  # scores of a model and of rules do not share a list
            by_model, left = {}, dict(waiting)
        elif by_model or has_model_scores:
            left = {}
        by_rules = await _by_relevance(state, [*left.items()], resources, judging)
        made = by_model | by_rules
        allowance.settle(papers=len(made.keys() - ruled.keys()))
        state = with_links(_with_judgements(state, made), request)
        relevant = [each for each in made if state.is_relevant(state.papers[each], request.threshold)]
        judging.output = {
            "judged": len(made),
            "relevant": relevant[: request.papers],
            "of": len(relevant),
            "by": sorted({each.by for each in made.values()}),
        }
    return state


async def _by_model(
    state: FindingState,
    waiting: Mapping[str, KnownPaper],
    resources: FindResources,
    step: Step,
) -> tuple[dict[str, Judgement], dict[str, KnownPaper]]:
    """Return the model's judgements, and the papers on which it failed.

    Each judgement is published. Papers beyond the budget stay unjudged; a limit of calls or tokens is checked
    before each batch of `IN_FLIGHT` papers, so that a replay judges the papers of its recording.
    """
    request, allowance = resources.request, resources.allowance
    made: dict[str, Judgement] = {}
    failed: dict[str, KnownPaper] = {}
    places = asyncio.Semaphore(IN_FLIGHT)
    schema = BriefJudgement if request.judge == "brief" else ComplexJudgement
    by = str(resources.model and resources.model.settings.model)

    async def judge_one(paper_id: str, known: KnownPaper) -> None:
        def read(reply: Reply[BriefJudgement | ComplexJudgement]) -> Judgement:
            score, parts = reply.value.scored()
            return Judgement(score, reply.value.reason, by, hash_of(known.paper), parts)

        judgement: ModelStep[BriefJudgement | ComplexJudgement, Judgement] = ModelStep(
            "judgement",
            load_prompt(f"judgement_{request.judge}", request.language),
            {"question": resources.question, **known.prompt_values()},
            schema,
            read=read,
            fallback="not judged by the model",
            inputs={"paper": paper_id},
            runs_after_timeout=True,
        )
        async with places:
            judged = await judgement.run(step, resources.model, allowance)
        if judged is None and not allowance.calls_ended:
            failed[paper_id] = known
        elif judged is not None:
            made[paper_id] = judged
            new = sum(state.papers[each].judgement is None for each in made)
            spent = replace(allowance.spent, papers=allowance.spent.papers + new)
            step.publish(replace(_with_judgements(state, made), spent=spent))

    items = [*waiting.items()]
    is_limited = (allowance.budget.calls, allowance.budget.tokens) != (None, None)
    size = IN_FLIGHT if is_limited else max(IN_FLIGHT, len(items))
    for start in range(0, len(items), size):
        await all_of(judge_one(paper_id, known) for paper_id, known in items[start : start + size])
    return {each: made[each] for each in waiting if each in made}, failed


# Without a language model

BATCH = 100  # papers judged between two checks of the time
WORDS, AND_LINKS = "words", " and links"  # parts of `Judgement.by`
# Relevance per link to a relevant paper, least number of links, and maximum. For probabilities these are
# shares of the expected F, so that the same links make a paper relevant for any question.
LINK, LEAST_LINKS, MOST_BY_LINKS = 0.2, 2, 0.6


async def _by_relevance(
    state: FindingState,
    waiting: Sequence[tuple[str, KnownPaper]],
    resources: FindResources,
    step: Step,
) -> dict[str, Judgement]:
    """Return judgements by the cross-encoder or the encoder, else by probabilities."""
    relevance = resources.relevance
    made: dict[str, Judgement] = {}
    for start in range(0, len(waiting), BATCH):
        if resources.allowance.time_is_over:
            break
        some = waiting[start : start + BATCH]
        papers = [known.paper for _, known in some]
        shared = await relevance.shared(state.asked, papers)
        lost = await relevance.losses(resources.excluded, papers)
        measured = await relevance.scores(state.asked, papers)
        scores: Sequence[float] = measured.scores
        if not measured.by:
            try:
                merged, filters = [known.merged for _, known in some], resources.request.filters
                scores = await resources.ranking.likelihoods(filters, merged)
            except SourceFailed as error:
                step.notes.append(Note("judging_failed", error=str(error)))
                break
        step.notes += [
            Note("judge_failed", by=measured.by or WORDS, error=failure) for failure in measured.failures
        ]
        for (paper_id, known), score, words, loss in zip(some, scores, shared, lost, strict=True):
            made[paper_id] = _ruled(known.paper, measured.by, score, words, loss)
    return made


def _ruled(paper: Paper, by: str, score: float, shared: Sequence[str], loss: float) -> Judgement:
    """Return a judgement by a model's relevance or a probability, reduced by the share `loss`."""
    reason = Note("shares_words", words=", ".join(shared)) if shared else Note("shares_no_word")
    parts = {by or WORDS: score} | ({"excluded": round(loss, 6)} if loss else {})
    judged = Judgement(score, reason, by or WORDS, hash_of(paper), parts, likely=not by)
    return _with_parts(judged, 0, 0.0)


def with_links(state: FindingState, request: FindRequest) -> FindingState:
    """Count links to relevant papers in judgements that are not by a language model."""
    if not request.does("links"):
        return state
    relevant = {paper_id for paper_id, _ in state.relevant(request.threshold)}
    changed = []
    for paper_id, known in state.papers.items():
        judged = known.judgement
        linked = len({by.of for by in known.found_by if by.kind != "query" and by.of in relevant})
        if judged and is_ruled(known) and (linked >= LEAST_LINKS or "links" in judged.parts):
            by_links = min(MOST_BY_LINKS, 1 - (1 - LINK) ** linked) if linked >= LEAST_LINKS else 0.0
            by_links *= state.expected_f if judged.likely else 1
            changed.append((paper_id, replace(known, judgement=_with_parts(judged, linked, by_links))))
    return state.with_papers(changed) if changed else state


def is_ruled(known: KnownPaper) -> bool:
    """Check whether a paper was judged without a language model."""
    judged = known.judgement
    return judged is not None and judged.by.removesuffix(AND_LINKS) in judged.parts


def _with_parts(judged: Judgement, linked: int, by_links: float) -> Judgement:
    """Return a judgement with `linked` relevant papers and the relevance `by_links` that they add."""
    by, loss = judged.by.removesuffix(AND_LINKS), judged.parts.get("excluded", 0.0)
    reason = judged.reason
    if isinstance(reason, Note):
        shares = "shares_words" if "words" in reason.values else "shares_no_word"
        code = f"{shares}{'_linked' * bool(by_links)}{'_excluded' * bool(loss)}"
        reason = Note(code, **{**reason.values, "linked": linked})
    others = {"links": by_links, "excluded": loss}
    return replace(
        judged,
        score=round((1 - (1 - judged.parts[by]) * (1 - by_links)) * (1 - loss), 6),
        reason=reason,
        by=by + AND_LINKS * bool(by_links),
        parts={by: judged.parts[by]} | {name: round(part, 6) for name, part in others.items() if part},
    )


def _with_judgements(state: FindingState, made: Mapping[str, Judgement]) -> FindingState:
    """Return the state with new judgements and the expected F of the best list."""
    state = state.with_papers(
        (paper_id, replace(state.papers[paper_id], judgement=judgement))
        for paper_id, judgement in made.items()
    )
    return replace(state, expected_f=highest_expected_f(_likely_scores(state)) or 1.0)


def _likely_scores(state: FindingState) -> list[float]:
    """Return the likely scores, without links, of the papers found by the question itself.

    Other papers join the list if they raise its expected F. As part of the expected relevant papers, they
    would shorten the list.
    """
    found = {
        paper_id for query in state.queries if query.kind == "question" for paper_id in query.found or ()
    }
    return [
        min(known.score, known.judgement.parts.get(WORDS, 1.0))
        for paper_id, known in state.papers.items()
        if paper_id in found and known.judgement and known.judgement.likely
    ]
