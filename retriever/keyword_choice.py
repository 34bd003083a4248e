"""The keywords of a question, with spellings, translations and synonyms of its words."""

import asyncio
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from indexer.glossary.storage import Glossary
from retriever.context import SearchContext
from retriever.features import Concept
from retriever.keywords import (
    MOST_TRANSLATED,
    Keyword,
    Translation,
    content_words,
    merge,
    term_entropy,
    token_weights,
    translations,
    weigh,
    words_of,
)
from retriever.question import AnalysedQuestion
from retriever.spelling import near_spellings
from retriever.synonyms import SYNONYM_WEIGHT
from retriever.term_statistics import TermStatistics, term_statistics

ENTROPY_SAMPLE = 256
MOST_SPELLED = 16  # unknown words of a question whose near spellings are looked for


@dataclass(frozen=True, slots=True)
class KeywordChoice:
    """The keywords k1, k2, … and what they were chosen from."""

    keywords: tuple[Keyword, ...]
    token_weights: Mapping[str, float]  # of each token that is searched for
    statistics: TermStatistics
    spellings: Mapping[str, tuple[str, ...]]  # of tokens that the index does not hold
    translations: tuple[Translation, ...]
    concepts: tuple[Concept, ...]
    given: bool = False  # whether the keywords came with the request
    synonym_weights: Mapping[str, float] = field(default_factory=dict)  # of the synonyms' tokens

    def with_keywords(self, keywords: Sequence[Keyword]) -> "KeywordChoice":
        """Return the choice with other keywords, as a person or an agent edits them."""
        kept = tuple(keywords)
        weights = {**self.synonym_weights, **token_weights(kept)}
        return replace(self, keywords=kept, token_weights=weights, given=True)


async def choose_keywords(
    context: SearchContext, question: AnalysedQuestion, *, spellings: bool = True
) -> KeywordChoice:
    """Choose the keywords: the request's, else the rarest words of the question and their translations.

    With `spellings`, tokens that the index does not hold are replaced by their nearest terms there.
    """
    engine, given = context.index.engine, context.request.keywords
    found, words = await context.index.threads.run(_words_and_translations, question, context.index.glossary)
    synonyms = [translation for expansion in question.synonyms for translation in expansion.translations()]
    other = [word for translation in found for word in translation.words]
    alike = [word for translation in synonyms for word in translation.words]
    tokens = {token[0] for token in question.tokens}
    tokens |= {token for word in (*other, *alike, *(given or ())) for token in word.tokens}
    statistics = await term_statistics(engine, tokens)
    spelled = await _spellings(context, question, statistics) if spellings else {}
    statistics = await term_statistics(
        engine, {near for nears in spelled.values() for near in nears}, statistics
    )
    own = [_respelled(word, spelled) for word in content_words(words)]
    tokens = {token for word in (*own, *other, *alike, *(given or ())) for token in word.tokens}
    rarity = {token: statistics.idf(token) for token in sorted(tokens)}
    if given is None:
        weights = await _importance(context, rarity, statistics)
        _weigh_unknown(weights, synonyms)
        ranked = weigh(merge(weigh(own, weights), weigh(other, weights)[:MOST_TRANSLATED]), weights)
        chosen = tuple(keyword for keyword in ranked if keyword.weight > 0)[: context.options.keyword_count]
        weight_of = {token: weights[token] for keyword in chosen for token in keyword.tokens}
    else:
        chosen = given[: context.options.keyword_count]
        weight_of = token_weights(chosen)
    beside = {token: SYNONYM_WEIGHT * rarity[token] for word in alike for token in word.tokens}
    weight_of = {**beside, **weight_of}
    concepts = _concepts(own, [*synonyms, *found], rarity)
    return KeywordChoice(chosen, weight_of, statistics, spelled, found, concepts, given is not None, beside)


def _words_and_translations(
    question: AnalysedQuestion, glossary: Glossary
) -> tuple[tuple[Translation, ...], list[Keyword]]:
    words = words_of(question.text, question.tokens)
    return tuple(translations(question.tokens, glossary)), words


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


def _concepts(
    words: Sequence[Keyword], found: Sequence[Translation], weights: Mapping[str, float]
) -> tuple[Concept, ...]:
    """Join words with their translations."""
    distinct = list(dict.fromkeys(found))
    standing_for: dict[str, list[int]] = defaultdict(list)
    for place, translation in enumerate(distinct):
        for token in translation.source:
            standing_for[token].append(place)
    concepts = []
    for word in words:
        places = {place for token in word.tokens for place in standing_for.get(token, ())}
        concepts.append(_concept(word, [distinct[place] for place in sorted(places)], weights))
    return tuple(concepts)


def _concept(word: Keyword, found: Sequence[Translation], weights: Mapping[str, float]) -> Concept:
    """Join a word with its translations: all tokens of a translation together weigh what the word does."""
    tokens = {token: weights[token] for token in word.tokens}
    weight = sum(tokens.values())
    for translation in found:
        known = [token for other in translation.words for token in other.tokens if weights[token]]
        weight = weight or sum(weights[token] for token in known)
        tokens |= {token: weight / len(known) for token in known if token not in tokens}
    return Concept(word.text, tokens, weight)


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
