"""The result of a search: hits without duplicates, with papers and snippets, and the effective options."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter

from base.amounts import counted
from retriever.duplicates.folding import without_duplicates
from retriever.duplicates.repeated_questions import asked_question, only_repeats
from retriever.duplicates.statements import states_something
from retriever.keywords.choice import KeywordChoice
from retriever.methods import method_named
from retriever.queries.boolean import searched_tokens
from retriever.query_plan import FEEDBACK
from retriever.question.analysis import AnalysedQuestion
from retriever.question.unknown_words import unknown_words
from retriever.requests.context import SearchContext
from retriever.searching.answerability import (
    EVIDENCE,
    NOTHING,
    UNKNOWN_SUBJECT,
    AnswerabilityFeatures,
    answer_likelihood,
    answerability_features,
    subject_is_unknown,
)
from retriever.searching.sorting import sorted_hits
from retriever.searching.surface_words import later_searches
from retriever.stages.abstracts_for_titles import read_hits
from retriever.stages.highlights import found_in, snippet, title_spans
from retriever.stages.hits import AppliedSearch, Hit, SearchResult
from retriever.stages.papers_without_abstract import count_incomplete, title_only_hits, title_only_note
from retriever.stages.pool import CandidatePool
from retriever.stages.stages import Ranking, Stages, computed

# (copies among the hits to show, length of the ranking that is then read)
FLOOD, MOST_READ = 5, 100
OTHER_FIGURES = "left out: {} with the same text and other figures; the record added first is the evidence"


async def present(context: SearchContext, stages: Stages) -> SearchResult:
    """Return the result: hits without duplicates, each with its paper and snippet."""
    weights, ranking = _token_weights(computed(stages.question), stages.keywords), computed(stages.ranking)
    with context.recorder.timed("total"):
        shown, title_only, filtered, likelihood = await _shown(context, stages, weights)
        later = await later_searches(context, ranking, _pool(stages).traces())
    constraints = computed(stages.question).constraints
    about, mentioning = (
        sum(hit.doc_id in papers for hit in shown) for papers in (ranking.about, ranking.mentioning)
    )
    if context.request.evidence and (forged := sum(len(hit.other_figures) for hit in shown)):
        context.recorder.note(OTHER_FIGURES.format(counted(forged, "record")))
    for note in constraints.outcome(len(shown), about, mentioning):
        context.recorder.note(note)
    if title_only:
        context.recorder.note(title_only_note(len(title_only)))
    return SearchResult(
        question=context.request.question,
        method=context.request.method,
        keywords=stages.keywords.keywords if stages.keywords else (),
        token_weights=weights,
        queries=later.traces,
        hits=shown,
        title_only=title_only,
        filtered=filtered,
        milliseconds=dict(context.recorder.milliseconds),
        applied=applied_search(context, stages),
        likelihood=likelihood,
        notes=(*context.recorder.notes, *later.notes, *context.index.engine.notes),
        version=context.index.manifest.version,
        constraints=constraints,
        concepts=stages.keywords.concepts if stages.keywords and ranking.scored is not None else (),
        bridges=later.bridges,
        unknown_words=_unknown_words(context, stages),
    )


def _unknown_words(context: SearchContext, stages: Stages) -> tuple[str, ...]:
    """Return the unknown words; none if the method has no keywords, or the engine no lexicon.

    An engine of sources has none: a word that the returned papers do not contain can be in other papers.
    """
    if stages.keywords is None or context.index.engine.lexicon is None:
        return ()
    return unknown_words(computed(stages.question), stages.keywords.concepts)


async def _shown(
    context: SearchContext, stages: Stages, weights: Mapping[str, float]
) -> tuple[tuple[Hit, ...], tuple[Hit, ...], dict[str, int], float | None]:
    """Return hits, hits by a title only, the numbers of papers left out, and the likelihood of an answer."""
    k, incomplete = context.shown, computed(stages.pool).incomplete
    kept, left_out = await _kept_hits(context, stages)
    by_title = await title_only_hits(context, incomplete, kept, without_duplicates)
    found = next(iter(computed(stages.pool).found.values()), ())
    before = count_incomplete(incomplete, found, kept[:k], k)
    filtered = {"incomplete": before - len(by_title), **left_out}
    with context.recorder.timed("order"):
        likelihood = await _likelihood(context, stages, [hit.passage_id for hit in kept[:EVIDENCE]])
    with context.recorder.timed("snippets"):
        listed = [*sorted_hits(kept[: context.sorted], context.request.sort)[:k], *by_title]
        shown = await context.index.threads.run(_with_snippets, listed, weights)
    first = len(listed) - len(by_title)
    return shown[:first], shown[first:], filtered, likelihood


def _with_snippets(hits: Sequence[Hit], weights: Mapping[str, float]) -> tuple[Hit, ...]:
    shown = []
    for rank, hit in enumerate(hits, 1):
        found = found_in(hit.passage, weights)
        marked = snippet(hit.passage, weights, found=found)
        shown.append(replace(hit, rank=rank, marked=marked, title_marks=title_spans(hit.passage, found)))
    return tuple(shown)


async def _kept_hits(context: SearchContext, stages: Stages) -> tuple[list[Hit], dict[str, int]]:
    """Return the hits without duplicates and without passages that are no evidence, and the numbers of both.

    If many are left out, more of the ranking is read: until there are enough hits to show, and enough copies
    that their originals are probably among them.
    """
    found_by, depth = _pool(stages).found_by(), context.request.k
    ranking = _with_words(computed(stages.ranking), found_by)
    while True:
        hits, abstracts = await _stored_hits(context, stages, ranking.cut(depth))
        with context.recorder.timed("duplicates"):
            fold = partial(without_duplicates, hits, abstracts, evidence=context.request.evidence)
            kept = distinct = await context.index.threads.run(fold)
        filtered = {"duplicates": len(hits) - len(distinct)}
        if context.request.evidence:
            most = max(context.sorted, EVIDENCE)
            kept, filtered["unstated"] = await context.index.threads.run(_stating, context, distinct, most)
        least = MOST_READ if _has_flood(kept[: context.shown]) else 0
        if depth >= len(ranking.hits) or (len(kept) >= context.sorted and depth >= least):
            return kept, filtered
        depth = max(2 * depth, least)


def _has_flood(hits: Sequence[Hit]) -> bool:
    return sum(len(hit.folded) + len(hit.other_figures) for hit in hits) >= FLOOD


def _stating(context: SearchContext, hits: Sequence[Hit], most: int) -> tuple[list[Hit], int]:
    """Return the first hits that state something, and the number of hits skipped before them.

    A passage that only repeats the question states nothing.
    """
    question = asked_question(context.request.question)

    def tokens_of(text: str) -> set[str]:
        return {token[0] for token in context.index.analyzer.analyze(text)}

    def states(hit: Hit) -> bool:
        title, text = hit.passage.title, hit.passage.text
        return states_something(text) and not only_repeats(title, text, question, tokens_of)

    kept: list[Hit] = []
    left_out = 0
    for hit in hits:
        if len(kept) == most:
            break
        if states(hit):
            kept.append(hit)
        else:
            left_out += 1
    return kept, left_out


async def _stored_hits(
    context: SearchContext, stages: Stages, ranking: Ranking
) -> tuple[list[Hit], dict[str, str]]:
    """Fetch the stored ranked passages and their papers, and the abstracts of papers found by others."""
    found_by = _pool(stages).found_by()
    ranked, replaced = list(ranking.hits), dict(ranking.replaced)
    with context.recorder.timed("stored"):
        found = await read_hits(context, [hit for hit, _ in ranked])
        by = attrgetter("doc_id" if context.request.collapse else "passage_id")
        scores = {by(hit): score for hit, score in ranked}
        ranked = [(hit, scores[by(hit)]) for hit in found.hits]
        replaced |= found.replaced
        stored = await context.passages.of_hits([hit for hit, _ in ranked])
        papers = await context.passages.papers(
            passage.doc_id for passage in stored.values() if not passage.record
        )
    names = list(_pool(stages).found)
    hits = []
    for hit, score in ranked:
        finders = _finders(hit.passage_id, replaced, found_by)
        passage = stored[hit.passage_id]
        paper = passage.paper or (papers[hit.doc_id].paper if hit.doc_id in papers else None)
        in_order = tuple(name for name in names if name in finders)
        hits.append(Hit(0, passage, round(score, 4), in_order, paper=paper or {}))
    return hits, {doc_id: first.text for doc_id, first in papers.items()}


def _finders(
    passage_id: str, replaced: Mapping[str, Sequence[str]], found_by: Mapping[str, Sequence[str]]
) -> set[str]:
    """Return the names of the queries that found a passage, or one that it replaced."""
    return {name for each in (passage_id, *replaced.get(passage_id, ())) for name in found_by.get(each, ())}


def _with_words(ranking: Ranking, found_by: Mapping[str, Sequence[str]]) -> Ranking:
    """Drop candidates that only feedback found and that contain no word of the question.

    A run keeps them, but they look unrelated to a reader.
    """
    if ranking.scored is None or ranking.by_vectors or ranking.reranker:
        return ranking
    founded = ranking.scored.founded
    hits = [
        (hit, score)
        for hit, score in ranking.hits
        if founded.get(hit.passage_id, True)
        or _finders(hit.passage_id, ranking.replaced, found_by) != {FEEDBACK}
    ]
    return replace(ranking, hits=tuple(hits))


def _pool(stages: Stages) -> CandidatePool:
    """Return the pool with the hits of the later searches."""
    return computed(stages.ranking).pool or computed(stages.pool)


async def _likelihood(context: SearchContext, stages: Stages, evidence: Sequence[str]) -> float | None:
    """Return the likelihood that the first hits answer; None if the method has no features."""
    if computed(stages.ranking).scored is None:
        return None
    if not evidence or stages.keywords is None:
        return 0.0
    likelihood = answer_likelihood(await answerability(context, stages, evidence))
    if likelihood > UNKNOWN_SUBJECT and await _subject_is_unknown(context, stages, evidence[0]):
        return UNKNOWN_SUBJECT
    return likelihood


async def _subject_is_unknown(context: SearchContext, stages: Stages, best: str) -> bool:
    if stages.keywords is None or not _unknown_words(context, stages):
        return False
    read = await context.index.engine.rows([best])
    return await context.index.threads.run(
        subject_is_unknown, computed(stages.question), stages.keywords.concepts, read
    )


async def answerability(
    context: SearchContext, stages: Stages, first: Sequence[str]
) -> AnswerabilityFeatures:
    """Compute the answerability features of the first passages; only candidates have features."""
    ranking = computed(stages.ranking)
    if ranking.measure is None or ranking.scored is None:
        return NOTHING
    held = [passage_id for passage_id in first if passage_id in ranking.scored]
    read = await context.index.engine.rows(held)
    return await context.index.threads.run(answerability_features, ranking.measure, read)


def _token_weights(question: AnalysedQuestion, keywords: KeywordChoice | None) -> dict[str, float]:
    """Return the searched tokens with their weights, for snippets and quotations."""
    if keywords and keywords.token_weights:
        return dict(keywords.token_weights)
    if question.expression is not None:
        return searched_tokens(question.expression)
    return {token[0]: 1.0 for token in question.tokens}


def applied_search(context: SearchContext, stages: Stages) -> AppliedSearch:
    """Return the configuration that took effect."""
    options, ranking, recorder = context.options, computed(stages.ranking), context.recorder
    method, vectors, keywords = method_named(options.method), context.index.vectors, stages.keywords
    order = method.order_by_vectors if ranking.by_vectors else method.order
    if ranking.reranker:
        order = f"{order}; the first {options.rerank_depth} by {ranking.reranker}"
    unused = ""
    if method.order_by_vectors and not ranking.by_vectors:
        unused = vectors.disabled_reason or recorder.failures.get("encoder", "")
    return AppliedSearch(
        method=options.method,
        order=order,
        title_weight=options.title_weight,
        keyword_source=None if keywords is None else "given" if keywords.given else "statistics",
        keyword_count=options.keyword_count if keywords else None,
        keyword_ranking=options.keyword_ranking if keywords and keywords.ranked else None,
        hits_per_query=options.hits_per_query if "hits_per_query" in method.uses else None,
        count_repeats=options.count_repeats if "count_repeats" in method.uses else None,
        candidates=options.candidates if "candidates" in method.uses else None,
        skip=context.request.skip,
        without=tuple(sorted(options.without)) if "without" in method.uses else None,
        vectors=vectors.model if ranking.by_vectors else "",
        vectors_unused=unused,
        reranker=ranking.reranker,
        rerank_depth=options.rerank_depth if ranking.reranker else None,
        drop_incomplete=options.drop_incomplete,
        constraints=options.constraints,
        this_year=options.this_year if options.constraints else None,
        failures=tuple(recorder.failures.values()),
    )
