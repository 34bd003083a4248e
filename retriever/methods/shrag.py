"""The tuned default: candidates of keywords, question and vector, by concepts, a second hop and cosine."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from indexer.papers import language_of
from retriever.context import SearchContext
from retriever.engines import EngineHit
from retriever.keyword_choice import KeywordChoice, choose_keywords
from retriever.methods import Method
from retriever.methods.dense import nearest_first
from retriever.names import names_in, text_with_names
from retriever.order.reading import ReadCandidates, read_candidates, with_frequencies, with_more
from retriever.order.scored import Scored, best_first, with_mean_of_title, with_other_language
from retriever.order.second_hop import Hop, find_bridges, leading_on, with_gains
from retriever.order.weights import (
    LEXICAL_WEIGHTS,
    PASSAGE_WEIGHTS,
    SEMANTIC_HOP,
    lexical_parts,
    semantic_parts,
)
from retriever.plan import NamedQuery, QueryPlan, concept_query, progressive_queries
from retriever.pool import CandidatePool, find_cosines, find_more, nearest_passages, with_vector
from retriever.query_names import BRIDGES, NEAREST, QUESTION
from retriever.question import AnalysedQuestion
from retriever.ranking import Ranking, collapsed

TITLE_WEIGHT = 0.6  # the weights of order/weights.py were found with it
POOL = 100  # candidates that the whole question brings
NEAREST_POOL = 100  # candidates that the question's vector brings


def plan(context: SearchContext, question: AnalysedQuestion, chosen: KeywordChoice | None) -> QueryPlan:
    """Ask for the whole question with its counterparts, SQ10 … SQ1, and the nearest passages."""
    options = context.options
    if question.is_empty or chosen is None:
        return QueryPlan(nearest=context.request.k)  # a question without tokens
    whole = concept_query(question, chosen.concepts, title_weight=options.title_weight or 0.0)
    queries = (
        NamedQuery(QUESTION, whole, max(POOL, context.request.k)),
        *progressive_queries(question, chosen, hits_per_query=options.hits_per_query),
    )
    return QueryPlan(queries, NEAREST_POOL if options.candidates == "both" else 0, read=1)


async def rank(
    context: SearchContext,
    question: AnalysedQuestion,
    chosen: KeywordChoice | None,
    planned: QueryPlan,
    pool: CandidatePool,
) -> Ranking:
    """Order the candidates; the other hits of the whole question follow behind them."""
    del planned
    pool = await with_vector(context, pool)
    if chosen is None or not any(pool.found.values()) or pool.found.keys() == {NEAREST}:
        return await _nearest_only(context, pool)
    read = await read_candidates(context, question, chosen, _candidates(context, pool))
    if not read.candidates and pool.vector is not None:
        return await _nearest_only(context, pool)
    scored, cosines = await _scored(context, question, pool, read)
    hop, read = await _next_hop(context, question, chosen, read, scored)
    if hop:
        for note in hop.notes():
            context.recorder.note(note)
        pool = await find_more(context, pool, hop.query(context.options.title_weight or 0.0))
        read = await with_more(context, question, chosen, read, pool.found[BRIDGES])
        scored, cosines = await _scored(context, question, pool, read)
        with context.recorder.timed("order"):
            weight = SEMANTIC_HOP if cosines else 1.0
            gains = (hop, question, scored, read.scale, read.statistics, weight)
            scored = best_first(await context.index.threads.run(with_gains, *gains))
    if not chosen.has_counterparts and "other-language" not in context.options.without:
        scored = with_other_language(scored, language_of(question.text), chosen.concepts)
    ordered = [(each.candidate.hit, each.score) for each in scored]
    ranked = [*ordered, *_behind(ordered, pool.found.get(QUESTION, ()))]
    return Ranking(
        collapsed(ranked) if context.request.collapse else tuple(ranked),
        scored={each.candidate.passage_id: each for each in scored},
        cosines=cosines,
        by_vectors=bool(cosines),
        replaced=read.replaced,
        feedback=read.feedback,
        scale=read.scale,
        hop=hop,
        pool=pool,
    )


def _candidates(context: SearchContext, pool: CandidatePool) -> list[EngineHit]:
    """Return the hits to order, each once: the whole question's first, then what else was found."""
    found = {name: hits[:POOL] for name, hits in pool.found.items()}
    if context.options.candidates == "progressive":
        found.pop(QUESTION, None)
    return list({hit.passage_id: hit for hits in found.values() for hit in hits}.values())


async def _scored(
    context: SearchContext, question: AnalysedQuestion, pool: CandidatePool, read: ReadCandidates
) -> tuple[list[Scored], Mapping[str, float]]:
    """Score candidates by features, and by cosine where there are vectors; return the best first."""
    ids = [candidate.passage_id for candidate in read.candidates]
    cosines = await find_cosines(context, pool, ids)  # all anew: the last digit depends on the batch
    of_candidates = [cosines.get(passage_id) for passage_id in ids]
    with context.recorder.timed("order"):
        if all(cosine is None for cosine in of_candidates):
            cosines = {}
        without = context.options.without
        run = context.index.threads.run
        return await run(_best_first, question, read, of_candidates, without), cosines


def _best_first(
    question: AnalysedQuestion,
    read: ReadCandidates,
    cosines: Sequence[float | None],
    without: AbstractSet[str],
) -> list[Scored]:
    """Weigh features and cosines, but for the parts that are left out."""
    if any(cosine is not None for cosine in cosines):
        parts = semantic_parts(read.features, cosines)
    else:
        weights = PASSAGE_WEIGHTS if question.is_passage else LEXICAL_WEIGHTS
        parts = [lexical_parts(row, weights) for row in read.features]
    parts = [{name: part for name, part in of.items() if name not in without} for of in parts]
    scored = list(map(Scored, read.candidates, read.features, parts))
    return best_first(scored if "same-title" in without else with_mean_of_title(scored))


async def _next_hop(
    context: SearchContext,
    question: AnalysedQuestion,
    chosen: KeywordChoice,
    read: ReadCandidates,
    scored: Sequence[Scored],
) -> tuple[Hop | None, ReadCandidates]:
    """Return what a second search would go by, if the question asks for one."""
    leading = leading_on(question, chosen.concepts, scored)
    if not leading or "second-hop" in context.options.without or BRIDGES in context.request.skip:
        return None, read
    stored = await context.passages.of_hits([source.candidate.hit for source, _ in leading])
    texts = [text_with_names(passage.title, passage.text) for passage in stored.values()]
    with context.recorder.timed("order"):
        analyzer = context.index.analyzer
        named = await context.index.threads.run(
            lambda: [names_in(text, analyzer.tagged_tokens(text)) for text in texts]
        )
    tokens = sorted({token for names in named for name in names for token in name})
    read = await with_frequencies(context, read, tokens)
    run = context.index.threads.run
    return await run(find_bridges, question, scored, leading, named, read.statistics), read


async def _nearest_only(context: SearchContext, pool: CandidatePool) -> Ranking:
    """Rank the nearest passages, if the question has a vector, where no query found anything.

    None is a candidate that was scored by words, so that nothing speaks for an answer.
    """
    if pool.vector is None or NEAREST in context.request.skip:
        return Ranking(scored={})
    if not pool.found.get(NEAREST):
        pool = pool.with_nearest(await nearest_passages(context, pool.vector, context.request.k))
    return replace(nearest_first(context, pool), scored={}, pool=pool)


def _behind(
    ordered: Sequence[tuple[EngineHit, float]], by_question: Sequence[EngineHit]
) -> list[tuple[EngineHit, float]]:
    """Return the hits of the whole question that are no candidates, scored below them in their order."""
    taken = {hit.passage_id for hit, _ in ordered}
    rest = [hit for hit in by_question if hit.passage_id not in taken]
    last = ordered[-1][1] if ordered else 1.0
    top = (rest[0].score if rest else 0.0) or 1.0  # a word that all passages hold scores 0
    return [(hit, last * 0.999 * hit.score / top) for hit in rest]


METHOD = Method(
    keywords=choose_keywords,
    plan=plan,
    rank=rank,
    order="BM25 by concepts, feedback and a second hop over the candidates of the progressive queries",
    order_by_vectors="cosine and BM25 by concepts of the candidates of queries and vectors",
    title_weight=lambda _: TITLE_WEIGHT,
    uses=frozenset({"hits_per_query", "candidates", "without", "constraints"}),
    reranks=True,
    later=(NEAREST, BRIDGES),
)
