"""Explanation of a passage's rank: BM25 term by term, and all parts of its score in method `shrag`."""

from collections.abc import Container, Iterable, Mapping
from dataclasses import replace
from itertools import islice
from unicodedata import normalize

from retriever.constraints.parsing import Constraints
from retriever.engines import EngineHit, Explanation, NumberedRows
from retriever.explaining.accounts import Account, ConceptAccount, ConstraintAccount, FeedbackTerm, HeldBridge
from retriever.index import OpenIndex, SearchIndex
from retriever.keywords.choice import KeywordChoice
from retriever.order.bridges import Bridge
from retriever.order.candidate_features import Measure, question_places
from retriever.order.features import scores_by_concept
from retriever.order.patterns import TokenPlaces
from retriever.papers.page import stored_passage
from retriever.queries.boolean import Query
from retriever.query_plan import question_query
from retriever.question.analysis import AnalysedQuestion
from retriever.search import SearchRequest, Stages, open_search, present, run_stages
from retriever.searching.penalties import Penalty, penalty_of
from retriever.settings import RetrieverSettings
from retriever.stages.stages import Ranking, computed

DEPTH = 100
FEEDBACK_SHOWN = 10


async def explain(
    index: OpenIndex, request: SearchRequest, passage_id: str, settings: RetrieverSettings
) -> Account:
    """Explain the rank of one passage's paper among the first hundred, as `search` gives it.

    Raises:
        UnknownPassage: no passage of that id in the index.
    """
    passage_id = normalize("NFC", passage_id)  # as ids are
    return await index.ask(lambda version: _explain(version, request, passage_id, settings))


async def _explain(
    index: SearchIndex, request: SearchRequest, passage_id: str, settings: RetrieverSettings
) -> Account:
    stored = await stored_passage(index, passage_id)
    context = open_search(index, replace(request, k=DEPTH), settings)
    stages = await run_stages(context)
    result = await present(context, stages)
    rank, shown = next(
        ((hit.rank, hit.passage_id) for hit in result.hits if hit.doc_id == stored.doc_id), (None, "")
    )
    ranking, question = stages.ranking or Ranking(), stages.question or AnalysedQuestion(request.question)
    query = main_query(stages, title_weight=settings.title_weight)
    explanation = await index.engine.explain(query, passage_id) if query else Explanation(passage_id, 0.0, ())
    account = Account(
        passage_id,
        stored.title,
        request.method,
        rank,
        shown,
        DEPTH,
        explanation,
        sent=bool(stages.plan and stages.plan.queries),
        reranker=ranking.reranker,
        cosine=ranking.cosines.get(passage_id) if ranking.by_vectors else None,
    )
    hit = EngineHit(passage_id, stored.doc_id, 0.0)
    penalty = await penalty_of(context, question.constraints, hit) if question.constraints else None
    account = _with_score(account, ranking, penalty)
    if penalty:
        account = replace(account, constraints=_constraints(question.constraints, penalty))
    if ranking.measure is None or stages.keywords is None:
        return account
    read = await index.engine.rows([passage_id])
    return await index.threads.run(_with_parts, account, read, stages.keywords, ranking, result.bridges)


def _with_score(account: Account, ranking: Ranking, penalty: Penalty | None) -> Account:
    """Add the passage's score, its parts, and the penalties of constraints."""
    passage_id = account.passage_id
    scored = ranking.scored if ranking.scored and passage_id in ranking.scored else None
    parts = scored.parts_of(passage_id) if scored else {}
    shown = {hit.passage_id: score for hit, score in ranking.hits}
    if passage_id in shown:
        score: float | None = shown[passage_id]
        lost = ranking.losses.get(passage_id, 0.0)
        if ranking.reranker and scored:  # the difference to the cross-encoder's score
            parts["read again"] = shown[passage_id] + lost - scored.score_of(passage_id), 1.0
    else:  # another passage of its paper ranks higher
        score = scored.score_of(passage_id) if scored else None
        lost = (1 - penalty.kept) * abs(score) if penalty and score else 0.0
        score = score - lost if score is not None else None
    if lost:
        if score is not None and not scored:
            parts[_only_part(ranking)] = score + lost, 1.0
        parts["constraints"] = lost, -1.0
    return replace(account, order_score=score, features=parts)


def _only_part(ranking: Ranking) -> str:
    """Return the name of the score of a hit without features: no candidate, or a method without features."""
    if ranking.reranker:
        return "read again"
    return "cosine" if ranking.by_vectors and not ranking.scored else "first query"


def _constraints(constraints: Constraints, penalty: Penalty) -> tuple[ConstraintAccount, ...]:
    excluded = [
        ConstraintAccount(f"excluded: {exclusion.text}", share)
        for exclusion, share in zip(constraints.exclusions, penalty.shares, strict=True)
    ]
    year = penalty.year
    return (
        *excluded,
        *(
            ConstraintAccount(f"years: {asked.text}", float(year is not None and not asked.holds(year)))
            for asked in constraints.years
        ),
    )


def _with_parts(
    account: Account,
    read: NumberedRows,
    chosen: KeywordChoice,
    ranking: Ranking,
    bridges: Iterable[Bridge],
) -> Account:
    """Add the details of the parts of the score; hypothetical ones if the passage is no candidate."""
    measure, second = computed(ranking.measure), ranking.second
    question = measure.question
    named = {token for bridge in second.bridges for token in bridge.tokens} if second else set()
    others = [*measure.feedback.strengths, *named]
    places = question_places(question, measure.concepts, read, others)
    held = {token for token, column in places.column.items() if places.texts[0, column]}
    texts = {token: term.text for term in question.terms for token in term.tokens}
    account = replace(
        account,
        concepts=_concepts(account, measure, places),
        spellings=chosen.spellings,
        names=tuple(" ".join(texts[token] for token in name) for name in question.names),
    )
    if "feedback" in account.features:
        account = replace(account, feedback=_feedback(measure.feedback.strengths, held))
    if second is None:
        return account
    found = (HeldBridge(bridge.text, bridge.passage_id, held.issuperset(bridge.tokens)) for bridge in bridges)
    return replace(account, bridges=tuple(found), uncovered=second.uncovered)


def _concepts(account: Account, measure: Measure, places: TokenPlaces) -> tuple[ConceptAccount, ...]:
    found = scores_by_concept(measure.concepts, places, measure.scale, measure.statistics)
    total = sum(each.score for each in found)
    value, weight = account.features.get("base", (0.0, 0.0))
    share = value * weight / total if total else 0.0  # of the score, for each point of BM25
    return tuple(ConceptAccount(each, each.score * share) for each in found)


def _feedback(terms: Mapping[str, float], held: Container[str]) -> tuple[FeedbackTerm, ...]:
    """Return the strongest terms, strongest first."""
    total = sum(terms.values()) or 1.0
    return tuple(
        FeedbackTerm(term, weight / total, term in held)
        for term, weight in islice(terms.items(), FEEDBACK_SHOWN)
    )


def main_query(stages: Stages, *, title_weight: float) -> Query | None:
    """Return the query whose BM25 is explained: the first of the plan.

    If the plan has none (method dense), it is the whole question; None if there is nothing to search for.
    """
    if stages.plan and stages.plan.queries:
        return stages.plan.queries[0].query
    if stages.question is None or stages.question.is_empty:
        return None
    return question_query(stages.question, title_weight=title_weight)
