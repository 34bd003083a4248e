"""Phrases in quotation marks: `search` lists only the papers that contain all of them.

If no paper does, the marks have no effect, and a note says so. Rankings for evaluation (`rank`) and the
evidence of answers ignore the marks: questions quote titles and names, and other papers help to answer them.
"""

import re
from dataclasses import replace

from base.notes import Note
from retriever.conditions import find_conditions, split_fields
from retriever.methods import method_named
from retriever.queries.boolean import And, Phrase
from retriever.queries.keywords import pattern_of
from retriever.request import SearchContext
from retriever.stages.paper_sets import query_for_papers

QUOTED = re.compile(r"\"([^\"]{2,200})\"|“([^“”]{2,200})”")
MOST_PHRASES = 10


def with_phrases(context: SearchContext) -> SearchContext:
    """Return the context with the quoted phrases of its question as a filter, and note the filter.

    Sources have no such filter; they receive the question as it is.
    """
    request, index = context.request, context.index
    applies = request.conditions and method_named(request.method).has_conditions
    if not applies or index.engine.lexicon is None:
        return context
    text, _ = split_fields(find_conditions(request.question).remaining)
    quoted = ["".join(groups) for groups in QUOTED.findall(text)]
    patterns = {text: pattern_of(index.analyzer.analyze(text)) for text in quoted[:MOST_PHRASES]}
    phrases = tuple(Phrase(text, pattern) for text, pattern in patterns.items() if pattern)
    if not phrases:
        return context
    query = query_for_papers(index, And(phrases)) if len(phrases) > 1 else phrases[0]
    [count] = index.engine.counts([(query, request.filters)])
    shown = ", ".join(f"“{phrase.text}”" for phrase in phrases)
    context.recorder.note(Note("phrase_only" if count else "phrase_unknown", phrases=shown))
    filters = replace(request.filters, written=(*request.filters.written, query))
    return context.with_filters(filters) if count else context
