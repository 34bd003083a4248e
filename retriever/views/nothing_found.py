"""Reasons why a search found nothing, and words or filters that would find something."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from base.records import Recordable
from retriever.engines.term_statistics import term_statistics
from retriever.explaining.passages import main_query
from retriever.index import OpenIndex, SearchIndex
from retriever.queries.boolean import And, Or, Phrase, Query, Term, or_query
from retriever.queries.filters import FIELDS_OF_FILTER, FilterName, Filters
from retriever.queries.keywords import translations, words_of
from retriever.question import Question
from retriever.request import SearchRequest
from retriever.search import in_years, open_search, run_stages
from retriever.settings import RetrieverSettings
from retriever.spelling import near_spellings

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


async def nothing_found(
    index: OpenIndex, request: SearchRequest, settings: RetrieverSettings
) -> NothingFound:
    """Explain why a search finds nothing: unknown words, filters that exclude everything, possible words.

    Raises:
        RetrieverError: a question, expression, method or filter that cannot be used.
    """
    return await index.ask(lambda version: _nothing_found(version, request, settings))


async def _nothing_found(
    index: SearchIndex, request: SearchRequest, settings: RetrieverSettings
) -> NothingFound:
    context = open_search(index, request, settings)
    stages = await run_stages(context, upto="plan")
    question = stages.question or Question(request.question)
    query = main_query(stages, title_weight=settings.title_weight)
    if query is None:
        return NothingFound("nothing to search for", (), (), 0, (), index.manifest.version)
    words = dict(_words(question, query))
    unknown = await _unknown(index, words)
    filters = in_years(context, stages).request.filters
    less = {name: fewer for name in FIELDS_OF_FILTER if (fewer := filters.without_filter(name)) != filters}
    whole, narrowed, *without = await index.engine.counts(
        [(query, Filters()), (query, filters), *((query, other) for other in less.values())]
    )
    effects = tuple(WithoutFilter(name, count) for name, count in zip(less, without, strict=True) if count)
    reason: Reason = "no match"
    if not stages.plan or not stages.plan.names:
        reason = "all queries left out"
    elif whole and not narrowed:
        reason = "filters"
    elif unknown:
        reason = "unknown words"
    others = await _other_words(index, question, replace(filters, lang=None))
    return NothingFound(reason, unknown, effects, whole, others, index.manifest.version)


def _words(question: Question, query: Query) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the searched words with their tokens; for an expression, the words of its clauses."""
    if question.expression is None:
        yield from ((word.text, word.tokens) for word in words_of(question.text, question.tokens))
    else:
        yield from _words_of_clauses(query)


def _words_of_clauses(query: Query) -> Iterator[tuple[str, tuple[str, ...]]]:
    match query:
        case Term(text=text, tokens=tokens):
            yield text, tokens
        case Phrase(tokens=tokens):
            for _, token in tokens:
                yield token, (token,)
        case Or(clauses=clauses) | And(clauses=clauses):
            for clause in clauses:
                yield from _words_of_clauses(clause)


async def _unknown(index: SearchIndex, words: dict[str, tuple[str, ...]]) -> tuple[UnknownWord, ...]:
    first = dict(list(words.items())[:MOST_WORDS])
    statistics = await term_statistics(index.engine, {token for tokens in first.values() for token in tokens})
    found = []
    for text, tokens in first.items():
        if tokens and not any(statistics.frequencies[token] for token in tokens):
            near = await index.threads.run(_near, index, text, tokens)
            found.append(UnknownWord(text, tuple(dict.fromkeys(near))))
    return tuple(found)


def _near(index: SearchIndex, text: str, tokens: tuple[str, ...]) -> list[str]:
    """Return near spellings of a word, or of each token if it has several."""
    words = [(text, tokens[0])] if len(tokens) == 1 else [(token, token) for token in tokens]
    return [
        near
        for word, token in words
        for near, _ in near_spellings(word, token, index.engine.lexicon, index.glossary)
    ]


async def _other_words(index: SearchIndex, question: Question, filters: Filters) -> tuple[OtherWords, ...]:
    found = await index.threads.run(translations, question.tokens, index.glossary, index.analyzer)
    asked: Sequence[tuple[Query, Filters]] = [
        (or_query([word.term() for word in translation.words]), filters) for translation in found[:MOST_WORDS]
    ]
    counts = await index.engine.counts(asked)
    words = (OtherWords(each.others, count) for each, count in zip(found, counts, strict=False) if count)
    return tuple(dict.fromkeys(words))
