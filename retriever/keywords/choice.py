"""The keywords of a question, with spellings, translations and synonyms of its words."""

import math
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from indexer.analysis import Analyzer
from indexer.analysis.tokens import TaggedToken
from indexer.analysis.word_roles import ROLES, SUBJECT_ROLES, Role, is_common
from retriever.engines.term_statistics import TermStatistics, term_statistics
from retriever.keywords.given import given_keywords
from retriever.opening.synonyms import SYNONYM_WEIGHT
from retriever.opening.worker_threads import together
from retriever.queries.keywords import (
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
from retriever.question.analysis import AnalysedQuestion, common_tokens
from retriever.question.concepts import Concept, make_concepts
from retriever.question.spelling import near_spellings
from retriever.question.word_forms import form_translations, noun_parts, segmentations
from retriever.requests.context import SearchContext

COMMON = "common"  # the group of words of any paper
SUBJECT = ("noun", "other", COMMON)  # groups of keywords about the subject, in their order
ENTROPY_SAMPLE = 256
MOST_SPELLED = 16  # unknown words of a question that are checked for near spellings


@dataclass(frozen=True, slots=True)
class KeywordChoice:
    """The keywords k1, k2, … with the statistics and concepts behind them."""

    keywords: tuple[Keyword, ...]
    token_weights: Mapping[str, float]  # of each searched token
    statistics: TermStatistics
    spellings: Mapping[str, tuple[str, ...]]  # of tokens that the index does not contain
    concepts: tuple[Concept, ...]
    given: bool = False  # whether the keywords came with the request
    ranked: bool = True  # whether they are in the order of their importance
    synonym_weights: Mapping[str, float] = field(default_factory=dict)  # of the synonyms' tokens
    has_counterparts: bool = False  # whether the index holds a counterpart, even if concepts leave it out

    def with_keywords(self, keywords: Sequence[Keyword]) -> "KeywordChoice":
        """Return the choice with keywords that a person or an agent edited."""
        kept = tuple(keywords)
        weights = {**self.synonym_weights, **token_weights(kept)}
        return replace(self, keywords=kept, token_weights=weights, given=True, ranked=False)


async def choose_keywords(
    context: SearchContext, question: AnalysedQuestion, *, spellings: bool = True
) -> KeywordChoice:
    """Choose the keywords: the request's, else the question's most important words and their translations.

    Importance is tf · idf, with tf weighted by the word's role in the question. Verbs, adjectives and
    counters follow all nouns, and words of any paper (이후, since, effect) follow these. Words of the
    request (요약, please) and question words become keywords only if the index holds no others.

    With `spellings`, unknown words are replaced by near spellings, and abbreviations and loanwords are
    searched for by their other forms too.
    """
    index, engine = context.index, context.index.engine
    looked_up = await index.threads.run(_look_up, context, question, spellings)
    statistics = await term_statistics(engine, looked_up.tokens(question))
    unknown = [tagged for tagged in question.tagged if not statistics.frequencies[tagged[0][0]]]
    spelled: Mapping[str, tuple[str, ...]] = {}
    if spellings and unknown:
        spelled = await index.threads.run(_spellings, context, question, unknown)
        statistics = await term_statistics(
            engine, (near for of in spelled.values() for near in of), statistics
        )
    importance = await _importance(context, statistics)
    return await index.threads.run(_choose, context, question, looked_up, statistics, spelled, importance)


@dataclass(frozen=True, slots=True)
class LookedUp:
    """Counterparts of a question's words, and the keywords of the request."""

    found: tuple[Translation, ...]
    synonyms: tuple[Translation, ...]
    parts: tuple[Translation, ...]  # of nouns; these make no keywords
    given: tuple[Keyword, ...] | None  # None: statistics choose
    rank_given: bool

    def tokens(self, question: AnalysedQuestion) -> set[str]:
        """Return all tokens whose document frequencies are needed."""
        words = [word for each in (*self.found, *self.synonyms, *self.parts) for word in each.words]
        return {token[0] for token in question.tokens} | {
            token for word in (*words, *(self.given or ())) for token in word.tokens
        }


def _look_up(context: SearchContext, question: AnalysedQuestion, spellings: bool) -> LookedUp:
    """Find the counterparts of a question's words, and analyse typed keywords."""
    index, request = context.index, context.request
    found = translations(
        question.tokens, index.glossary, index.analyzer, question.units, index.engine.lexicon
    )
    if spellings and "word-forms" not in context.options.without:
        forms = form_translations(question, found, index.glossary, index.analyzer)
        found = [*found, *forms]
        for form in forms:
            context.recorder.note(form.note)
        if index.engine.lexicon is not None:
            found += segmentations(question, index.engine.lexicon)
    synonyms = [translation for expansion in question.synonyms for translation in expansion.translations()]
    given = request.analysed_keywords
    if request.typed_keywords:
        other = [word for translation in found for word in translation.words]
        given = _analysed(request.typed_keywords, question, other, index.analyzer)
    rank_given = context.options.rank_given_keywords and not request.typed_keywords
    parts = tuple(noun_parts(question, index.engine.lexicon))
    return LookedUp(tuple(found), tuple(synonyms), parts, given, rank_given)


def _choose(
    context: SearchContext,
    question: AnalysedQuestion,
    looked_up: LookedUp,
    statistics: TermStatistics,
    spelled: Mapping[str, tuple[str, ...]],
    importance: Mapping[str, float],
) -> KeywordChoice:
    """Weigh the words, and make the concepts."""
    found, synonyms, given = looked_up.found, looked_up.synonyms, looked_up.given
    typed, most = bool(context.request.typed_keywords), context.options.keyword_count
    if given is not None and not looked_up.rank_given:
        usable = [_respelled(keyword, spelled) if typed else keyword for keyword in given if keyword.tokens]
        chosen = tuple(usable[:most])
        _note_unused(context, [keyword for keyword in given if not keyword.tokens], len(usable))
        weight_of = token_weights(chosen)
    else:
        frequencies = _frequencies(question, found, spelled)
        weights = {token: frequencies.get(token, 1.0) * weight for token, weight in importance.items()}
        _weigh_unknown(weights, synonyms)
        ranked = _ranked(question, found, spelled, weights) if given is None else weigh(given, weights)
        chosen = tuple(keyword for keyword in ranked if keyword.weight > 0)[:most]
        weight_of = {token: weights[token] for keyword in chosen for token in keyword.tokens}
    synonym_weights = {
        token: SYNONYM_WEIGHT * statistics.known_idf(token)
        for synonym in synonyms
        for word in synonym.words
        for token in word.tokens
    }
    weighted = "weights" not in context.options.without
    counterparts = [] if "counterparts" in context.options.without else [*synonyms, *found, *looked_up.parts]
    concepts = make_concepts(question, counterparts, spelled, statistics, weighted=weighted)
    return KeywordChoice(
        chosen,
        {**synonym_weights, **weight_of},
        statistics,
        spelled,
        concepts,
        given=given is not None,
        ranked=given is None or looked_up.rank_given,
        synonym_weights=synonym_weights,
        has_counterparts=any(statistics.holds(each.pattern) for each in (*synonyms, *found)),
    )


def _analysed(
    typed: Sequence[str], question: AnalysedQuestion, other: Sequence[Keyword], analyzer: Analyzer
) -> tuple[Keyword, ...]:
    """Analyse keywords that a person typed; the question's own words and their translations are known."""
    own = [word for role in ROLES for word in _words(question, {}, {role})]
    return given_keywords(typed, analyzer, [*own, *other])


def _note_unused(context: SearchContext, dropped: Sequence[Keyword], usable: int) -> None:
    """Add notes on given keywords that produce no query."""
    if dropped:
        texts = ", ".join(keyword.text for keyword in dropped)
        context.recorder.note(f"nothing to search for in {texts}: only stop words, punctuation or signs")
    if usable > (most := context.options.keyword_count):
        context.recorder.note(f"of the {usable} keywords only the first {most} are searched for")


def _words(
    question: AnalysedQuestion, spelled: Mapping[str, tuple[str, ...]], roles: Container[Role]
) -> list[Keyword]:
    """Split the question into words, with their tokens of some roles."""
    tokens = [token for token in question.tokens if question.roles[token[0]] in roles]
    if not tokens:
        return []
    return [_respelled(word, spelled) for word in words_of(question.text, tokens)]


def _ranked(
    question: AnalysedQuestion,
    found: Sequence[Translation],
    spelled: Mapping[str, tuple[str, ...]],
    weights: Mapping[str, float],
) -> list[Keyword]:
    """Rank the subject of the question, nouns first; without one the words of its request, or question words.

    Words of any paper come last of the subject, with their translations. Translations of the general
    glossary rank after the other words of their role. They include everyday words, which would outrank the
    question's own words if its language is the rarer one in the index.
    """
    common = common_tokens(question.text, question.tagged)
    own: dict[str, list[Keyword]] = defaultdict(list)
    mined: dict[str, list[Keyword]] = defaultdict(list)
    general: dict[str, list[Keyword]] = defaultdict(list)
    for role in ROLES:
        for word in _words(question, spelled, {role}):
            own[_group(role, word.tokens, common)].append(word)
    for translation in found:
        role = min((question.roles[token] for token in translation.source), key=ROLES.index)
        listed = general if translation.origin == "general" else mined
        group = _group(role, translation.source, common)
        for word in translation.words:
            is_also_common = group in SUBJECT and all(is_common(word.text, token) for token in word.tokens)
            listed[COMMON if is_also_common else group].append(word)

    def ranked(group: str) -> list[Keyword]:
        words = merge(weigh(own[group], weights), weigh(mined[group], weights)[:MOST_TRANSLATED])
        words = [*weigh(words, weights), *weigh(general[group], weights)[:MOST_TRANSLATED]]
        return [keyword for keyword in words if keyword.weight > 0]

    subject = merge([keyword for group in SUBJECT for keyword in ranked(group)], ())
    return subject or ranked("request") or ranked("asking")


def _group(role: Role, tokens: Iterable[str], common: frozenset[str]) -> str:
    """Return the group of a word in the ranking: its role, or the group of words of any paper."""
    return COMMON if role in SUBJECT_ROLES and common.issuperset(tokens) else role


def _frequencies(
    question: AnalysedQuestion, found: Sequence[Translation], spelled: Mapping[str, tuple[str, ...]]
) -> dict[str, float]:
    """Return the weight of each token; counterparts and spellings inherit the weight of their source."""
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


def _spellings(
    context: SearchContext, question: AnalysedQuestion, unknown: Sequence[TaggedToken]
) -> dict[str, tuple[str, ...]]:
    """Find near spellings of a question's words that the index does not hold."""
    index = context.index
    looked_for = {tagged[0][0]: tagged for tagged in reversed(unknown)}
    near: dict[str, tuple[str, ...]] = {}
    for token, tagged in list(looked_for.items())[:MOST_SPELLED]:
        word = question.text[tagged[0][2] : tagged[0][3]]
        if found := near_spellings(word, token, index.engine.lexicon, index.glossary, tag=tagged[1]):
            near[token] = tuple(other for _, other in found)
            words = ", ".join(word for word, _ in found)
            context.recorder.note(f"{word} is in no paper; searched as {words}")
    if len(looked_for) > MOST_SPELLED:
        context.recorder.note(
            f"near spellings were looked for of the first {MOST_SPELLED} unknown words only"
        )
    return near


def _respelled(word: Keyword, spellings: Mapping[str, tuple[str, ...]]) -> Keyword:
    if not any(token in spellings for token in word.tokens):
        return word
    tokens = [near for token in word.tokens for near in (spellings.get(token) or (token,))]
    return replace(word, tokens=tuple(dict.fromkeys(tokens)))


def _weigh_unknown(weights: dict[str, float], synonyms: Sequence[Translation]) -> None:
    """Give words that the index does not hold the weight of their synonyms."""
    spread: dict[str, float] = {}
    for synonym in synonyms:
        if not any(weights.get(token) for token in synonym.source):
            weight = SYNONYM_WEIGHT * sum(weights[token] for word in synonym.words for token in word.tokens)
            for token in synonym.source:
                spread[token] = max(weight / len(synonym.source), spread.get(token, 0.0))
    weights |= {token: weight for token, weight in spread.items() if token in weights}


async def _importance(context: SearchContext, statistics: TermStatistics) -> dict[str, float]:
    """Weigh tokens as keywords: by idf, or by entropy over the passages that hold them; unknown ones 0."""
    if context.options.keyword_ranking != "entropy":
        return {token: statistics.known_idf(token) for token in sorted(statistics.frequencies)}
    engine = context.index.engine
    held = [token for token, frequency in sorted(statistics.frequencies.items()) if frequency]
    samples = await together(*(engine.term_frequencies(token, ENTROPY_SAMPLE) for token in held))
    weights = dict.fromkeys(sorted(statistics.frequencies), 0.0)
    for token, sample in zip(held, samples, strict=True):
        # A larger term's entropy is at least that of its sample, plus what the rest spreads it further.
        spread = term_entropy(sample) + _log_ratio(statistics.frequencies[token], len(sample))
        weights[token] = max(0.0, _log_ratio(statistics.passages, 1) - spread) if sample else 0.0
    return weights


def _log_ratio(count: int, other: int) -> float:
    return math.log(count / other) if count and other else 0.0
