"""The way from a question to its hits, by a method of ranking, with a trace of how they came about."""

import time
from collections.abc import Sequence
from dataclasses import replace

from retriever.candidates import candidate_table, signs_of, with_text
from retriever.confidence import Signs, evidence_score
from retriever.duplicates import without_duplicates
from retriever.engines import EngineHit
from retriever.errors import BadFilter, BadQuestion
from retriever.features import Features
from retriever.highlights import snippet
from retriever.hits import Hit, SearchResult
from retriever.index import SearchIndex
from retriever.methods import BY_NAME, METHODS, expression_of
from retriever.queries import Query
from retriever.question import (
    PER_QUERY,
    find_keywords,
    find_spellings,
    keyword_query,
    own_words,
    plain_or,
    question_terms,
)
from retriever.rereading import reread
from retriever.settings import RetrieverSettings
from retriever.state import Ranked, SearchRequest, SearchState

__all__ = [
    "METHODS",
    "SearchRequest",
    "cosine_table",
    "feature_table",
    "prepare_query",
    "question_signs",
    "rank",
    "search",
]

LONGEST_QUESTION = 20_000
EVIDENCE = 5  # passages that an answer rests on (SHRAG, section 3.5)


async def rank(
    index: SearchIndex, request: SearchRequest, settings: RetrieverSettings | None = None
) -> list[tuple[str, float]]:
    """Return the run for one question: at most k (id, score), passage_ids or with `collapse` doc_ids.

    Nothing is left out as a duplicate or as incomplete: a run holds what was judged.
    """
    _, ranked = await _ranked(index, request, settings)
    return [(hit.doc_id if request.collapse else hit.passage_id, score) for hit, score in ranked]


async def search(
    index: SearchIndex, request: SearchRequest, settings: RetrieverSettings | None = None
) -> SearchResult:
    """Search, and return hits with the trace of how they came about.

    Raises:
        RetrieverError: a question, expression, method or filter that cannot be used.
    """
    started = time.perf_counter()
    settings = settings or RetrieverSettings()
    # Some of the best may be duplicates or incomplete: look a little deeper than k.
    deeper = replace(request, k=request.k + PER_QUERY)
    state, ranked = await _ranked(index, deeper, settings)
    hits = await _stored_hits(state, ranked)
    kept, filtered = _filtered(hits, drop_incomplete=settings.drop_incomplete)
    if filtered["incomplete"] and len(kept) < request.k:
        # Incomplete papers have taken the places: ask again without them.
        complete = replace(deeper, filters=replace(request.filters, complete_only=True))
        state, ranked = await _ranked(index, complete, settings)
        kept, others = _filtered(await _stored_hits(state, ranked), drop_incomplete=True)
        filtered["duplicates"] = others["duplicates"]
    with state.timed("order"):
        likelihood = await _evidence_score(state, kept[:EVIDENCE])
    with state.timed("snippets"):
        weights = state.token_weights or {token[0]: 1.0 for token in state.tokens}
        shown = tuple(
            replace(hit, rank=position, snippet=snippet(hit.passage, weights))
            for position, hit in enumerate(kept[: request.k], 1)
        )
    state.milliseconds["total"] = (time.perf_counter() - started) * 1000
    return SearchResult(
        question=request.question,
        method=request.method,
        keywords=tuple(state.keywords),
        token_weights=weights,
        queries=tuple(state.queries),
        hits=shown,
        filtered=filtered,
        milliseconds=state.milliseconds,
        order=BY_NAME[request.method].told(state),
        evidence_score=likelihood,
        notes=tuple(state.notes),
    )


async def _evidence_score(state: SearchState, evidence: Sequence[Hit]) -> float | None:
    """Return how likely the evidence answers, as its features tell; None where the method has none."""
    if state.features is None:
        return None
    return evidence_score(await signs_of(state, [hit.passage_id for hit in evidence])) if evidence else 0.0


async def _stored_hits(state: SearchState, ranked: Ranked) -> list[Hit]:
    """Fetch what is stored of ranked passages and their papers."""
    engine = state.index.engine
    with state.timed("stored"):
        if state.request.collapse:
            scores = {hit.doc_id: score for hit, score in ranked}
            ranked = [(hit, scores[hit.doc_id]) for hit in await with_text(state, [hit for hit, _ in ranked])]
        stored = await state.passages(hit.passage_id for hit, _ in ranked)
        papers = {one.doc_id: one for one in stored.values() if one.paper is not None}
        missing = [one.doc_id for one in stored.values() if one.doc_id not in papers]
        papers |= await engine.papers(missing)
    return [
        Hit(
            rank=0,
            passage=stored[hit.passage_id],
            score=round(score, 4),
            found_by=tuple(dict.fromkeys(sorted(state.found_by.get(hit.passage_id, ()), reverse=True))),
            paper=(papers[hit.doc_id].paper or {}) if hit.doc_id in papers else {},
        )
        for hit, score in ranked
    ]


def _filtered(hits: Sequence[Hit], *, drop_incomplete: bool) -> tuple[list[Hit], dict[str, int]]:
    """Leave out incomplete papers and duplicates of better hits (SHRAG, section 3.3); count both."""
    complete = [hit for hit in hits if not (drop_incomplete and hit.passage.incomplete)]
    kept = without_duplicates(complete)
    return kept, {"incomplete": len(hits) - len(complete), "duplicates": len(complete) - len(kept)}


async def _ranked(
    index: SearchIndex, request: SearchRequest, settings: RetrieverSettings | None
) -> tuple[SearchState, Ranked]:
    state = _begun(index, request, settings)
    ranked = await reread(state, await BY_NAME[request.method].rank(state))
    return state, ranked[: request.k]


def _begun(index: SearchIndex, request: SearchRequest, settings: RetrieverSettings | None) -> SearchState:
    """Begin a search, for every public way in: BadQuestion or BadFilter where it cannot be used."""
    _check(request)
    return SearchState(index, request, settings or RetrieverSettings())


def _check(request: SearchRequest) -> None:
    if request.method not in BY_NAME:
        raise BadFilter(f"no method {request.method!r}; there are {', '.join(METHODS)}")
    question = request.question
    if len(question) > LONGEST_QUESTION:
        raise BadQuestion(
            f"the question has {len(question):,} characters, {LONGEST_QUESTION:,} are allowed; shorten it"
        )
    if not question.strip():
        raise BadQuestion("the question is empty")
    try:
        question.encode("utf-8")
    except UnicodeEncodeError as error:
        raise BadQuestion(f"the question holds a lone surrogate at character {error.start}") from None


async def prepare_query(
    index: SearchIndex, request: SearchRequest, settings: RetrieverSettings | None = None
) -> Query | None:
    """Return the one query whose BM25 stands behind a method's order.

    Of the whole question, SQ10 for `paper`, the expression for `boolean`; None where nothing is left to
    search for.
    """
    state = _begun(index, request, settings)
    if request.method == "boolean":
        return expression_of(state)
    terms = await question_terms(state)
    if request.method == "paper":
        await find_keywords(state)
        return keyword_query(state, len(state.keywords)) if state.keywords else None
    if request.method == "shrag":
        state.spellings = await find_spellings(state)
        return own_words(state, terms) if terms else None
    return plain_or(state, terms) if terms else None


async def feature_table(
    index: SearchIndex, request: SearchRequest, settings: RetrieverSettings | None = None
) -> list[tuple[EngineHit, Features]]:
    """Return the candidates of a question with their features, as the lexical order sees them."""
    table, _ = await candidate_table(_begun(index, request, settings))
    return table


async def cosine_table(
    index: SearchIndex, request: SearchRequest, settings: RetrieverSettings | None = None
) -> list[tuple[EngineHit, Features, float | None]]:
    """Return the candidates with features and cosine, as the order by both sees them."""
    state = _begun(index, request, settings)
    table, _ = await candidate_table(state)
    await state.find_cosines([hit.passage_id for hit, _ in table])
    return [(hit, row, state.cosines.get(hit.passage_id)) for hit, row in table]


async def question_signs(
    index: SearchIndex, request: SearchRequest, settings: RetrieverSettings | None = None
) -> Signs:
    """Return what speaks for an answer among the first passages for a question (method `shrag`)."""
    state = _begun(index, request, settings)
    ranked = await BY_NAME["shrag"].rank(state)
    return await signs_of(state, [hit.passage_id for hit, _ in ranked[:EVIDENCE]])
