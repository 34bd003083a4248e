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
from retriever.sources.web.boolean import Syntax, WrittenQuery, plain_words, searched_everywhere
from retriever.sources.web.client import WebRequest
from retriever.sources.web.records import (
    address,
    agreed,
    at,
    count,
    doi,
    identifier,
    items,
    json_in,
    paper_of,
    table,
    text,
    texts,
    year,
)
from retriever.sources.web.source import AskedQuery, Conversation, Direction, Page, WebSource, answered

PER_PAGE = 100  # of the search by relevance and of references
BATCH = 500
MOST_RANKED = 1_000
BY_CITATIONS = "AND and NOT are not ranked by relevance here: the most cited papers come first"
FIELDS = "paperId,title,abstract,year,externalIds,authors,venue,journal,fieldsOfStudy,citationCount,url"
PAPER = re.compile(r"[0-9a-f]{40}")


class Settings(WebSettings):
    """Address and key of Semantic Scholar."""

    url: Address = "https://api.semanticscholar.org/graph/v1"
    api_key: Key | None = Field(default=None, description="key of the service")
    search: Literal["relevance", "bulk"] = Field(
        default="relevance", description="order of hits: relevance, or bulk, by citations, for all queries"
    )


SYNTAX = Syntax(word=searched_everywhere, either=" | ", both=" + ", without=" -", titles=False, longest=1_000)


def is_words_alone(query: Query) -> bool:
    """Check whether a query is an OR of words and phrases."""
    if isinstance(query, Or):
        return all(map(is_words_alone, query.clauses))
    return isinstance(query, Term | Phrase)


def ranked_words(text: str) -> str:
    """Return the words of a written OR, each once; hyphenated words are split, since they match nothing."""
    return " ".join(dict.fromkeys(plain_words(text).replace("-", " ").split()))


def years_text(filters: Filters) -> str:
    """Format years as the parameter `year`: 2019-2024, 2019-, -2024; "" for all."""
    years = filters.years
    return f"{years.low or ''}-{years.high or ''}" if years and (years.low or years.high) else ""


def read_papers(content: bytes, source: str, inside: str = "") -> tuple[list[SourcePaper | None], str]:
    """Parse a page of papers, or of references with papers `inside` them, and the key of the next page."""
    answer = json_in(content)
    listed = answer if isinstance(answer, list) else agreed(answer, "data", "total").get("data")
    records = [each for each in items(listed) if each]
    papers = [read_paper(table(at(each, inside) if inside else each), source) for each in records]
    return papers, text(at(answer, "token"))


def read_paper(record: Mapping[str, Any], source: str) -> SourcePaper | None:
    """Parse a paper; its id is its paperId."""
    return paper_of(
        source,
        {
            "id": identifier(record.get("paperId"), PAPER),
            "title": text(record.get("title")),
            "abstract": text(record.get("abstract")),
            "year": year(record.get("year")),
            "doi": doi(at(record, "externalIds", "DOI")),
            "authors": texts(at(each, "name") for each in items(record.get("authors"))),
            "journal": text(at(record, "journal", "name")) or text(record.get("venue")),
            "url": address(record.get("url")),
            "keywords": texts(items(record.get("fieldsOfStudy"))),
            "cited_by_count": count(record.get("citationCount")),
        },
    )


class SemanticScholar(WebSource):
    """Semantic Scholar, open until `close`."""

    service = "Semantic Scholar"
    features = SourceFeatures(references=True, citing=True, dois=True, private=False)
    syntax = SYNTAX
    identifiers = PAPER
    batch = BATCH

    def __init__(self, name: str, settings: Settings) -> None:
        """Create the source; the first question connects."""
        key = {"x-api-key": settings.api_key.get_secret_value()} if settings.api_key else {}
        super().__init__(name, settings, key)
        self._ranked = settings.search == "relevance"

    def write(self, query: Query, k: int, filters: Filters) -> tuple[WrittenQuery, AskedQuery | None]:
        """Convert a query; a note says that Boolean queries are not ordered by relevance."""
        written, asked = super().write(query, k, filters)
        if asked and self._ranked and not is_words_alone(asked.query):
            written = replace(written, notes=(*written.notes, BY_CITATIONS))
        return written, asked

    async def pages(self, asked: AskedQuery, conversation: Conversation) -> AsyncIterator[Page]:
        """Yield pages, by relevance unless the query needs Boolean syntax."""
        years = years_text(asked.filters)
        parameters = {"fields": FIELDS, **({"year": years} if years else {})}
        if self._ranked and is_words_alone(asked.query):
            words = ranked_words(asked.text)
            for offset in range(0, min(asked.k, MOST_RANKED), PER_PAGE):
                size = min(PER_PAGE, asked.k - offset)
                ranked = {**parameters, "query": words, "offset": str(offset), "limit": str(size)}
                found, _ = await self._papers("/paper/search", ranked, conversation)
                yield found
                if len(found) < size:
                    return
            return
        bulk = {**parameters, "query": asked.text, "sort": "citationCount:desc"}
        while True:
            found, token = await self._papers("/paper/search/bulk", bulk, conversation)
            yield found
            if not token:
                return
            bulk["token"] = token

    async def fetch(self, ids: Sequence[str], conversation: Conversation) -> Page:
        """Return papers by id."""
        request = WebRequest("/paper/batch", {"fields": FIELDS}, json={"ids": list(ids)})
        found, _ = await self.read(read_papers, await conversation.ask(request), self.name)
        return found

    async def fetch_by_doi(self, dois: Sequence[str], conversation: Conversation) -> Page:
        """Return papers by DOI."""
        return await self.fetch([f"DOI:{doi}" for doi in dois], conversation)

    async def follow(
        self, direction: Direction, ids: Sequence[str], limit: int, conversation: Conversation
    ) -> tuple[Mapping[str, Page], list[str]]:
        """Follow references in either direction, with one request per paper."""
        return await answered(ids, lambda each: self._linked_to(direction, each, limit, conversation))

    async def _linked_to(
        self, direction: Direction, paper: str, limit: int, conversation: Conversation
    ) -> Page:
        path, inside = (
            ("references", "citedPaper") if direction == "references" else ("citations", "citingPaper")
        )
        parameters = {"fields": FIELDS, "limit": str(min(limit, MOST_RANKED))}
        found, _ = await self._papers(f"/paper/{paper}/{path}", parameters, conversation, inside)
        return found

    async def _papers(
        self, path: str, parameters: Mapping[str, str], conversation: Conversation, inside: str = ""
    ) -> tuple[Page, str]:
        content = await conversation.ask_for(WebRequest(path, parameters, absent=bool(inside)))
        return ([], "") if content is None else await self.read(read_papers, content, self.name, inside)


open_source = SemanticScholar.open
