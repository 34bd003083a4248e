"""Reasons why a search found nothing, and words or filters that would find something."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from base.records import Recordable
from retriever.engines.term_statistics import term_statistics
from retriever.index import SearchIndex
from retriever.queries.boolean import And, Or, Phrase, Query, Term, or_query
from retriever.queries.filters import FIELDS_OF_FILTER, FilterName, Filters
from retriever.queries.keywords import translations, words_of
from retriever.question import Question
from retriever.request import SearchRequest
from retriever.search import open_search, run_stages, with_conditions
from retriever.settings import RetrieverSettings
from retriever.spelling import near_spellings
from retriever.stages.paper_sets import query_for_papers

MOST_WORDS = 16  # words checked in the index, with their spellings; translations counted

Reason = Literal["nothing to search for", "all queries left out", "filters", "unknown words", "no match"]


@dataclass(frozen=True, slots=True)
class UnknownWord:
    """A word that the index does not contain, and terms of the index with a similar spelling."""

    text: str
    near: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WithoutFilter:
    """The number of passages that the search would match without one of its filters."""

    filter: FilterName
    passages: int


@dataclass(frozen=True, slots=True)
class OtherWords:
    """Translations of words of the question from the glossary, and the number of passages with any."""

    text: str
    passages: int


@dataclass(frozen=True, slots=True)
class NothingFound(Recordable):
    """Why a search found nothing, and changes that would find something.

    `reason` is the first of its values that applies. It is "filters" if the main query matches passages, but
    the filters exclude all of them. `without_filters` counts the passages that match without any filter.
    """

    reason: Reason
    unknown: tuple[UnknownWord, ...]
    without_filter: tuple[WithoutFilter, ...]
    without_filters: int
    other_language: tuple[OtherWords, ...]
    version: int


def nothing_found(index: SearchIndex, request: SearchRequest, settings: RetrieverSettings) -> NothingFound:
    """Explain why a search finds nothing: unknown words, filters that exclude everything, possible words.

    Raises:
        RetrieverError: a question, expression, method or filter that cannot be used.
    """
    context = open_search(index, request, settings)
    stages = run_stages(context, upto="plan")
    question = stages.question or Question(request.question)
    query = stages.main_query(title_weight=settings.title_weight)
    if query is None:
        return NothingFound("nothing to search for", (), (), 0, (), index.manifest.version)
    unknown = _unknown(index, question, query)
    filters = with_conditions(context, stages).request.filters
    less = {name: filters.without_filter(name) for name in FIELDS_OF_FILTER}
    less = {name: fewer for name, fewer in less.items() if fewer != filters}
    sent = query_for_papers(index, query)
    whole, narrowed, *without = index.engine.counts(
        [(sent, each) for each in (Filters(), filters, *less.values())]
    )
    effects = tuple(WithoutFilter(name, count) for name, count in zip(less, without, strict=True) if count)
    planned = stages.plan and stages.plan.names
    reasons: dict[Reason, bool] = {
        "all queries left out": not planned,
        "filters": whole > 0 and not narrowed,
        "unknown words": bool(unknown),
    }
    reason: Reason = next((name for name, applies in reasons.items() if applies), "no match")
    others = _other_words(index, question, replace(filters, lang=None))
    return NothingFound(reason, unknown, effects, whole, others, index.manifest.version)


def _words_of_clauses(query: Query) -> Iterator[tuple[str, tuple[str, ...]]]:
    match query:
        case Term(text=text, tokens=tokens):
            yield text, tokens
        case Phrase(tokens=tokens):
            yield from ((token, (token,)) for _, token in tokens)
        case Or(clauses=clauses) | And(clauses=clauses):
            for clause in clauses:
                yield from _words_of_clauses(clause)


def _unknown(index: SearchIndex, question: Question, query: Query) -> tuple[UnknownWord, ...]:
    """Return the searched words that the index does not contain; for an expression, those of its clauses."""
    words = {word.text: word.tokens for word in words_of(question.text, question.tokens)}
    if question.expression is not None:
        words = dict(_words_of_clauses(query))
    first = dict(list(words.items())[:MOST_WORDS])
    statistics = term_statistics(index.engine, {token for tokens in first.values() for token in tokens})
    held = statistics.frequencies
    missing = {text: of for text, of in first.items() if of and not any(held[token] for token in of)}

    def near(text: str, tokens: tuple[str, ...]) -> UnknownWord:
        """Find near spellings of a word, or of each token if it has several."""
        spelled = [(text, tokens[0])] if len(tokens) == 1 else [(token, token) for token in tokens]
        lexicon, glossary = index.engine.lexicon, index.glossary
        found = [other for pair in spelled for other, _ in near_spellings(*pair, lexicon, glossary)]
        return UnknownWord(text, tuple(dict.fromkeys(found)))

    return tuple(near(*word) for word in missing.items())


def _other_words(index: SearchIndex, question: Question, filters: Filters) -> tuple[OtherWords, ...]:
    found = translations(question.tokens, index.glossary, index.analyzer)[:MOST_WORDS]
    counts = index.engine.counts(
        [(or_query([word.term() for word in each.words]), filters) for each in found]
    )
    words = (OtherWords(each.others, count) for each, count in zip(found, counts, strict=True) if count)
    return tuple(dict.fromkeys(words))
