"""Filters that a question contains: values of fields (`author:Jang`), and phrases in quotation marks.

A filter that no paper satisfies together with the filters before it has no effect, and a note says so.
Evidence of answers and rankings for evaluation (`rank`) have no filters by phrases: questions quote titles
and names, and other papers help to answer them. Sources have neither.
"""

from collections.abc import Sequence

from base.notes import Note
from indexer.analysis import Analyzer
from retriever.conditions import Conditions, FieldValue
from retriever.queries.boolean import And, Not, Phrase, Query
from retriever.queries.keywords import pattern_of
from retriever.request import SearchContext
from retriever.stages.paper_sets import query_for_papers


def written_filters(context: SearchContext, conditions: Conditions) -> tuple[Query, ...]:
    """Return the filters of a question that some papers satisfy together, and note all filters."""
    index, request = context.index, context.request
    written: list[tuple[str, str, Query]] = []  # kind, text, query
    for value in conditions.fields:
        written += [("fields", value.text, query) for query in fields_of([value], index.analyzer)]
    if request.phrases:
        patterns = {text: pattern_of(index.analyzer.analyze(text)) for text in conditions.phrases}
        phrases = tuple(Phrase(text, pattern) for text, pattern in patterns.items() if pattern)
        shown = ", ".join(f"“{phrase.text}”" for phrase in phrases)
        if phrases:
            query = query_for_papers(index, And(phrases)) if len(phrases) > 1 else phrases[0]
            written.append(("phrases", shown, query))
    found = tuple[Query, ...]()
    noted: dict[str, list[str]] = {}
    for kind, text, query in written:
        [count] = index.engine.counts([(And((*found, query)), request.filters)])
        noted.setdefault(f"{kind}_only" if count else f"{kind}_unknown", []).append(text)
        found += (query,) if count else ()
    for code, texts in noted.items():
        context.recorder.note(Note(code, written=", ".join(texts)))
    return found


def fields_of(values: Sequence[FieldValue], analyzer: Analyzer) -> tuple[Query, ...]:
    """Return the queries of values of fields, without those that have no words."""
    if not values:
        return ()
    from retriever.queries.expert import parse_expression

    read = [(parse_expression(value._replace(is_excluded=False).text, analyzer), value) for value in values]
    return tuple(Not(query) if value.is_excluded else query for query, value in read if query)
