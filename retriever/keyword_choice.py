"""The keywords of a question, with spellings, translations and synonyms of its words."""

import asyncio
import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from indexer.analysis import Analyzer
from retriever.context import SearchContext
from retriever.given_keywords import given_keywords
from retriever.keywords import (
    MOST_TRANSLATED,
    Keyword,
    Translation,
    merge,
    term_entropy,
    token_weights,
    translations,
    weigh,
    words_of,
)
from retriever.order.concepts import Concept, make_concepts
from retriever.question import AnalysedQuestion
from retriever.question_words import ROLES, Role
from retriever.spelling import near_spellings
from retriever.synonyms import SYNONYM_WEIGHT
from retriever.term_statistics import TermStatistics, term_statistics
from retriever.word_forms import form_translations

ENTROPY_SAMPLE = 256
MOST_SPELLED = 16  # unknown words of a question whose near spellings are looked for


@dataclass(frozen=True, slots=True)
class KeywordChoice:
    """The keywords k1, k2, … and what they were chosen from."""

    keywords: tuple[Keyword, ...]
    token_weights: Mapping[str, float]  # of each token that is searched for
    statistics: TermStatistics
    spellings: Mapping[str, tuple[str, ...]]  # of tokens that the index does not hold
    concepts: tuple[Concept, ...]
    given: bool = False  # whether the keywords came with the request
    ranked: bool = True  # whether they are in the order of their importance
    synonym_weights: Mapping[str, float] = field(default_factory=dict)  # of the synonyms' tokens
    has_counterparts: bool = False  # whether something in the index stands for words, in concepts or not

    def with_keywords(self, keywords: Sequence[Keyword]) -> "KeywordChoice":
        """Return the choice with other keywords, as a person or an agent edits them."""
        kept = tuple(keywords)
        weights = {**self.synonym_weights, **token_weights(kept)}
        return replace(self, keywords=kept, token_weights=weights, given=True, ranked=False)


async def choose_keywords(
    context: SearchContext, question: AnalysedQuestion, *, spellings: bool = True
) -> KeywordChoice:
    """Choose the keywords: the request's, else the question's most important words and their translations.

    Important is what the question weighs and few passages hold (tf · idf). Verbs, adjectives and counters
    follow behind everything else; words of the request (요약, please) and those that ask become keywords only
    where the index holds no others.
    With `spellings`, tokens that the index does not hold are replaced by their nearest terms there, and
    abbreviations and loanwords are searched for by their other forms too.
    """
    index = context.index
    found = await index.threads.run(translations, question.tokens, index.glossary, index.analyzer)
    if spellings and "word-forms" not in context.options.without:
        forms = await index.threads.run(form_translations, question, found, index.glossary, index.analyzer)
        found = [*found, *forms]
        for form in forms:
            context.recorder.note(form.note)
    synonyms = [translation for expansion in question.synonyms for translation in expansion.translations()]
    other = [word for translation in found for word in translation.words]
    alike = [word for translation in synonyms for word in translation.words]
    given, typed = context.request.analysed_keywords, context.request.typed_keywords
    if typed:
        given = await index.threads.run(_analysed, typed, question, other, index.analyzer)
    rank_given = context.options.rank_given_keywords and not typed
    tokens = {token[0] for token in question.tokens}
    tokens |= {token for word in (*other, *alike, *(given or ())) for token in word.tokens}
    statistics = await term_statistics(index.engine, tokens)
    spelled = await _spellings(context, question, statistics) if spellings else {}
    statistics = await term_statistics(
        index.engine, {near for nears in spelled.values() for near in nears}, statistics
    )
    rarity = {token: statistics.idf(token) for token in sorted(statistics.frequencies)}
    if given is not None and not rank_given:
        usable = [_respelled(keyword, spelled) if typed else keyword for keyword in given if keyword.tokens]
        chosen = tuple(usable[: context.options.keyword_count])
        _note_unused(context, [keyword for keyword in given if not keyword.tokens], len(usable))
        weight_of = token_weights(chosen)
    else:
        importance = await _importance(context, rarity, statistics)
        frequencies = _frequencies(question, found, spelled)
        weights = {token: frequencies.get(token, 1.0) * weight for token, weight in importance.items()}
        _weigh_unknown(weights, synonyms)
        ranked = _ranked(question, found, spelled, weights) if given is None else weigh(given, weights)
        chosen = tuple(keyword for keyword in ranked if keyword.weight > 0)[: context.options.keyword_count]
        weight_of = {token: weights[token] for keyword in chosen for token in keyword.tokens}
    beside = {token: SYNONYM_WEIGHT * rarity[token] for word in alike for token in word.tokens}
    weight_of = {**beside, **weight_of}
    weighted = "weights" not in context.options.without
    concepts_of = partial(
        make_concepts, question, spellings=spelled, statistics=statistics, weighted=weighted
    )
    concepts = await index.threads.run(concepts_of, [*synonyms, *found])
    has_counterparts = any(concept.counterparts for concept in concepts)
    if "counterparts" in context.options.without:
        concepts = await index.threads.run(concepts_of, [])
    return KeywordChoice(
        chosen,
        weight_of,
        statistics,
        spelled,
        concepts,
        given=given is not None,
        ranked=given is None or rank_given,
        synonym_weights=beside,
        has_counterparts=has_counterparts,
    )


def _analysed(
    typed: Sequence[str], question: AnalysedQuestion, other: Sequence[Keyword], analyzer: Analyzer
) -> tuple[Keyword, ...]:
    """Analyse keywords that a person typed; the question's own words and their translations are known."""
    own = [word for role in ROLES for word in _words(question, {}, {role})]
    return given_keywords(typed, analyzer, [*own, *other])


def _note_unused(context: SearchContext, dropped: Sequence[Keyword], usable: int) -> None:
    """Tell which of the given keywords make no query."""
    if dropped:
        texts = ", ".join(keyword.text for keyword in dropped)
        context.recorder.note(f"nothing to search for in {texts}: only stop words, punctuation or signs")
    if usable > (most := context.options.keyword_count):
        context.recorder.note(f"of the {usable} keywords only the first {most} are searched for")


def _words(
    question: AnalysedQuestion, spelled: Mapping[str, tuple[str, ...]], roles: Container[Role]
) -> list[Keyword]:
    """Cut the question into words, of their tokens those that have such a role in it."""
    tokens = [token for token in question.tokens if question.roles[token[0]] in roles]
    return [_respelled(word, spelled) for word in words_of(question.text, tokens)]


def _ranked(
    question: AnalysedQuestion,
    found: Sequence[Translation],
    spelled: Mapping[str, tuple[str, ...]],
    weights: Mapping[str, float],
) -> list[Keyword]:
    """Rank what the question is about, things first, else the words of its request, else those that ask.

    Translations of the general glossary follow behind: it knows counterparts of everyday words too, which
    would outrank what the question asks for where its language is the rarer one of the index.
    """
    by_role = []
    for role in ROLES:
        own = weigh(_words(question, spelled, {role}), weights)
        other: dict[bool, list[Keyword]] = {False: [], True: []}  # by whether the general glossary tells them
        for translation in found:
            if role == min((question.roles[token] for token in translation.source), key=ROLES.index):
                other[translation.origin == "general"] += translation.words
        ranked = weigh(merge(own, weigh(other[False], weights)[:MOST_TRANSLATED]), weights)
        ranked += weigh(other[True], weights)[:MOST_TRANSLATED]
        by_role.append([keyword for keyword in ranked if keyword.weight > 0])
    nouns, others, request, asking = by_role
    return merge([*nouns, *others], ()) or request or asking


def _frequencies(
    question: AnalysedQuestion, found: Sequence[Translation], spelled: Mapping[str, tuple[str, ...]]
) -> dict[str, float]:
    """Return how much the question makes of each token, of others as much as of those they stand for."""
    frequencies: dict[str, float] = {}
    standing_for = [
        *((translation.source, word.tokens) for translation in found for word in translation.words),
        *(({token}, nears) for token, nears in spelled.items()),
    ]
    for source, tokens in standing_for:
        weight = max(question.weights[token] for token in source)
        for token in tokens:
            frequencies[token] = max(weight, frequencies.get(token, 0.0))
    return {**frequencies, **question.weights}


async def _spellings(
    context: SearchContext, question: AnalysedQuestion, statistics: TermStatistics
) -> dict[str, tuple[str, ...]]:
    """Find near spellings of the question's tokens that the index does not hold."""
    tokens = dict.fromkeys(token[0] for token in question.tokens)
    unknown = [token for token in tokens if not statistics.frequencies[token]]
    looked_for = unknown[:MOST_SPELLED]
    found = await asyncio.gather(*(near_spellings(token, context.index.engine) for token in looked_for))
    near = {token: tuple(nears) for token, nears in zip(looked_for, found, strict=True) if nears}
    for token, nears in near.items():
        context.recorder.note(f"{token} is not in the index; searched as {', '.join(nears)}")
    if len(unknown) > MOST_SPELLED:
        context.recorder.note(
            f"near spellings were looked for of the first {MOST_SPELLED} unknown words only"
        )
    return near


def _respelled(word: Keyword, spellings: Mapping[str, tuple[str, ...]]) -> Keyword:
    tokens = [near for token in word.tokens for near in (spellings.get(token) or (token,))]
    return replace(word, tokens=tuple(dict.fromkeys(tokens)))


def _weigh_unknown(weights: dict[str, float], synonyms: Sequence[Translation]) -> None:
    """Give words that the index does not hold the weight of the synonyms they are searched as."""
    spread: dict[str, float] = {}
    for synonym in synonyms:
        if not any(weights.get(token) for token in synonym.source):
            weight = SYNONYM_WEIGHT * sum(weights[token] for word in synonym.words for token in word.tokens)
            for token in synonym.source:
                spread[token] = max(weight / len(synonym.source), spread.get(token, 0.0))
    weights |= {token: weight for token, weight in spread.items() if token in weights}


async def _importance(
    context: SearchContext, rarity: Mapping[str, float], statistics: TermStatistics
) -> dict[str, float]:
    """Weigh tokens as keywords: by idf, or by their entropy over the passages that hold them."""
    if context.options.keyword_ranking != "entropy":
        return dict(rarity)
    engine = context.index.engine
    held = [token for token in rarity if statistics.frequencies[token]]
    samples = await asyncio.gather(*(engine.term_frequencies(token, ENTROPY_SAMPLE) for token in held))
    weights = dict.fromkeys(rarity, 0.0)
    for token, sample in zip(held, samples, strict=True):
        # A larger term's entropy is at least that of its sample, plus what the rest spreads it further.
        spread = term_entropy(sample) + _log_ratio(statistics.frequencies[token], len(sample))
        weights[token] = max(0.0, _log_ratio(statistics.passages, 1) - spread) if sample else 0.0
    return weights


def _log_ratio(count: int, other: int) -> float:
    return math.log(count / other) if count and other else 0.0
