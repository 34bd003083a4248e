"""Explanation of a passage's rank: the parts of its score, which add up, and the tokens behind them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated
from unicodedata import normalize

from pydantic import Field

from base.amounts import plain
from base.records import INTERNAL, Recordable
from base.terminal.columns import table
from base.terminal.output import shortened
from indexer.corpora.papers import Language
from retriever.calls import ExplanationLanguage
from retriever.engines import NumberedRows
from retriever.formula import TokenPlaces, bm25
from retriever.index import SearchIndex
from retriever.papers.page import stored_passage
from retriever.ranking import COSINE_WEIGHT
from retriever.search import SearchRequest, open_search, run_search
from retriever.settings import RetrieverSettings
from retriever.stages.paper_sets import query_for_papers
from retriever.stages.stages import Ranking, computed
from retriever.terms import SearchTerms
from retriever.token_scores import TermScore, explain_query, in_order

DEPTH = 100  # papers searched for the rank
KOREAN: Mapping[str, str] = {
    "part": "항목",
    "value": "값",
    "weight": "가중치",
    "score": "점수",
    "term": "용어",
    "of": "출처",
    "tf": "본문 빈도",
    "df": "문서 빈도",
    "idf": "역문서 빈도",
    "question": "질문",
    "keywords": "핵심어",
    "synonyms": "동의어",
    "feedback": "상위 본문의 단어",
    "second-search": "2차 검색",
    "cosine": "벡터 유사도",
    "exclusions": "제외 조건",
    "cross-encoder": "재정렬",
    "rank fusion": "순위 결합",
    "text": "본문",
    "title": "제목",
    "ko": "핵심어 (ko)",
    "en": "핵심어 (en)",
    "not found by method {method}": "{method} 방법으로 찾지 못함",
    "rank {rank} by method {method}": "{method} 방법으로 {rank}위",
    ", reordered by {reranker}": ", {reranker} 모델로 재정렬",
    "; the paper is shown by {shown}": "; 논문의 대표 본문은 {shown}",
}
ENGLISH: Mapping[str, str] = {"ko": "keywords (ko)", "en": "keywords (en)"}


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


def explain(
    index: SearchIndex, request: SearchRequest, passage_id: str, settings: RetrieverSettings
) -> Account:
    """Explain the rank of one passage's paper among the first hundred, and its score, as `search` gives them.

    Raises:
        UnknownPassage: no passage of that id in the index.
    """
    passage_id = normalize("NFC", passage_id)  # as ids are
    stored = stored_passage(index, passage_id)
    context = open_search(index, replace(request, k=DEPTH), settings)
    stages, result = run_search(context)
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
        query = stages.main_query(title_weight=settings.title_weight)
        sent = query and query_for_papers(index, query)
        return replace(account, terms=explain_query(index.engine, sent, passage_id) if sent else ())
    read = index.engine.rows([passage_id])
    return _with_tokens(account, terms, read, base)


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
        keywords = base * terms.formula.keyword_weight
        weights = dict.fromkeys(parts, base) | weights | {"keywords": keywords, "cosine": COSINE_WEIGHT}
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


def explanation_lines(account: Account, language: ExplanationLanguage = "en") -> Iterator[str]:
    """Yield the explanation as text: the parts of the score, their tokens, the rank."""
    words = KOREAN if language == "ko" else ENGLISH

    def say(text: str) -> str:
        return words.get(text, text)

    yield f"{account.passage_id} [{account.method}]  {shortened(account.title)}"
    if account.features:
        rows = [tuple(map(say, ("part", "value", "weight", "score")))]
        for name, part in account.features.items():
            shown = say(account.language if name == "keywords" and account.language else name)
            rows.append((shown, f"{part.value:.4f}", plain(part.weight), f"{part.contribution:.4f}"))
        rows.append((say("score"), "", "", f"{account.order_score:.4f}"))
        yield from table(rows, words=1)
    if account.terms:
        rows = [tuple(map(say, ("term", "of", "tf", "df", "idf", "weight", "score")))]
        for term in account.terms:
            counts = plain(term.frequency), str(term.document_frequency), f"{term.idf:.3f}"
            rows.append((term.token, say(term.field), *counts, plain(term.weight), f"{term.score:.4f}"))
        yield from table(rows, words=2)
    said = say("not found by method {method}" if account.rank is None else "rank {rank} by method {method}")
    said += say(", reordered by {reranker}") if account.reranker else ""
    said += say("; the paper is shown by {shown}") if account.shown not in {"", account.passage_id} else ""
    yield said.format(**{name: getattr(account, name) for name in ("rank", "method", "reranker", "shown")})
