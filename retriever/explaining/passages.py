"""Explanation of a passage's rank: the parts of its score, which add up, and the tokens behind them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated
from unicodedata import normalize

from pydantic import Field

from base.records import INTERNAL, Recordable
from indexer.corpora.papers import Language
from retriever.engines import NumberedRows, TermScore
from retriever.engines.explaining import in_order
from retriever.formula import TokenPlaces, bm25
from retriever.index import OpenIndex, SearchIndex
from retriever.papers.page import stored_passage
from retriever.queries.boolean import Query
from retriever.query_plan import question_query
from retriever.ranking import COSINE_WEIGHT
from retriever.search import SearchRequest, Stages, open_search, present, run_stages
from retriever.settings import RetrieverSettings
from retriever.stages.stages import Ranking, computed
from retriever.terms import SearchTerms

DEPTH = 100  # papers searched for the rank


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a score: value × weight."""

    value: float
    weight: float
    contribution: float


@dataclass(frozen=True, slots=True)
class Account(Recordable):
    """The parts of a passage's rank; the contributions of `features` add up to `order_score`."""

    passage_id: str
    title: Annotated[str, INTERNAL]
    method: str
    rank: Annotated[int | None, Field(description="of its paper; null if the paper is not among the hits")]
    shown: Annotated[str, Field(description="the passage that represents the paper")]
    order_score: Annotated[float | None, Field(description="null if the passage was not found")] = None
    reranker: Annotated[str, Field(description="that reordered the first hits")] = ""
    features: Mapping[str, Part] = field(default_factory=dict)
    language: Annotated[Language | None, Field(description="whose keywords scored")] = None
    terms: Annotated[
        tuple[TermScore, ...], Field(description="field: text, title, question, synonyms or a language")
    ] = ()


async def explain(
    index: OpenIndex, request: SearchRequest, passage_id: str, settings: RetrieverSettings
) -> Account:
    """Explain the rank of one passage's paper among the first hundred, and its score, as `search` gives them.

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
    ranking, terms = computed(stages.ranking), stages.terms
    account = Account(passage_id, stored.title, request.method, rank, shown, reranker=ranking.reranker)
    base = 1.0  # weight of a score by words; beside a cosine it is a share of the attainable score
    if terms and ranking.scored and "cosine" in ranking.scored.parts:
        base = (1 - COSINE_WEIGHT) / terms.formula.attainable
    account = _with_parts(account, ranking, terms, base)
    if ranking.scored is None or terms is None:
        query = main_query(stages, title_weight=settings.title_weight)
        return replace(account, terms=await index.engine.explain(query, passage_id) if query else ())
    read = await index.engine.rows([passage_id])
    return await index.threads.run(_with_tokens, account, terms, read, base)


def _with_parts(account: Account, ranking: Ranking, terms: SearchTerms | None, base: float) -> Account:
    """Add the score and its parts; none if the passage was not found."""
    passage_id = account.passage_id
    scored = ranking.scored if ranking.scored and passage_id in ranking.scored else None
    score = next((score for hit, score in ranking.hits if hit.passage_id == passage_id), None)
    if score is None and scored:  # another passage of its paper ranks higher
        score = scored.score_of(passage_id)
    if score is None:
        return account
    parts, loss = scored.parts_of(passage_id) if scored else {}, ranking.losses.get(passage_id, 0.0)
    if ranking.reranker:  # the difference to its score
        parts["cross-encoder"] = score + loss - sum(parts.values())
    elif not scored:
        by_words = "rank fusion" if account.method == "paper" else "BM25"
        parts["cosine" if ranking.by_vectors else by_words] = score + loss
    if loss:
        parts["exclusions"] = -loss
    weights = {"cross-encoder": 1.0, "exclusions": -1.0}
    if scored and terms:
        weights = dict.fromkeys(parts, base) | weights
        weights |= {"keywords": base * terms.formula.keyword_weight, "cosine": COSINE_WEIGHT}
    weighed = [(name, value, weights.get(name, 1.0)) for name, value in parts.items()]
    features = {name: Part(value / weight, weight, value) for name, value, weight in weighed}
    return replace(account, order_score=score, features=features)


def _with_tokens(account: Account, terms: SearchTerms, read: NumberedRows, base: float) -> Account:
    """Add the tokens of the question, of the keywords of the language that scored, and of synonyms."""
    formula, statistics = terms.formula, terms.formula.statistics
    places = TokenPlaces.of(read, formula.tokens)
    scores = dict(zip(places.column, bm25(places, statistics)[0].tolist(), strict=True))

    def row(tokens: Sequence[str], field: str, weight: float, score: float) -> TermScore:
        text = " ".join(terms.texts.get(token, token) for token in tokens)
        tf = min(float(places.texts[0, places.column[token]]) for token in tokens if token in places.column)
        df = min(statistics.frequencies.get(token, 0) for token in tokens)
        return TermScore(text, field, weight, tf, df, sum(map(statistics.idf, tokens)), base * score)

    def rows(field: str, weights: Mapping[str, float], scale: float) -> list[TermScore]:
        weighed = [(token, scale * weight) for token, weight in weights.items() if scores.get(token)]
        return [row([token], field, weight, weight * scores[token]) for token, weight in weighed]

    by_language = [
        (language, rows(language, weights, formula.keyword_weight))
        for language, weights in formula.keywords.items()
    ]
    language, best = max(by_language, key=lambda of: sum(term.score for term in of[1]), default=(None, []))
    found = [*rows("question", formula.question, 1.0), *best]
    for each in formula.counterparts:  # the best form scores, above its source
        own = sum(formula.question.get(token, 0.0) * scores.get(token, 0.0) for token in each.source)
        score, form = max(
            (each.weight * sum(scores.get(token, 0.0) for token in one), one) for one in each.others
        )
        if score > own:
            found.append(row(form, "synonyms", each.weight, score - own))
    return replace(account, language=language if best else None, terms=in_order(found))


def main_query(stages: Stages, *, title_weight: float) -> Query | None:
    """Return the first query of the plan.

    If the plan has none (method dense), it is the whole question; None if there is nothing to search for.
    """
    if stages.plan and stages.plan.queries:
        return stages.plan.queries[0].query
    question = stages.question
    return question_query(question, title_weight=title_weight) if question and question.weights else None
