"""The methods of ranking, by name: each a function from a search to its ranked passages."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from retriever.candidates import candidate_table
from retriever.engines import EngineHit
from retriever.errors import BadFilter
from retriever.expert import parse_expression
from retriever.fusion import reciprocal_rank_fusion
from retriever.queries import Query, searched_tokens
from retriever.question import (
    NOTHING_TO_SEARCH,
    find_keywords,
    plain_or,
    progressive_queries,
    question_terms,
)
from retriever.reranker import cosine_order, lexical_order, semantic_order
from retriever.state import Ranked, SearchState


@dataclass(frozen=True, slots=True)
class Method:
    """A way of ranking, and how it is told."""

    rank: Callable[[SearchState], Awaitable[Ranked]]
    order: str
    order_by_vectors: str = ""  # where the question and the passages have vectors

    def told(self, state: SearchState) -> str:
        """Say in words how the hits of a search were ordered."""
        order = self.order_by_vectors if state.by_vectors else self.order
        if state.reranked_by:
            return f"{order}; the first {state.settings.rerank_depth} by {state.reranked_by}"
        return order


async def _by_or(state: SearchState) -> Ranked:
    with state.timed("keywords"):
        terms = await question_terms(state)
    if not terms:
        return []
    (hits,) = await state.ask_engine([(len(terms), plain_or(state, terms), state.request.k)])
    return [(hit, hit.score) for hit in hits]


async def _by_expression(state: SearchState) -> Ranked:
    with state.timed("keywords"):
        query = expression_of(state)
    if query is None:
        state.notes.append(NOTHING_TO_SEARCH)
        return []
    state.token_weights = searched_tokens(query)
    (hits,) = await state.ask_engine([(1, query, state.request.k)])
    return [(hit, hit.score) for hit in hits]


def expression_of(state: SearchState) -> Query | None:
    """Read the expression; its words stand for their synonyms too."""
    query = parse_expression(state.request.question, state.index.analyzer)
    return query and state.index.synonyms.expanded(query)


async def _by_paper(state: SearchState) -> Ranked:
    """Rank as the paper says: ten papers a query, the union, by cosine or, without vectors, rank fusion."""
    with state.timed("keywords"):
        await question_terms(state)
        await find_keywords(state)
    if not state.keywords:
        return []
    found = await state.ask_engine(progressive_queries(state))
    with state.timed("order"):
        hits = {hit.passage_id: hit for ranking in reversed(found) for hit in ranking}
        fused = reciprocal_rank_fusion([[hit.passage_id for hit in ranking] for ranking in found])
    await state.find_cosines(list(hits))
    with state.timed("order"):
        state.by_vectors = bool(state.cosines)
        ordered = cosine_order(fused, state.cosines) if state.by_vectors else fused
        return _first_of_each([(hits[one.item], one.score) for one in ordered], state)


async def _by_features(state: SearchState) -> Ranked:
    """Rank as tuned: the candidates of keywords, question and vector, by lexical features and cosine."""
    table, by_question = await candidate_table(state)
    state.features = {hit.passage_id: row for hit, row in table}
    if not table and await state.find_vector() is not None:
        return await _nearest(state)  # a question of no word that the analysis keeps
    await state.find_cosines([hit.passage_id for hit, _ in table])
    with state.timed("order"):
        rows = [row for _, row in table]
        cosines = [state.cosines.get(hit.passage_id) for hit, _ in table]
        state.by_vectors = any(one is not None for one in cosines)
        places = semantic_order(rows, cosines) if state.by_vectors else lexical_order(rows)
        ordered = [(table[place][0], score) for place, score in places]
    taken = {hit.passage_id for hit, _ in ordered}
    rest = [hit for hit in by_question if hit.passage_id not in taken]
    last = ordered[-1][1] if ordered else 1.0
    top = rest[0].score if rest else 1.0
    filled = [(hit, last * 0.999 * hit.score / top) for hit in rest]
    return _first_of_each(ordered + filled, state)


def _why_none(state: SearchState) -> str:
    name = state.index.manifest.name
    return "; ".join(state.notes) or (
        f"index {name!r} has none; set SHRAG_ENCODER__PROVIDER and give it some: shrag index --vectors-only "
        f"--name {name}"
    )


async def _by_vector(state: SearchState) -> Ranked:
    """Rank all passages by cosine alone."""
    vector = await state.find_vector()
    if vector is None:
        if state.vector_failure:
            raise state.vector_failure
        raise BadFilter(f"--method dense needs vectors: {_why_none(state)}")
    await question_terms(state)  # for the snippets
    return await _nearest(state)


async def _nearest(state: SearchState) -> Ranked:
    state.by_vectors = True
    return _first_of_each([(hit, hit.score) for hit in await state.nearest(state.request.k)], state)


def _first_of_each(ranked: Ranked, state: SearchState) -> Ranked:
    """Keep a paper's first hit where papers are asked for."""
    if not state.request.collapse:
        return ranked
    best: dict[str, tuple[EngineHit, float]] = {}
    for hit, score in ranked:
        best.setdefault(hit.doc_id, (hit, score))
    return list(best.values())


BY_NAME: dict[str, Method] = {
    "or": Method(_by_or, "BM25 of one OR query over the question's words"),
    "paper": Method(
        _by_paper,
        "reciprocal rank fusion of the progressive queries",
        "cosine of the question's and the passages' vectors, of the progressive queries' union",
    ),
    "shrag": Method(
        _by_features,
        "weighted lexical features of the progressive queries' candidates",
        "weighted lexical features and cosine of the candidates of queries and vectors",
    ),
    "boolean": Method(_by_expression, "BM25 of the expression's words"),
    "dense": Method(_by_vector, "cosine of the question's and the passages' vectors"),
}
METHODS = tuple(BY_NAME)
