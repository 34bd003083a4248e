"""Retrieval: all unsent queries, sent to all sources concurrently, merged with the known papers.

A model writes each query in terms suited to each kind of source (SPAR, appendix A.1). Without a model the
terms are the query's own words and their counterparts in the other language. A query for which the model's
terms find nothing is repeated with its own words, which is this project's addition (`own-words`).
"""

import re
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from base.notes import Note
from generator.finding.state import (
    FindingState,
    FindResources,
    FoundBy,
    SearchQuery,
    Understanding,
    found_again,
)
from generator.model_step import ModelStep, constant
from generator.prompts import load_prompt
from generator.tracing import Step, all_of
from indexer.analysis import Analyzer
from retriever.errors import SourceFailed
from retriever.queries.boolean import AnalysedField, Or, Phrase, Query, Term
from retriever.relevance.papers import words_query
from retriever.sources import Source, SourceAnswer
from retriever.sources.kinds.index import analysed_word
from retriever.sources.merging import LimitedSource, Merged, ask_sources, merge, notes_of

# Query writing

OWN_INDEXES = frozenset({"index", "elasticsearch"})  # queried with an OR of words, ranked by BM25
# Vocabulary by kind of source; other kinds get the advice for an index.
ADVICE: Mapping[str, str] = {
    "index": "terms of titles and abstracts, in Korean and in English",
    "elasticsearch": "terms of titles and abstracts, in Korean and in English",
    "scienceon": "Korean technical terms first, then English ones",
    "openalex": "broader academic terms, those of neighbouring fields and the field of study, in English",
    "semantic_scholar": "technical terms, names of methods and of researchers known for them, in English",
    "arxiv": "terms of physics, mathematics and computer science, in English",
    "pubmed": "MeSH headings, each with [mh] behind it, and substances, diseases, biological processes and "
    "clinical terms as abstracts name them, in English",
    "wikipedia": "titles of articles that explain the subject",
}

# A MeSH heading in PubMed's syntax; a slash precedes a subheading.
HEADING = re.compile(r"([^/\[\]]+)(?:/[^\[\]]*)?\[(?:mh|mesh|majr)\b[^\[\]]*\]", re.IGNORECASE)
WITH_HEADINGS = frozenset({"pubmed"})

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]


class SourceTerms(BaseModel):
    """The search terms for one kind of source."""

    source: str
    terms: Annotated[list[Text], Field(min_length=1, max_length=10)]


class WrittenQueries(BaseModel):
    """The model's search terms for all kinds of source."""

    sources: Annotated[list[SourceTerms], Field(min_length=1, max_length=10)]


@dataclass(frozen=True, slots=True)
class WrittenQuery:
    """A query for each kind of source, and the fallback in its own words."""

    by_kind: Mapping[str, Query]
    own: Or

    @property
    def has_other_words(self) -> bool:
        """Whether the query for any kind of source differs from its own words."""
        return bool(self.own.clauses) and any(query is not self.own for query in self.by_kind.values())


async def write_queries(
    queries: Sequence[SearchQuery], kinds: Sequence[str], resources: FindResources, step: Step
) -> list[WrittenQuery]:
    """Return each query in its form for these kinds of source."""
    with_model = resources.model is not None and resources.request.does("query-writing")
    owns = [words_query(await resources.relevance.words(query.text)) for query in queries]

    async def written(query: SearchQuery, own: Or) -> WrittenQuery:
        if not with_model:
            return WrittenQuery(dict.fromkeys(kinds, own), own)

        writing: ModelStep[WrittenQueries, dict[str, list[str]]] = ModelStep(
            "query-writing",
            load_prompt("query_writing", resources.request.language),
            {
                "sources": [f"{kind}: {ADVICE.get(kind, ADVICE['index'])}" for kind in kinds],
                "question": query.text,
            },
            WrittenQueries,
            read=lambda reply: {each.source.strip().lower(): each.terms for each in reply.value.sources},
            fallback="the query's own words",
            otherwise=constant({}),
            inputs={"query": query.text},
        )
        terms = await writing.run(step, resources.model, resources.allowance)
        analyzer, threads = resources.relevance.analyzer, resources.relevance.threads
        chosen: dict[str, Query] = {}
        for kind in kinds:
            made = await threads.run(_terms_query, terms.get(kind, ()), kind, analyzer)
            chosen[kind] = made if made.clauses else own
        return WrittenQuery(chosen, own)

    return await all_of(map(written, queries, owns))


def _terms_query(terms: Sequence[str], kind: str, analyzer: Analyzer) -> Or:
    """Join terms by OR; for services, a term of several words becomes a phrase.

    A MeSH heading (`Methane[mh]`) becomes an ordinary term for sources without headings.
    """
    clauses: dict[tuple[str, AnalysedField], Term | Phrase] = {}
    for term in terms:
        heading = HEADING.fullmatch(term.strip())
        text = heading[1].strip() if heading else term
        field: AnalysedField = "heading" if heading and kind in WITH_HEADINGS else "text"
        alone = kind in OWN_INDEXES or " " not in text
        word = analysed_word(Term(text, (), field) if alone else Phrase(text, (), field), analyzer)
        if word.tokens:
            clauses.setdefault((text, field), word)
    return Or(tuple(clauses.values()))


# Retrieval


async def retrieve(state: FindingState, resources: FindResources, step: Step) -> FindingState:
    """Send the unsent queries; raises SourceFailed if no source has ever answered."""
    unsent = [query for query in state.queries if query.found is None]
    if not unsent or resources.allowance.time_is_over:
        return state
    with step.step("retrieval", queries=[query.text for query in unsent]) as retrieval:
        if resources.ranks and unsent[0].kind == "question":
            state = await _rank(state, unsent.pop(0), resources, retrieval)
            if not unsent:
                return state
        chosen = chosen_sources(resources.sources, state.understanding)
        kinds = sorted({source.kind for source in chosen})
        written = await write_queries(unsent, kinds, resources, retrieval)
        state = await _send(state, unsent, [each.by_kind for each in written], resources, retrieval)
        if resources.request.does("own-words"):
            state = await _send_own_words(state, unsent, written, resources, retrieval)
        return state


async def _rank(
    state: FindingState, query: SearchQuery, resources: FindResources, step: Step
) -> FindingState:
    """Add the papers of the question itself in the order of `shrag`."""
    with step.step("ranking", question=resources.request.question) as ranking:
        try:
            merged, notes = await resources.ranking.papers(resources.request.filters, state.merged)
        except SourceFailed as error:
            return _unanswered(state, error, step)
        ranking.notes += notes
        ranking.output = {"papers": sum(map(len, merged.found))}
    return await resources.relevance.threads.run(_with_found, state, [query], merged)


def _unanswered(state: FindingState, error: SourceFailed, step: Step) -> FindingState:
    """Note that sources failed; raise the error if no paper is known."""
    if not state.papers:
        raise error
    step.notes.append(Note("queries_unanswered", error=str(error)))
    return state


async def _send_own_words(
    state: FindingState,
    sent: Sequence[SearchQuery],
    written: Sequence[WrittenQuery],
    resources: FindResources,
    step: Step,
) -> FindingState:
    """Repeat queries for which the model's terms found nothing; they are marked as unsent until then."""
    others = {query.text: each for query, each in zip(sent, written, strict=True) if each.has_other_words}
    empty = [query for query in state.queries if query.found == () and query.text in others]
    if not empty:
        return state
    again = {query: replace(query, found=None) for query in empty}
    state = replace(state, queries=tuple(again.get(query, query) for query in state.queries))
    if resources.allowance.time_is_over:
        return state
    step.notes.append(Note("model_terms_empty", empty=len(empty), sent=len(sent)))
    unsent = list(again.values())
    with step.step("own-words", queries=[query.text for query in unsent]) as own_words:
        kinds = [source.kind for source in resources.sources]
        asked = [dict.fromkeys(kinds, others[query.text].own) for query in unsent]
        return await _send(state, unsent, asked, resources, own_words)


async def _send(
    state: FindingState,
    queries: Sequence[SearchQuery],
    asked: Sequence[Mapping[str, Query]],
    resources: FindResources,
    step: Step,
) -> FindingState:
    """Send each source the queries for its kind; queries stay unsent if no source answers."""
    sources, request = chosen_sources(resources.sources, state.understanding), resources.request
    kind_of = {source.name: source.kind for source in sources}

    def ask(source: Source) -> Awaitable[SourceAnswer]:
        queries = [(each[kind_of[source.name]], request.per_query) for each in asked]
        return source.search(queries, filters=request.filters)

    try:
        given = await ask_sources(sources, ask)
    except SourceFailed as error:
        return _unanswered(state, error, step)
    step.notes += notes_of(given)
    threads, years = resources.relevance.threads, request.filters.years
    merged = await threads.run(merge, given.answers, state.merged, several=len(resources.sources) > 1)
    step.output = {
        "papers": sum(map(len, merged.found)),
        "new": len(merged.papers) - len(state.papers),
        "requests": sum(answer.requests for answer in given.answers.values()),
        "filters": [years.low, years.high] if years else None,
    }
    return await threads.run(_with_found, state, queries, merged)


def _with_found(state: FindingState, sent: Iterable[SearchQuery], merged: Merged) -> FindingState:
    """Record the papers found by each query, and the queries that found each paper."""
    papers, answered = dict(state.papers), {}
    found_lists = [*merged.found, *[()] * len(state.queries)]  # without sources, nothing is found
    for query, found in zip(sent, found_lists, strict=False):
        answered[query] = replace(query, found=found)
        for rank, paper_id in enumerate(found, 1):
            by = FoundBy("query", query.text, rank)
            papers[paper_id] = found_again(papers.get(paper_id), merged.papers[paper_id], by, layer=0)
    queries = tuple(answered.get(query, query) for query in state.queries)
    return replace(state, queries=queries, papers=papers)


def chosen_sources(
    sources: Iterable[LimitedSource], understanding: Understanding | None
) -> list[LimitedSource]:
    """Return the sources named by the understanding; all if none is named."""
    named = set(understanding.sources) if understanding else set()
    return [source for source in sources if not named or source.name in named]
