"""The way from a question to its hits: keywords, queries, candidates, order."""

import math
import time
import unicodedata
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from indexer.analysis import Token
from indexer.schema import StoredPassage
from retriever.confidence import Signs, evidence_score, signs
from retriever.duplicates import without_duplicates
from retriever.engines import EngineHit
from retriever.errors import BadFilter, BadQuestion
from retriever.expert import parse_expression
from retriever.features import Candidate, Concept, Features, features, feedback_tokens
from retriever.fusion import reciprocal_rank_fusion
from retriever.highlights import snippet
from retriever.hits import Hit, QueryTrace, SearchResult
from retriever.index import SearchIndex
from retriever.keywords import (
    KEYWORDS,
    TRANSLATIONS,
    Counterpart,
    Keyword,
    content_words,
    counterparts,
    inverse_document_frequency,
    merge,
    question_tokens,
    term_entropy,
    weigh,
    words_of,
)
from retriever.queries import Filters, Or, Query, Term, describe, or_query, progressive_or
from retriever.reranker import lexical_order
from retriever.settings import RetrieverSettings
from retriever.spelling import near_spellings

LONGEST_QUESTION = 20_000
PER_QUERY = 10  # papers a progressive query brings (SHRAG, section 3.3)
POOL = 100  # candidates that the whole question brings to the lexical order
EVIDENCE = 5  # passages that an answer rests on (SHRAG, section 3.5)
APART = 100  # positions between a passage and its title in the other language, so that no window spans both
OTHER_POOL = 30  # candidates that the question's words in the other language bring
WHOLE_QUESTION = OTHER_LANGUAGE = 0  # in `found_by`, beside the n of SQn
ENTROPY_SAMPLE = 256
TUNED_TITLE_WEIGHT = 0.4  # in `shrag`; the weights of retriever/reranker.py were found with it
VARIANT_WEIGHT = 0.8  # of a near spelling beside the word itself

ORDERS = {
    "or": "BM25 of one OR query over the question's words",
    "paper": "reciprocal rank fusion of the progressive queries (the index holds no vectors)",
    "shrag": "weighted lexical features of the progressive queries' candidates",
    "boolean": "BM25 of the expression's words",
}
METHODS = tuple(ORDERS)


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What is asked of an index.

    `collapse` gives papers, each by its best passage; without it passages. `keywords` stand in for those from
    statistics. `title_weight` None is the settings'.
    """

    question: str
    method: str = "shrag"
    k: int = 10
    filters: Filters = field(default_factory=Filters)
    collapse: bool = True
    keywords: tuple[Keyword, ...] | None = None
    title_weight: float | None = None


@dataclass(slots=True)
class _Search:
    """One search under way: what is known so far, for the method to add to."""

    index: SearchIndex
    request: SearchRequest
    settings: RetrieverSettings
    tokens: list[Token] = field(default_factory=list)
    keywords: list[Keyword] = field(default_factory=list)
    queries: list[QueryTrace] = field(default_factory=list)
    found_by: dict[str, list[int]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    milliseconds: dict[str, float] = field(default_factory=dict)
    spellings: dict[str, list[str]] = field(default_factory=dict)
    counterparts: list[Counterpart] = field(default_factory=list)
    signs: Signs | None = None

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the time spent to a stage's."""
        started = time.perf_counter()
        try:
            yield
        finally:
            spent = (time.perf_counter() - started) * 1000
            self.milliseconds[stage] = self.milliseconds.get(stage, 0.0) + spent

    async def ask_engine(self, asked: Sequence[tuple[int, Query, int]]) -> list[list[EngineHit]]:
        """Send all (n of SQn, query, k) in one call; note what each found."""
        with self.timed("search"):
            found = await self.index.engine.search(
                [(query, k) for _, query, k in asked],
                filters=self.request.filters,
                collapse=self.request.collapse,
            )
        for (number, query, _), hits in zip(asked, found, strict=True):
            self.queries.append(QueryTrace(describe(query), len(hits)))
            for hit in hits:
                self.found_by.setdefault(hit.passage_id, []).append(number)
        return found


Ranked = list[tuple[EngineHit, float]]


async def rank(
    index: SearchIndex, request: SearchRequest, settings: RetrieverSettings | None = None
) -> list[tuple[str, float]]:
    """Return the run for one question: at most k (id, score), passage_ids or with `collapse` doc_ids.

    Nothing is left out as a duplicate or as incomplete: a run holds what was judged.
    """
    _, ranked = await _ranked(index, request, settings or RetrieverSettings())
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
    state, ranked = await _ranked(index, replace(request, k=request.k + PER_QUERY), settings)
    with state.timed("stored"):
        if request.collapse:
            scores = {hit.doc_id: score for hit, score in ranked}
            ranked = [
                (hit, scores[hit.doc_id]) for hit in await _with_text(state, [hit for hit, _ in ranked])
            ]
        stored = await index.engine.passages(hit.passage_id for hit, _ in ranked)
        papers = {one.doc_id: one for one in stored.values() if one.paper is not None}
        missing = [one.doc_id for one in stored.values() if one.doc_id not in papers]
        papers |= await index.engine.papers(missing)
    hits = [
        Hit(
            rank=0,
            passage=stored[hit.passage_id],
            score=round(score, 4),
            found_by=tuple(dict.fromkeys(sorted(state.found_by.get(hit.passage_id, ()), reverse=True))),
            paper=(papers[hit.doc_id].paper or {}) if hit.doc_id in papers else {},
        )
        for hit, score in ranked
    ]
    kept, filtered = _filtered(hits, drop_incomplete=settings.drop_incomplete)
    with state.timed("snippets"):
        weights = {token: one.weight or 1.0 for one in state.keywords for token in one.tokens}
        weights = weights or {token[0]: 1.0 for token in state.tokens}
        shown = tuple(
            replace(hit, rank=position, snippet=snippet(hit.passage.text, weights, index.analyzer))
            for position, hit in enumerate(kept[: request.k], 1)
        )
    state.milliseconds["total"] = (time.perf_counter() - started) * 1000
    return SearchResult(
        question=request.question,
        method=request.method,
        keywords=tuple(state.keywords),
        queries=tuple(state.queries),
        hits=shown,
        filtered=filtered,
        milliseconds=state.milliseconds,
        order=ORDERS[request.method],
        evidence_score=evidence_score(state.signs) if state.signs else None,
        notes=tuple(state.notes),
    )


def _filtered(hits: Sequence[Hit], *, drop_incomplete: bool) -> tuple[list[Hit], dict[str, int]]:
    """Leave out incomplete papers and duplicates of better hits (SHRAG, section 3.3); count both."""
    complete = [hit for hit in hits if not (drop_incomplete and hit.passage.incomplete)]
    kept = without_duplicates(complete)
    return kept, {"incomplete": len(hits) - len(complete), "duplicates": len(complete) - len(kept)}


async def _ranked(
    index: SearchIndex, request: SearchRequest, settings: RetrieverSettings
) -> tuple[_Search, Ranked]:
    _check(request)
    state = _Search(index, request, settings)
    ranked = await _METHODS[request.method](state)
    return state, ranked[: request.k]


def _check(request: SearchRequest) -> None:
    if request.method not in _METHODS:
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


async def _by_or(state: _Search) -> Ranked:
    with state.timed("keywords"):
        terms = await _question_terms(state)
    if not terms:
        return []
    (hits,) = await state.ask_engine([(len(terms), _plain_or(state, terms), state.request.k)])
    return [(hit, hit.score) for hit in hits]


async def prepare_query(
    index: SearchIndex, request: SearchRequest, settings: RetrieverSettings | None = None
) -> Query | None:
    """Return the one query whose BM25 stands behind a method's order.

    Of the whole question, SQ10 for `paper`, the expression for `boolean`; None where nothing is left to
    search for.
    """
    _check(request)
    state = _Search(index, request, settings or RetrieverSettings())
    if request.method == "boolean":
        return parse_expression(request.question, index.analyzer)
    terms = await _question_terms(state)
    if request.method == "paper":
        await _find_keywords(state)
        return or_query([one.term() for one in state.keywords]) if state.keywords else None
    if request.method == "shrag":
        state.spellings = await _spellings(state)
        return _own_words(state, terms) if terms else None
    return _plain_or(state, terms) if terms else None


def _plain_or(state: _Search, terms: Sequence[Term]) -> Or:
    """Join the question's distinct tokens; with `count_repeats` one that stands twice weighs twice."""
    if state.settings.count_repeats:
        counts = Counter(token[0] for token in state.tokens)
        terms = [replace(term, weight=float(counts[term.tokens[0]])) for term in terms]
    return or_query(terms, title_weight=_title_weight(state))


async def _by_expression(state: _Search) -> Ranked:
    with state.timed("keywords"):
        query = parse_expression(state.request.question, state.index.analyzer)
    if query is None:
        state.notes.append(NOTHING_TO_SEARCH)
        return []
    (hits,) = await state.ask_engine([(1, query, state.request.k)])
    return [(hit, hit.score) for hit in hits]


async def _by_paper(state: _Search) -> Ranked:
    """Rank as the paper says: ten papers a query, the union, without vectors by rank fusion."""
    with state.timed("keywords"):
        await _question_terms(state)
        await _find_keywords(state)
    if not state.keywords:
        return []
    found = await state.ask_engine(_progressive(state))
    with state.timed("order"):
        hits = {hit.passage_id: hit for ranking in reversed(found) for hit in ranking}
        fused = reciprocal_rank_fusion([[hit.passage_id for hit in ranking] for ranking in found])
        return _first_of_each([(hits[one.item], one.score) for one in fused], state)


async def _by_features(state: _Search) -> Ranked:
    """Rank as tuned: the progressive candidates and the whole question's, ordered by lexical features."""
    table, by_question, concepts = await _feature_table(state)
    with state.timed("order"):
        places = lexical_order([row for _, row in table])
        ordered = [(table[place][0], score) for place, score in places]
        state.signs = await _signs(state, [table[place] for place, _ in places[:EVIDENCE]], concepts)
    taken = {hit.passage_id for hit, _ in ordered}
    rest = [hit for hit in by_question if hit.passage_id not in taken]
    last = ordered[-1][1] if ordered else 1.0
    top = rest[0].score if rest else 1.0
    filled = [(hit, last * 0.999 * hit.score / top) for hit in rest]
    return _first_of_each(ordered + filled, state)


async def feature_table(
    index: SearchIndex, request: SearchRequest, settings: RetrieverSettings | None = None
) -> list[tuple[EngineHit, Features]]:
    """Return the candidates of a question with their features, as the lexical order sees them."""
    return (await _feature_table(_Search(index, request, settings or RetrieverSettings())))[0]


async def question_signs(
    index: SearchIndex, request: SearchRequest, settings: RetrieverSettings | None = None
) -> Signs:
    """Return what speaks for an answer among the first passages for a question (method `shrag`)."""
    state = _Search(index, request, settings or RetrieverSettings())
    await _by_features(state)
    return state.signs or signs([], [], 0.0)


async def _with_text(state: _Search, hits: Sequence[EngineHit]) -> list[EngineHit]:
    """Let a paper that was found by its title in the other language alone stand by its abstract."""
    engine = state.index.engine
    stored = await engine.passages(hit.passage_id for hit in hits)
    bare = {hit.doc_id for hit in hits if not stored[hit.passage_id].text}
    papers = {doc_id: one.passage_id for doc_id, one in (await engine.papers(bare)).items() if one.text}
    best: dict[str, EngineHit] = {}
    for hit in hits:
        if not stored[hit.passage_id].text and hit.doc_id in papers:
            abstract = papers[hit.doc_id]
            state.found_by.setdefault(abstract, []).extend(state.found_by.get(hit.passage_id, ()))
            hit = replace(hit, passage_id=abstract)  # noqa: PLW2901
        best.setdefault(hit.passage_id, hit)
    return list(best.values())


async def _signs(
    state: _Search, first: Sequence[tuple[EngineHit, Features]], concepts: Sequence[Concept]
) -> Signs:
    stored = await state.index.engine.passages(hit.passage_id for hit, _ in first)
    held = [
        (row, frozenset(token[0] for token in _candidate(state.index, stored[hit.passage_id], 0.0).tokens))
        for hit, row in first
    ]
    return signs(held, concepts, inverse_document_frequency(0, state.index.engine.passage_count))


async def _feature_table(
    state: _Search,
) -> tuple[list[tuple[EngineHit, Features]], list[EngineHit], list[Concept]]:
    """Ask the engine once; return the candidates with features, all hits of the whole question, its words."""
    with state.timed("keywords"):
        terms = await _question_terms(state)
        concepts = await _find_keywords(state)
    if not terms:
        return [], [], concepts
    asked = [(WHOLE_QUESTION, _own_words(state, terms), max(POOL, state.request.k))]
    if other := _other_words(state):
        asked.append((OTHER_LANGUAGE, other, OTHER_POOL))
    found = await state.ask_engine([*asked, *_progressive(state)])
    by_question = found[0]
    attainable = await _attainable(state, [query for _, query, _ in asked])
    # The other language's words stand for a part of the question only.
    share = _translated_share(state, concepts)
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
    ordered = sorted(pool.values(), key=lambda hit: (-hit.score, hit.passage_id))
    if state.request.collapse:
        ordered = await _with_text(state, ordered)
    with state.timed("order"):
        rows = await _features(state, concepts, ordered)
    return list(zip(ordered, rows, strict=True)), by_question, concepts


def _translated_share(state: _Search, concepts: Sequence[Concept]) -> float:
    """Return how much of the question's weight has counterparts; all of it where a model gave keywords."""
    if state.request.keywords:
        return 1.0
    sources = {token for one in state.counterparts for token in one.source}
    total = sum(concept.weight for concept in concepts)
    translated = sum(concept.weight for concept in concepts if concept.tokens.keys() & sources)
    return translated / total if total else 0.0


async def _attainable(state: _Search, queries: Sequence[Or]) -> list[float]:
    """Return for each query the idf of all its tokens, which no passage's text scores above."""
    sets = [
        {token for clause in query.clauses if isinstance(clause, Term) for token in clause.tokens}
        for query in queries
    ]
    idf = await _idf(state, sorted(set().union(*sets)))
    return [sum(idf.get(token, 0.0) for token in tokens) or 1.0 for tokens in sets]


async def _features(state: _Search, concepts: Sequence[Concept], pool: Sequence[EngineHit]) -> list[Features]:
    index = state.index
    stored = await index.engine.passages(hit.passage_id for hit in pool)
    candidates = [_candidate(index, stored[hit.passage_id], hit.score) for hit in pool]
    rarity = await _idf(state, sorted(feedback_tokens(candidates)), least=2)
    return features(state.tokens, concepts, candidates, rarity)


def _candidate(index: SearchIndex, passage: StoredPassage, score: float) -> Candidate:
    """Make a candidate of a passage; its paper's title in the other language counts with its own."""
    tokens, title_tokens = index.tokens_of(passage)
    title = passage.title
    if other := (passage.paper or {}).get("title2"):
        behind = (tokens[-1][1] if tokens else 0) + APART
        added = [
            (token, behind + place, start, end) for token, place, start, end in index.analyzer.analyze(other)
        ]
        tokens, title = [*tokens, *added], f"{title} {other}"
    return Candidate(passage.passage_id, title, tokens, title_tokens, score)


def _first_of_each(ranked: Ranked, state: _Search) -> Ranked:
    """Keep a paper's first hit where papers are asked for."""
    if not state.request.collapse:
        return ranked
    best: dict[str, tuple[EngineHit, float]] = {}
    for hit, score in ranked:
        best.setdefault(hit.doc_id, (hit, score))
    return list(best.values())


def _progressive(state: _Search) -> list[tuple[int, Query, int]]:
    queries = progressive_or([one.term() for one in state.keywords])
    return [(len(queries) - place, query, PER_QUERY) for place, query in enumerate(queries)]


def _title_weight(state: _Search) -> float:
    if state.request.title_weight is not None:
        return state.request.title_weight
    return TUNED_TITLE_WEIGHT if state.request.method == "shrag" else state.settings.title_weight


NOTHING_TO_SEARCH = "nothing to search for: only stop words, punctuation or signs"


async def _question_terms(state: _Search) -> list[Term]:
    """Analyse the question once; each distinct token is a term."""
    state.tokens = question_tokens(state.request.question, state.index.analyzer)
    question = unicodedata.normalize("NFC", state.request.question)
    if not any(map(str.isalnum, "".join(token[0] for token in state.tokens))):
        state.tokens = []  # an emoji is a token, but nothing to ask about
    terms = {token: question[start:end] for token, _, start, end in reversed(state.tokens)}
    if not terms:
        state.notes.append(NOTHING_TO_SEARCH)
    return [Term(terms[token], (token,)) for token in dict.fromkeys(token[0] for token in state.tokens)]


async def _find_keywords(state: _Search) -> list[Concept]:
    """Choose the ten keywords, and say what stands for each word of the question."""
    given = state.request.keywords
    state.spellings = await _spellings(state)
    own = [
        _with_spellings(word, state.spellings)
        for word in content_words(words_of(state.request.question, state.tokens))
    ]
    state.counterparts = counterparts(state.tokens, state.index.glossary)
    other = [word for one in state.counterparts for word in one.words]
    tokens = {token for one in (*own, *other, *(given or ())) for token in one.tokens}
    weights = await _weights(state, sorted(tokens))
    if given is None:
        ranked = weigh(merge(weigh(own, weights), weigh(other, weights)[:TRANSLATIONS]), weights)
        state.keywords = [one for one in ranked if one.weight > 0][:KEYWORDS]
    else:
        state.keywords = list(given[:KEYWORDS])
    return [_concept(word, state.counterparts, weights) for word in own]


def _concept(word: Keyword, found: Sequence[Counterpart], weights: Mapping[str, float]) -> Concept:
    """Join a word with its counterparts: all of a counterpart's tokens together weigh what the word does."""
    tokens = {token: weights[token] for token in word.tokens}
    weight = sum(tokens.values())
    for one in found:
        if one.source & set(word.tokens):
            there = [token for other in one.words for token in other.tokens if weights[token]]
            weight = weight or sum(weights[token] for token in there)
            tokens |= {token: weight / len(there) for token in there if token not in tokens}
    return Concept(word.text, tokens, weight)


def _own_words(state: _Search, terms: Sequence[Term]) -> Or:
    """Join the question's tokens in one OR, near spellings in the place of unknown ones."""
    clauses: dict[str, Term] = {}
    for term in terms:
        (token,) = term.tokens
        for near in state.spellings.get(token, ()):
            clauses.setdefault(near, Term(near, (near,), weight=VARIANT_WEIGHT))
        if token not in state.spellings:
            clauses[token] = term
    return or_query(list(clauses.values()), title_weight=_title_weight(state))


def _other_words(state: _Search) -> Or | None:
    """Join what stands for the question in the other language: the glossary's words, the model's keywords."""
    own = {token[0] for token in state.tokens}
    words = [word for found in state.counterparts for word in found.words]
    words += state.request.keywords or ()
    tokens = dict.fromkeys(token for word in words for token in word.tokens if token not in own)
    terms = [Term(token, (token,)) for token in tokens]
    return or_query(terms, title_weight=_title_weight(state)) if terms else None


def _with_spellings(word: Keyword, spellings: dict[str, list[str]]) -> Keyword:
    tokens = [near for token in word.tokens for near in (spellings.get(token) or [token])]
    return replace(word, tokens=tuple(dict.fromkeys(tokens)))


async def _spellings(state: _Search) -> dict[str, list[str]]:
    """Find near spellings of the tokens that the index does not hold."""
    tokens = list(dict.fromkeys(token[0] for token in state.tokens))
    frequencies = await state.index.engine.document_frequencies(tokens)
    near: dict[str, list[str]] = {}
    for token in tokens:
        if frequencies[token] == 0 and (found := await near_spellings(token, state.index.engine)):
            near[token] = found
            state.notes.append(f"{token} is not in the index; searched as {', '.join(found)}")
    return near


async def _idf(state: _Search, tokens: Sequence[str], *, least: int = 1) -> dict[str, float]:
    """Return the idf of the tokens that stand in at least so many passages."""
    engine = state.index.engine
    frequencies = await engine.document_frequencies(tokens)
    return {
        token: inverse_document_frequency(frequency, engine.passage_count)
        for token, frequency in frequencies.items()
        if frequency >= least
    }


async def _weights(state: _Search, tokens: Sequence[str]) -> dict[str, float]:
    """Weigh tokens by rarity, or by how few passages they gather in; what is not in the index weighs 0."""
    engine = state.index.engine
    frequencies = await engine.document_frequencies(tokens)
    weights = {}
    for token in tokens:
        if not frequencies[token]:
            weights[token] = 0.0
        elif state.settings.ranking == "entropy":
            sample = await engine.term_frequencies(token, ENTROPY_SAMPLE)
            # A larger term's entropy is at least that of its sample, plus what the rest spreads it further.
            spread = term_entropy(sample) + _log_ratio(frequencies[token], len(sample))
            weights[token] = max(0.0, _log_ratio(engine.passage_count, 1) - spread)
        else:
            weights[token] = inverse_document_frequency(frequencies[token], engine.passage_count)
    return weights


def _log_ratio(one: int, other: int) -> float:
    return math.log(one / other) if one and other else 0.0


_METHODS: dict[str, Callable[[_Search], Awaitable[Ranked]]] = {
    "or": _by_or,
    "paper": _by_paper,
    "shrag": _by_features,
    "boolean": _by_expression,
}
