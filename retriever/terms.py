"""The strategy of a search with its analysis: keywords as tokens, exclusions, weights of the formula."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from math import sqrt
from typing import NamedTuple, TypeAlias

from base.notes import Note
from indexer.analysis import Analyzer
from indexer.corpora.papers import Language, language_of
from retriever.compounds import compound_spellings
from retriever.conditions import without_words
from retriever.engines.term_statistics import TermStatistics, term_statistics
from retriever.exclusions import Excluded, analyse_exclusions
from retriever.formula import KEYWORD_WEIGHT, Counterparts, Formula, Weights, keyword_token_weights
from retriever.opening.synonyms import SYNONYM_WEIGHT
from retriever.queries.keywords import WORD, Keyword, Translation
from retriever.question import Question, analyse_question, keyword_weights
from retriever.request import SearchContext
from retriever.statistics_strategist import choose_keywords, find_counterparts, statistics_strategy
from retriever.strategy import LANGUAGES, Strategy, languages_from

SPELLING_WEIGHT = 0.8  # of a near spelling; the word itself weighs 1
MAX_SPELLED = 16  # unknown words of a question that are checked for near spellings

Known = Mapping[str, tuple[str, ...]]  # tokens of words whose analysis is known, by text


class Asked(NamedTuple):
    """A word of a question: its importance (weight times idf), its tokens, and those of its counterparts."""

    importance: float
    forms: tuple[tuple[str, ...], ...]


View: TypeAlias = tuple[Asked, ...]


@dataclass(frozen=True)  # without slots, for cached properties
class SearchTerms:
    """A strategy with its tokens.

    Args:
        strategy: as given, or from statistics.
        question: without its conditions.
        keywords: words of the keywords, most important first, languages in turn: k1, k2, …
        formula: the weights of all tokens.
        exclusions: the excluded things with their names.
        counterparts: of the question's words in the glossary.
    """

    strategy: Strategy
    question: Question
    keywords: tuple[Keyword, ...]
    formula: Formula
    exclusions: tuple[Excluded, ...] = ()
    counterparts: tuple[Translation, ...] = ()

    @cached_property
    def token_weights(self) -> dict[str, float]:
        """The searched tokens with their weights times idf, for snippets and quotations."""
        idf, weights = self.formula.statistics.known_idf, self.formula.query_weights()
        return {token: weight * idf(token) for token, weight in weights.items() if weight * idf(token)}

    @property
    def excluded_tokens(self) -> frozenset[str]:
        """The tokens of the names of excluded things."""
        return frozenset(token for each in self.exclusions for name in each.names for _, token in name)

    @cached_property
    def texts(self) -> dict[str, str]:
        """The written form of each token, the question's first."""
        words = [*self.keywords, *(word for each in self.counterparts for word in each.words)]
        written = {word.tokens[0]: word.text for word in reversed(words) if len(word.tokens) == 1}
        return written | self.question.texts

    @cached_property
    def views(self) -> tuple[View, ...]:
        """The words by which a passage can cover the question.

        The first view is the subject of the question with its counterparts. The others are the keywords of
        each language, unless statistics chose them from the question.
        """
        statistics, asked = self.formula.statistics, self.formula.question
        forms: dict[str, list[tuple[str, ...]]] = {token[0]: [] for token in self.question.subject}
        for each in self.formula.counterparts:
            for token in each.source:
                forms.get(token, []).extend(each.others)
        subject = tuple(
            Asked(asked.get(token, 1.0) * _idf_of_forms(token, others, statistics), ((token,), *others))
            for token, others in forms.items()
        )
        if self.strategy.origin == "statistics":
            return (subject,) if subject else ()
        keywords = (
            tuple(Asked(weight * statistics.idf(token), ((token,),)) for token, weight in view.items())
            for view in self.formula.keywords.values()
        )
        return tuple(filter(None, (subject, *keywords)))


def _idf_of_forms(token: str, others: Sequence[Sequence[str]], statistics: TermStatistics) -> float:
    """Return the idf of a token; of one that the index does not contain, that of its rarest counterpart."""
    known = (statistics.known_idf(other) for form in others for other in form)
    return statistics.known_idf(token) or max(known, default=0.0) or statistics.idf(token)


def read_question(context: SearchContext, *, synonyms: bool) -> Question:
    """Analyse the question of a request without its conditions.

    Exclusions and years come from the request's strategy; without one, from the question's explicit signs.
    """
    index, request, conditions = context.index, context.request, context.conditions
    strategy, keywords = request.strategy, request.keywords or ()
    if strategy is not None:
        keywords = keywords or tuple(text for language in LANGUAGES for text in strategy.keywords(language))
        text = conditions.remaining if conditions.fields else request.question
        if strategy.excluded_texts or strategy.years:
            text = without_words(request.question, strategy.excluded_texts, index.analyzer)
        conditions = replace(conditions, remaining=text, exclude=(), years=None)
    if conditions.expression and not keywords:
        from retriever.queries.expert import parse_expression

        parts = [f"({conditions.expression})", *(f'NOT "{thing}"' for thing in request.exclude)]
        return Question(request.question, expression=parse_expression(" ".join(parts), index.analyzer))
    text = " ".join(keywords) if conditions.expression else conditions.remaining
    return replace(analyse_question(index, text, synonyms=synonyms), conditions=conditions)


def choose_terms(context: SearchContext, question: Question) -> SearchTerms:
    """Return the strategy of a search with its tokens: the request's, else that of statistics."""
    index, request, strategy = context.index, context.request, context.request.strategy
    # A single Korean word is read as a keyword: a token weighs the share of its readings.
    known = {} if question.single_word else {word.text: word.tokens for word in question.words()}
    statistics = term_statistics(index.engine, question.weights, texts=[question.text])
    found = find_counterparts(index, question)
    if strategy is None:
        words = {word.text: word.tokens for each in found for word in each.words}
        others = {token for tokens in words.values() for token in tokens}
        statistics = term_statistics(index.engine, others, statistics, texts=words)
        keywords = choose_keywords(question, found, statistics)
        known |= words
        strategy = statistics_strategy(keywords, question.conditions)
    for each in found:
        if each.origin in {"abbreviation", "sound"}:
            context.recorder.note(each.note)
    if request.keywords:
        strategy = strategy.with_keywords(request.keywords)
    strategy = strategy.excluding(request.exclude)
    spelled = list(_spellings(context, question, statistics))
    terms = _analyse(context, question, strategy, known, found, spelled)
    shown = [*terms.keywords, *(word for each in terms.counterparts for word in each.words)]
    texts = [word.text for word in shown]
    statistics = term_statistics(index.engine, terms.formula.tokens, statistics, texts=texts)
    return replace(terms, formula=replace(terms.formula, statistics=statistics))


def _analyse(
    context: SearchContext,
    question: Question,
    strategy: Strategy,
    known: Known,
    found: Sequence[Translation],
    spelled: Sequence[Counterparts],
) -> SearchTerms:
    """Analyse the keywords and exclusions of a strategy; the statistics are added later."""
    analyzer, glossary = context.index.analyzer, context.index.glossary
    words = {
        language: [
            word
            for text in strategy.keywords(language)
            for word in _analysed_words(text, language, known, analyzer)
        ]
        for language in languages_from(language_of(question.text))
    }
    weights = {language: keyword_token_weights(tokens for _, tokens in of) for language, of in words.items()}
    asked = {*question.weights, *(token for of in weights.values() for token in of)}
    forms = (*_counterparts(question, found), *spelled)
    formula = Formula(question.weights, weights, TermStatistics(0), forms, KEYWORD_WEIGHT[strategy.origin])
    merged = _in_turn([[keyword for keyword, _ in of] for of in words.values()])
    if strategy.has_keywords and not merged:
        context.recorder.note(Note("nothing_in_keywords"))
    return SearchTerms(
        strategy,
        question,
        tuple(merged[: context.settings.keywords]),
        formula,
        analyse_exclusions(strategy, asked, analyzer, glossary),
        tuple(found),
    )


def _analysed_words(
    text: str, language: Language, known: Known, analyzer: Analyzer
) -> Iterator[tuple[Keyword, Weights]]:
    """Yield the words of a keyword with their tokens; compounds find less than words (section 3.1)."""
    for word in [text] if text in known else WORD.findall(text) or [text]:
        tokens = dict.fromkeys(known[word], 1.0) if word in known else keyword_weights(word, analyzer)
        if tokens:
            yield Keyword(word, language, tuple(tokens)), tokens


def _in_turn(ranked: Sequence[Sequence[Keyword]]) -> list[Keyword]:
    """Interleave the ranked keywords of languages; equal ones come once, each weighs 1 / √place."""
    found: dict[tuple[str, ...], Keyword] = {}
    for place, listed in enumerate(zip_longest(*ranked), 1):
        for keyword in filter(None, listed):
            found.setdefault(keyword.tokens, replace(keyword, weight=1 / sqrt(place)))
    return list(found.values())


def _counterparts(question: Question, found: Sequence[Translation]) -> Iterator[Counterparts]:
    """Yield the counterparts of the glossary, and the synonyms of the user's file."""
    by_source: dict[frozenset[str], list[tuple[str, ...]]] = {}
    for each in found:
        by_source.setdefault(each.source, []).append(tuple(token for _, token in each.pattern))
    for source, forms in by_source.items():
        yield Counterparts(tuple(source), tuple(forms))
    for expansion in question.synonyms:
        others = tuple(tuple(token for _, token in each.tokens) for each in expansion.equivalents)
        yield Counterparts(expansion.source, others, SYNONYM_WEIGHT)


def _spellings(
    context: SearchContext, question: Question, statistics: TermStatistics
) -> Iterator[Counterparts]:
    """Yield other spellings of words: in one word or two, and near ones of words that no passage contains."""
    index, text = context.index, question.text
    compounds = compound_spellings(index, text, question.tokens)
    for source, (other, in_two) in compounds.items():
        yield Counterparts(source, (other,), SPELLING_WEIGHT)
        if in_two:
            context.recorder.note(Note("word_in_no_paper", word=in_two.replace(" ", ""), words=in_two))
    unknown = {
        token[0]: (text[token[2] : token[3]], tag)
        for token, tag in question.tagged
        if not statistics.frequencies.get(token[0]) and (token[0],) not in compounds
    }
    if not unknown:
        return
    from retriever.spelling import near_spellings

    for token, (word, tag) in list(unknown.items())[:MAX_SPELLED]:
        if found := near_spellings(word, token, index.engine.lexicon, index.glossary, tag=tag):
            yield Counterparts((token,), tuple((other,) for _, other in found), SPELLING_WEIGHT)
            words = ", ".join(word for word, _ in found)
            context.recorder.note(Note("word_in_no_paper", word=word, words=words))
