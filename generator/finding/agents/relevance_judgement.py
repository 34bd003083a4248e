"""Judgement without a language model: by cross-encoder, encoder or probability, and by links.

The probability belongs to the paper's score in the question's ranking (`paper_ranking.py`).
Links from several relevant papers make a paper relevant, which is this project's addition (`links`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from base.notes import Note
from generator.finding.request import FindRequest, FindResources
from generator.finding.state import FindingState, Judgement, KnownPaper, hash_of
from generator.tracing.steps import Step
from indexer.corpora.papers import Paper
from retriever.errors import SourceFailed
from retriever.relevance.paper_ranking import highest_expected_f

BATCH = 100  # papers judged between two checks of the time
WORDS, AND_LINKS = "words", " and links"  # parts of `Judgement.by`
# Relevance per link to a relevant paper, least number of links, and maximum. For probabilities these are
# shares of the expected F, so that the same links make a paper relevant for any question.
LINK, LEAST_LINKS, MOST_BY_LINKS = 0.2, 2, 0.6


async def judged_by_relevance(
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


def with_judgements(state: FindingState, made: Mapping[str, Judgement]) -> FindingState:
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
