"""Query writing: each query in terms suited to each kind of source (SPAR, appendix A.1).

Without a model the terms are the query's own words and their counterparts in the other language.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from generator.finding.request import FindResources
from generator.finding.state import SearchQuery
from generator.model_step import ModelStep, constant
from generator.prompts import load_prompt
from generator.tracing.progress import all_of
from generator.tracing.steps import Step
from indexer.analysis import Analyzer
from retriever.queries.boolean import AnalysedField, Or, Phrase, Query, Term
from retriever.relevance.papers import words_query
from retriever.sources.kinds.index import analysed_word

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
