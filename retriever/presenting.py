"""The hits that a search shows: duplicates left out, with their papers and snippets, and what took effect."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import attrgetter

from indexer.schema import StoredPassage
from retriever.abstracts import prefer_abstracts
from retriever.confidence import EVIDENCE, AnswerabilityFeatures, answerability_features, evidence_score
from retriever.context import SearchContext
from retriever.duplicates import without_duplicates
from retriever.highlights import snippet, title_spans
from retriever.hits import AppliedSearch, Hit, SearchResult
from retriever.keyword_choice import KeywordChoice
from retriever.methods import method_named
from retriever.pool import CandidatePool
from retriever.queries import searched_tokens
from retriever.question import AnalysedQuestion
from retriever.stages import Stages, computed
from retriever.term_statistics import inverse_document_frequency


async def present(context: SearchContext, stages: Stages) -> SearchResult:
    """Make the hits that are shown: duplicates left out and counted, each with its paper and snippet."""
    weights, ranking = _token_weights(computed(stages.question), stages.keywords), computed(stages.ranking)
    with context.recorder.timed("total"):
        shown, filtered, likelihood = await _shown(context, stages, weights)
    return SearchResult(
        question=context.request.question,
        method=context.request.method,
        keywords=stages.keywords.keywords if stages.keywords else (),
        token_weights=weights,
        queries=_pool(stages).traces,
        hits=shown,
        filtered=filtered,
        milliseconds=dict(context.recorder.milliseconds),
        applied=applied_search(context, stages),
        evidence_score=likelihood,
        notes=(*context.recorder.notes, *context.index.engine.notes),
        version=context.index.manifest.version,
        constraints=computed(stages.question).constraints,
        concepts=stages.keywords.concepts if stages.keywords and ranking.scored is not None else (),
        bridges=ranking.hop.bridges if ranking.hop else (),
    )


async def _shown(
    context: SearchContext, stages: Stages, weights: Mapping[str, float]
) -> tuple[tuple[Hit, ...], dict[str, int], float | None]:
    """Return the hits to show, how many were left out and why, and the likelihood that they answer."""
    k = context.shown
    hits, incomplete = await _stored_hits(context, stages), computed(stages.pool).incomplete
    kept = without_duplicates(hits)
    filtered = {
        "incomplete": _ranked_before(incomplete, stages, kept[:k]) if len(kept) >= k else len(incomplete),
        "duplicates": len(hits) - len(kept),
    }
    with context.recorder.timed("order"):
        first = kept[:EVIDENCE]
        likelihood = await context.index.threads.run(_likelihood, context, stages, first)
    with context.recorder.timed("snippets"):
        shown = await context.index.threads.run(_with_snippets, kept[:k], weights)
    return shown, filtered, likelihood


def _with_snippets(hits: Sequence[Hit], weights: Mapping[str, float]) -> tuple[Hit, ...]:
    return tuple(
        replace(
            hit,
            rank=rank,
            marked=snippet(hit.passage, weights),
            title_marks=title_spans(hit.passage, weights),
        )
        for rank, hit in enumerate(hits, 1)
    )


async def _stored_hits(context: SearchContext, stages: Stages) -> list[Hit]:
    """Fetch what is stored of the ranked passages and their papers."""
    ranking = computed(stages.ranking).cut(context.request.k)
    found_by = _pool(stages).found_by()
    ranked, replaced = list(ranking.hits), dict(ranking.replaced)
    with context.recorder.timed("stored"):
        shown, newly_replaced = await prefer_abstracts(context, [hit for hit, _ in ranked])
        by = attrgetter("doc_id" if context.request.collapse else "passage_id")
        scores = {by(hit): score for hit, score in ranked}
        ranked = [(hit, scores[by(hit)]) for hit in shown]
        replaced |= newly_replaced
        stored = await context.passages.of_hits([hit for hit, _ in ranked])
        papers = await context.passages.papers(
            passage.doc_id for passage in stored.values() if not passage.record
        )
    names = list(_pool(stages).found)
    hits = []
    for hit, score in ranked:
        finders = {
            name
            for passage_id in (hit.passage_id, *replaced.get(hit.passage_id, ()))
            for name in found_by.get(passage_id, ())
        }
        passage = stored[hit.passage_id]
        paper = passage.paper or (papers[hit.doc_id].paper if hit.doc_id in papers else None)
        in_order = tuple(name for name in names if name in finders)
        hits.append(Hit(0, passage, round(score, 4), in_order, paper=paper or {}))
    return hits


def _pool(stages: Stages) -> CandidatePool:
    """Return all that was found, by a second search too."""
    return computed(stages.ranking).pool or computed(stages.pool)


def _ranked_before(incomplete: Mapping[str, float], stages: Stages, shown: Sequence[Hit]) -> int:
    """Count incomplete papers that score at least as much as the last hit that is shown."""
    found = next(iter(computed(stages.pool).found.values()), ())
    scores = {hit.doc_id: hit.score for hit in found}
    least = min((scores.get(hit.doc_id, 0.0) for hit in shown), default=0.0)
    return sum(score >= least for score in incomplete.values())


def _likelihood(context: SearchContext, stages: Stages, evidence: Sequence[Hit]) -> float | None:
    """Return the likelihood that the first hits answer; None where the method has no features."""
    if computed(stages.ranking).scored is None:
        return None
    if not evidence or stages.keywords is None:
        return 0.0
    return evidence_score(answerability(context, stages, [hit.passage for hit in evidence]))


def answerability(
    context: SearchContext, stages: Stages, first: Sequence[StoredPassage]
) -> AnswerabilityFeatures:
    """Compute the answerability features of the first passages; only candidates have features."""
    scored = computed(stages.ranking).scored or {}
    held = [scored[passage.passage_id] for passage in first if passage.passage_id in scored]
    concepts = stages.keywords.concepts if stages.keywords else ()
    unseen = inverse_document_frequency(0, context.index.engine.passage_count)
    return answerability_features(held, computed(stages.question), concepts, unseen)


def _token_weights(question: AnalysedQuestion, keywords: KeywordChoice | None) -> dict[str, float]:
    """Return the tokens that were searched for with their weights, for snippets and quotations."""
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
