"""Candidates of the tuned order: found by one call to the engine, with features and signs of an answer."""

from collections.abc import Sequence
from dataclasses import replace

from indexer.schema import StoredPassage
from retriever.confidence import Signs, signs
from retriever.engines import EngineHit
from retriever.features import Candidate, Features, features, feedback_tokens
from retriever.index import SearchIndex
from retriever.keywords import inverse_document_frequency
from retriever.queries import Or, Term
from retriever.question import (
    find_keywords,
    idf_of,
    other_words,
    own_words,
    progressive_queries,
    question_terms,
)
from retriever.state import SearchState

POOL = 100  # candidates that the whole question brings to the lexical order
DENSE_POOL = 100  # candidates that the question's vector brings
OTHER_POOL = 30  # candidates that the question's words in the other language bring
WHOLE_QUESTION = OTHER_LANGUAGE = 0  # in `found_by`, beside the n of SQn


async def candidate_table(
    state: SearchState,
) -> tuple[list[tuple[EngineHit, Features]], list[EngineHit]]:
    """Ask the engine once; return the candidates with features, and all hits of the whole question."""
    with state.timed("keywords"):
        terms = await question_terms(state)
        state.concepts = await find_keywords(state)
    if not terms:
        return [], []
    asked = [(WHOLE_QUESTION, own_words(state, terms), max(POOL, state.request.k))]
    if other := other_words(state):
        asked.append((OTHER_LANGUAGE, other, OTHER_POOL))
    found = await state.ask_engine([*asked, *progressive_queries(state)])
    by_question = found[0]
    attainable = await _attainable(state, [query for _, query, _ in asked])
    # The other language's words stand for a part of the question only.
    share = _translated_share(state)
    pool: dict[str, EngineHit] = {}
    for hits, reach, part in zip(found[: len(asked)], attainable, (1.0, share)[: len(asked)], strict=True):
        for hit in hits[:POOL]:
            scaled = replace(hit, score=part * hit.score / reach)
            known = pool.get(hit.passage_id, scaled)
            pool[hit.passage_id] = max(known, scaled, key=lambda one: one.score)
    # What only a short query found lies below the whole question's last.
    floor = min((hit.score for hit in pool.values()), default=0.0)
    for hit in (hit for hits in found[len(asked) :] for hit in hits):
        pool.setdefault(hit.passage_id, replace(hit, score=floor))
    if state.settings.candidates == "progressive":
        union = {hit.passage_id for hits in found[len(asked) :] for hit in hits}
        pool = {passage_id: hit for passage_id, hit in pool.items() if passage_id in union}
    elif state.settings.candidates == "both" and await state.find_vector() is not None:
        for hit in await state.nearest(DENSE_POOL):
            pool.setdefault(hit.passage_id, replace(hit, score=floor))
    ordered = sorted(pool.values(), key=lambda hit: (-hit.score, hit.passage_id))
    if state.request.collapse:
        ordered = await with_text(state, ordered)
    with state.timed("order"):
        rows = await _features(state, ordered)
    return list(zip(ordered, rows, strict=True)), by_question


async def with_text(state: SearchState, hits: Sequence[EngineHit]) -> list[EngineHit]:
    """Let a paper that was found by its title in the other language alone stand by its abstract."""
    engine = state.index.engine
    stored = await state.passages(hit.passage_id for hit in hits)
    bare = {hit.doc_id for hit in hits if not stored[hit.passage_id].text}
    papers = {
        doc_id: one.passage_id
        for doc_id, one in (await engine.papers(bare)).items()
        if one.text and _allowed(one, state)
    }
    best: dict[str, EngineHit] = {}
    for hit in hits:
        if not stored[hit.passage_id].text and hit.doc_id in papers:
            abstract = papers[hit.doc_id]
            state.found_by.setdefault(abstract, []).extend(state.found_by.get(hit.passage_id, ()))
            hit = replace(hit, passage_id=abstract)  # noqa: PLW2901
        best.setdefault(hit.passage_id, hit)
    return list(best.values())


def _allowed(passage: StoredPassage, state: SearchState) -> bool:
    filters = state.request.filters
    return (
        passage.passage_id not in filters.without
        and filters.lang in {None, passage.lang}
        and (not filters.parts or passage.part in filters.parts)
    )


async def signs_of(state: SearchState, first: Sequence[str]) -> Signs:
    """Read off the first passages, best first, what speaks for an answer; only candidates have features."""
    rows = {one: state.features[one] for one in first if one in state.features} if state.features else {}
    stored = await state.passages(rows)
    held = [(row, frozenset(_candidate(state.index, stored[one], 0.0).words())) for one, row in rows.items()]
    return signs(held, state.concepts, inverse_document_frequency(0, state.index.engine.passage_count))


def _translated_share(state: SearchState) -> float:
    """Return how much of the question's weight has counterparts; all of it where a model gave keywords."""
    if state.request.keywords:
        return 1.0
    sources = {token for one in state.counterparts for token in one.source}
    total = sum(concept.weight for concept in state.concepts)
    translated = sum(concept.weight for concept in state.concepts if concept.tokens.keys() & sources)
    return translated / total if total else 0.0


async def _attainable(state: SearchState, queries: Sequence[Or]) -> list[float]:
    """Return for each query the sum of its tokens' idf; BM25 gives a text at most 2.2 times that."""
    sets = [
        {token for clause in query.clauses if isinstance(clause, Term) for token in clause.tokens}
        for query in queries
    ]
    idf = await idf_of(state, sorted(set().union(*sets)))
    return [sum(idf.get(token, 0.0) for token in tokens) or 1.0 for tokens in sets]


async def _features(state: SearchState, pool: Sequence[EngineHit]) -> list[Features]:
    index = state.index
    stored = await state.passages(hit.passage_id for hit in pool)
    candidates = [_candidate(index, stored[hit.passage_id], hit.score) for hit in pool]
    rarity = await idf_of(state, sorted(feedback_tokens(candidates)), least=2)
    return features(state.tokens, state.concepts, candidates, rarity)


def _candidate(index: SearchIndex, passage: StoredPassage, score: float) -> Candidate:
    """Make a candidate of a passage; its paper's title in the other language counts with its own."""
    tokens = index.tokens_of(passage)
    title = f"{passage.title} {passage.title2}" if passage.title2 else passage.title
    return Candidate(passage.passage_id, title, tokens, score)
