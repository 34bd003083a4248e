"""From a question to its queries: terms, spellings, keywords, and what stands for each word."""

import math
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from retriever.features import Concept
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
    token_weights,
    weigh,
    words_of,
)
from retriever.queries import Or, Phrase, Query, Term, or_query
from retriever.spelling import near_spellings
from retriever.state import SearchState
from retriever.synonyms import SYNONYM_WEIGHT

PER_QUERY = 10  # papers a progressive query brings (SHRAG, section 3.3)
ENTROPY_SAMPLE = 256
TUNED_TITLE_WEIGHT = 0.4  # in `shrag`; the weights of retriever/reranker.py were found with it
MOST_SPELLED = 16  # unknown words of a question whose near spellings are looked for
VARIANT_WEIGHT = 0.8  # of a near spelling beside the word itself
NOTHING_TO_SEARCH = "nothing to search for: only stop words, punctuation or signs"


async def question_terms(state: SearchState) -> list[Term]:
    """Analyse the question once; each distinct token is a term."""
    state.tokens = question_tokens(state.request.question, state.index.analyzer)
    question = unicodedata.normalize("NFC", state.request.question)
    if not any(map(str.isalnum, "".join(token[0] for token in state.tokens))):
        state.tokens = []  # an emoji is a token, but nothing to ask about
    terms = {token: question[start:end] for token, _, start, end in reversed(state.tokens)}
    if not terms:
        state.notes.append(NOTHING_TO_SEARCH)
    # Where a compound stands on its parts, the parts.
    by_position = {position: token for token, position, _, _ in state.tokens}
    state.synonyms = state.index.synonyms.find(list(by_position.values()))
    for found in state.synonyms:
        others = ", ".join(one.text for one in found.equivalents)
        state.notes.append(f"{found.text} is also searched for as {others}")
    return [Term(terms[token], (token,)) for token in dict.fromkeys(token[0] for token in state.tokens)]


async def find_keywords(state: SearchState) -> list[Concept]:
    """Choose the ten keywords, and say what stands for each word of the question."""
    given = state.request.keywords
    state.spellings = await find_spellings(state)
    own = [
        _with_spellings(word, state.spellings)
        for word in content_words(words_of(state.request.question, state.tokens))
    ]
    state.counterparts = counterparts(state.tokens, state.index.glossary)
    other = [word for one in state.counterparts for word in one.words]
    alike = [one for found in state.synonyms for one in found.counterparts()]
    synonyms = [word for one in alike for word in one.words]
    tokens = {token for one in (*own, *other, *synonyms, *(given or ())) for token in one.tokens}
    rarity = await _rarity(state, sorted(tokens))
    if given is None:
        weights = await _importance(state, rarity)
        _weigh_unknown(weights, alike)
        ranked = weigh(merge(weigh(own, weights), weigh(other, weights)[:TRANSLATIONS]), weights)
        state.keywords = [one for one in ranked if one.weight > 0][:KEYWORDS]
        state.token_weights = {token: weights[token] for one in state.keywords for token in one.tokens}
    else:
        state.keywords = list(given[:KEYWORDS])
        state.token_weights = token_weights(state.keywords)
    for token in dict.fromkeys(token for word in synonyms for token in word.tokens):
        state.token_weights.setdefault(token, SYNONYM_WEIGHT * rarity[token])
    return [_concept(word, [*alike, *state.counterparts], rarity) for word in own]


def _weigh_unknown(weights: dict[str, float], synonyms: Sequence[Counterpart]) -> None:
    """Give words of the question that the index does not hold the importance of what they are searched as."""
    spread: dict[str, float] = {}
    for one in synonyms:
        if not any(weights.get(token) for token in one.source):
            weight = SYNONYM_WEIGHT * sum(weights[token] for word in one.words for token in word.tokens)
            for token in one.source:
                spread[token] = max(weight / len(one.source), spread.get(token, 0.0))
    weights |= {token: weight for token, weight in spread.items() if token in weights}


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


def plain_or(state: SearchState, terms: Sequence[Term]) -> Or:
    """Join the question's distinct tokens; with `count_repeats` one that stands twice weighs twice."""
    if state.settings.count_repeats:
        counts = Counter(token[0] for token in state.tokens)
        terms = [replace(term, weight=float(counts[term.tokens[0]])) for term in terms]
    return or_query([*terms, *_synonyms_of(state)], title_weight=title_weight_of(state))


def own_words(state: SearchState, terms: Sequence[Term]) -> Or:
    """Join the question's tokens in one OR, near spellings in the place of unknown ones."""
    clauses: dict[str, Term] = {}
    for term in terms:
        (token,) = term.tokens
        for near in state.spellings.get(token, ()):
            clauses.setdefault(near, Term(near, (near,), weight=VARIANT_WEIGHT))
        if token not in state.spellings:
            clauses[token] = term
    return or_query([*clauses.values(), *_synonyms_of(state)], title_weight=title_weight_of(state))


def _synonyms_of(state: SearchState, tokens: Iterable[str] | None = None) -> list[Term | Phrase]:
    """Make the clauses of the synonyms, of all the question's or those that stand for some of `tokens`."""
    asked = None if tokens is None else set(tokens)
    clauses = [
        one.clause()
        for found in state.synonyms
        if asked is None or asked & set(found.source)
        for one in found.equivalents
    ]
    return list(dict.fromkeys(clauses))


def other_words(state: SearchState) -> Or | None:
    """Join what stands for the question in the other language: the glossary's words, the model's keywords."""
    own = {token[0] for token in state.tokens}
    words = [word for found in state.counterparts for word in found.words]
    words += state.request.keywords or ()
    tokens = dict.fromkeys(token for word in words for token in word.tokens if token not in own)
    terms = [Term(token, (token,)) for token in tokens]
    return or_query(terms, title_weight=title_weight_of(state)) if terms else None


def progressive_queries(state: SearchState) -> list[tuple[int, Query, int]]:
    """Make SQn … SQ1 as (n, query, papers asked for)."""
    return [(n, keyword_query(state, n), PER_QUERY) for n in range(len(state.keywords), 0, -1)]


def keyword_query(state: SearchState, n: int) -> Or:
    """Make SQn: the first n keywords, and the synonyms that stand for them."""
    clauses: dict[Term | Phrase, None] = {}
    for keyword in state.keywords[:n]:
        clauses |= dict.fromkeys((keyword.term(), *_synonyms_of(state, keyword.tokens)))
    return or_query(list(clauses))


def title_weight_of(state: SearchState) -> float:
    """Return the weight of the title clause: as asked, as tuned, or as set."""
    if state.request.title_weight is not None:
        return state.request.title_weight
    return TUNED_TITLE_WEIGHT if state.request.method == "shrag" else state.settings.title_weight


def _with_spellings(word: Keyword, spellings: dict[str, list[str]]) -> Keyword:
    tokens = [near for token in word.tokens for near in (spellings.get(token) or [token])]
    return replace(word, tokens=tuple(dict.fromkeys(tokens)))


async def find_spellings(state: SearchState) -> dict[str, list[str]]:
    """Find near spellings of the tokens that the index does not hold."""
    tokens = list(dict.fromkeys(token[0] for token in state.tokens))
    frequencies = await state.index.engine.document_frequencies(tokens)
    near: dict[str, list[str]] = {}
    looked_for = 0
    for token in tokens:
        if frequencies[token]:
            continue
        looked_for += 1
        if looked_for > MOST_SPELLED:
            state.notes.append(
                f"near spellings were looked for of the first {MOST_SPELLED} unknown words only"
            )
            break
        if found := await near_spellings(token, state.index.engine):
            near[token] = found
            state.notes.append(f"{token} is not in the index; searched as {', '.join(found)}")
    return near


async def idf_of(state: SearchState, tokens: Sequence[str], *, least: int = 1) -> dict[str, float]:
    """Return the idf of the tokens that stand in at least so many passages."""
    engine = state.index.engine
    frequencies = await engine.document_frequencies(tokens)
    return {
        token: inverse_document_frequency(frequency, engine.passage_count)
        for token, frequency in frequencies.items()
        if frequency >= least
    }


async def _rarity(state: SearchState, tokens: Sequence[str]) -> dict[str, float]:
    """Return the idf of tokens, 0 for those that the index does not hold."""
    known = await idf_of(state, tokens)
    return {token: known.get(token, 0.0) for token in tokens}


async def _importance(state: SearchState, rarity: Mapping[str, float]) -> dict[str, float]:
    """Weigh tokens as keywords: by rarity, or by how few passages they gather in."""
    if state.settings.ranking != "entropy":
        return dict(rarity)
    engine = state.index.engine
    frequencies = await engine.document_frequencies(rarity)
    weights = {}
    for token in rarity:
        sample = await engine.term_frequencies(token, ENTROPY_SAMPLE) if frequencies[token] else []
        # A larger term's entropy is at least that of its sample, plus what the rest spreads it further.
        spread = term_entropy(sample) + _log_ratio(frequencies[token], len(sample))
        weights[token] = max(0.0, _log_ratio(engine.passage_count, 1) - spread) if sample else 0.0
    return weights


def _log_ratio(one: int, other: int) -> float:
    return math.log(one / other) if one and other else 0.0
