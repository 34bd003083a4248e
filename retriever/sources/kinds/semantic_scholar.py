"""Semantic Scholar: papers from its Graph API, their references, and the papers that cite them.

The API has two searches. `/paper/search` ranks plain words by relevance and has no syntax.
`/paper/search/bulk` accepts Boolean syntax, but has no order by relevance: its papers are sorted by
citations. An OR of words and phrases goes to the first, any other query to the second.

Format: https://api.semanticscholar.org/api-docs/graph
"""

import re
from collections.abc import AsyncIterator, Sequence
from typing import Literal

from pydantic import Field

from indexer.corpora.readers.mapping import Table, first, map_record
from retriever.queries.boolean import Or, Phrase, Query, Term
from retriever.sources import LinkKind, SourceFeatures
from retriever.sources.settings import Address, Key, WebSettings
from retriever.sources.web.boolean import Syntax, plain_words
from retriever.sources.web.client import Call, WebRequest
from retriever.sources.web.records import agreed, items, json_in, table
from retriever.sources.web.source import AskedQuery, Linked, Page, WebSource, bounds

MOST_RANKED = 1_000  # of the search by relevance
BY_CITATIONS = "AND and NOT are not ranked by relevance here: the most cited papers come first"
FIELDS = "paperId,title,abstract,year,externalIds,authors,venue,journal,fieldsOfStudy,citationCount,url"
PAPER = re.compile(r"[0-9a-f]{40}")
RECORD: Table = {
    "id": "paperId",
    "title": "title",
    "abstract": "abstract",
    "year": "year",
    "doi": "externalIds/DOI",
    "authors": ("authors/name",),
    "journal": "journal/name|venue",
    "url": "url",
    "keywords": ("fieldsOfStudy",),
    "cited_by_count": "citationCount",
}


class Settings(WebSettings):
    """Address and key of Semantic Scholar."""

    url: Address = "https://api.semanticscholar.org/graph/v1"
    api_key: Key | None = Field(default=None, description="key of the service")
    search: Literal["relevance", "bulk"] = Field(
        default="relevance", description="order of hits: relevance, or bulk, by citations, for all queries"
    )


def is_words_alone(query: Query) -> bool:
    """Check whether a query is an OR of words and phrases."""
    if isinstance(query, Or):
        return all(map(is_words_alone, query.clauses))
    return isinstance(query, Term | Phrase)


class SemanticScholar(WebSource):
    """Semantic Scholar, open until `close`."""

    settings: Settings
    service = "Semantic Scholar"
    features = SourceFeatures(references=True, dois=True, private=False)
    syntax = Syntax(either=" | ", both=" + ", without=" -", titles=False, longest=1_000)
    identifiers = PAPER
    batch = 500
    per_page = 100
    key_header = "x-api-key"

    def _page_request(self, asked: AskedQuery, start: int, size: int) -> WebRequest:
        # Words with hyphens match nothing.
        words = " ".join(dict.fromkeys(plain_words(asked.text).replace("-", " ").split()))
        page = {"query": words, "offset": str(start), "limit": str(size)}
        return WebRequest("/paper/search", _parameters(asked) | page)

    async def _pages(self, asked: AskedQuery, k: int, call: Call) -> AsyncIterator[Page]:
        if self.settings.search == "relevance":
            if is_words_alone(asked.query):
                async for page in super()._pages(asked, min(k, MOST_RANKED), call):
                    yield page
                return
            call.notes.append(BY_CITATIONS)
        parameters = _parameters(asked) | {"query": asked.text, "sort": "citationCount:desc"}
        while True:
            found, token = await self.ask(
                WebRequest("/paper/search/bulk", parameters),
                call,
                lambda content: (self._read(content), first(json_in(content), "token")),
            )
            yield found
            if not token:
                return
            parameters["token"] = token

    def _id_request(self, ids: Sequence[str]) -> WebRequest:
        return WebRequest.of_json("/paper/batch", {"fields": FIELDS}, {"ids": list(ids)})

    def _doi_request(self, dois: Sequence[str]) -> WebRequest:
        return self._id_request([f"DOI:{doi}" for doi in dois])

    async def _follow(self, kind: LinkKind, ids: Sequence[str], limit: int, call: Call) -> Linked:
        path = "references" if kind == "reference" else "citations"
        parameters = {"fields": FIELDS, "limit": str(min(limit, MOST_RANKED))}

        def links(paper: str) -> WebRequest:
            return WebRequest(f"/paper/{paper}/{path}", parameters)

        return await self.follow_requests(ids, links, call)

    def _read(self, content: bytes) -> Page:
        answer = json_in(content)
        listed = answer if isinstance(answer, list) else agreed(answer, "data", "total").get("data")
        papers = (
            each.get("citedPaper") or each.get("citingPaper") or each for each in map(table, items(listed))
        )
        return [self._paper(map_record(each, RECORD)) for each in papers if each]


def _parameters(asked: AskedQuery) -> dict[str, str]:
    years = bounds(asked.filters)
    return {"fields": FIELDS} | ({"year": f"{years[0]}-{years[1]}"} if years else {})


open_source = SemanticScholar
