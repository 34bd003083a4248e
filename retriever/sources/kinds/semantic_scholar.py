"""Semantic Scholar: papers from its Graph API, their references, and the papers that cite them.

The API has two searches. `/paper/search` ranks plain words by relevance and has no syntax.
`/paper/search/bulk` accepts Boolean syntax, but has no order by relevance: its papers are sorted by
citations. An OR of words and phrases goes to the first, any other query to the second.

Format: https://api.semanticscholar.org/api-docs/graph
"""

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from pydantic import Field

from retriever.queries.boolean import Or, Phrase, Query, Term
from retriever.queries.filters import Filters
from retriever.sources import SourceFeatures, SourcePaper
from retriever.sources.settings import Address, Key, WebSettings
from retriever.sources.web.boolean import Syntax, WrittenQuery, plain_words
from retriever.sources.web.client import Call, WebRequest
from retriever.sources.web.records import agreed, at, items, json_in, paper_of, table, text
from retriever.sources.web.source import AskedQuery, Direction, Linked, Page, WebSource, answered, bounds

PER_PAGE = 100  # of the search by relevance
MOST_RANKED = 1_000
BY_CITATIONS = "AND and NOT are not ranked by relevance here: the most cited papers come first"
FIELDS = "paperId,title,abstract,year,externalIds,authors,venue,journal,fieldsOfStudy,citationCount,url"
PAPER = re.compile(r"[0-9a-f]{40}")
LINKS = {"references": "citedPaper", "citations": "citingPaper"}  # path, and the key of the paper in a link


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
    features = SourceFeatures(references=True, citing=True, dois=True, private=False)
    syntax = Syntax(either=" | ", both=" + ", without=" -", titles=False, longest=1_000)
    identifiers = PAPER
    batch = 500

    @staticmethod
    def _headers(settings: Settings) -> dict[str, str]:
        return {"x-api-key": settings.api_key.get_secret_value()} if settings.api_key else {}

    def _write(self, query: Query, k: int, filters: Filters) -> tuple[WrittenQuery, AskedQuery | None]:
        written, asked = super()._write(query, k, filters)
        if asked and self.settings.search == "relevance" and not is_words_alone(asked.query):
            written = replace(written, notes=(*written.notes, BY_CITATIONS))
        return written, asked

    async def _pages(self, asked: AskedQuery, call: Call) -> AsyncIterator[Page]:
        years = bounds(asked.filters)
        parameters = {"fields": FIELDS} | ({"year": f"{years[0]}-{years[1]}"} if years else {})
        if self.settings.search == "relevance" and is_words_alone(
            asked.query
        ):  # words with hyphens match nothing
            words = " ".join(dict.fromkeys(plain_words(asked.text).replace("-", " ").split()))
            for offset in range(0, min(asked.k, MOST_RANKED), PER_PAGE):
                size = min(PER_PAGE, asked.k - offset)
                page = {"query": words, "offset": str(offset), "limit": str(size)}
                found = await self.ask(WebRequest("/paper/search", parameters | page), call, self._read)
                yield found
                if len(found) < size:
                    return
            return
        parameters |= {"query": asked.text, "sort": "citationCount:desc"}
        while True:
            found, token = await self.ask(
                WebRequest("/paper/search/bulk", parameters),
                call,
                lambda content: (self._read(content), text(at(json_in(content), "token"))),
            )
            yield found
            if not token:
                return
            parameters["token"] = token

    def _id_request(self, ids: Sequence[str]) -> WebRequest:
        return WebRequest.of_json("/paper/batch", {"fields": FIELDS}, {"ids": list(ids)})

    def _doi_request(self, dois: Sequence[str]) -> WebRequest:
        return self._id_request([f"DOI:{doi}" for doi in dois])

    async def _follow(self, direction: Direction, ids: Sequence[str], limit: int, call: Call) -> Linked:
        path = "references" if direction == "references" else "citations"
        parameters = {"fields": FIELDS, "limit": str(min(limit, MOST_RANKED))}

        async def linked(paper: str) -> Page:
            request = WebRequest(f"/paper/{paper}/{path}", parameters, absent=b'{"data": []}')
            return await self.ask(request, call, self._read)

        return await answered(ids, linked)

    def _read(self, content: bytes) -> Page:
        answer = json_in(content)
        listed = answer if isinstance(answer, list) else agreed(answer, "data", "total").get("data")
        return [self._paper(table(each)) for each in items(listed) if each]

    def _paper(self, record: Mapping[str, Any]) -> SourcePaper | None:
        record = next((table(record[key]) for key in LINKS.values() if key in record), record)
        values = {
            "id": record.get("paperId"),
            "title": record.get("title"),
            "abstract": record.get("abstract"),
            "year": record.get("year"),
            "doi": at(record, "externalIds", "DOI"),
            "authors": [at(each, "name") for each in items(record.get("authors"))],
            "journal": at(record, "journal", "name") or record.get("venue"),
            "url": record.get("url"),
            "keywords": record.get("fieldsOfStudy"),
            "cited_by_count": record.get("citationCount"),
        }
        return paper_of(self.name, PAPER, values)


open_source = SemanticScholar.open
