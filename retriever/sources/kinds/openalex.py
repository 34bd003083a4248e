"""OpenAlex: works by full text search, their references, and the works that cite them.

Format: https://developers.openalex.org (works, searching, filtering, paging).
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote_plus

from pydantic import Field

from retriever.queries.filters import Filters
from retriever.sources import SourceFeatures, SourcePaper
from retriever.sources.settings import Address, Key, Rate, WebSettings
from retriever.sources.web.boolean import Syntax, searched_everywhere
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
    number,
    paper_of,
    table,
    text,
    texts,
    year,
)
from retriever.sources.web.source import AskedQuery, Conversation, Direction, Page, WebSource, answered

PER_PAGE = 100
FIELDS = (
    "id,doi,title,publication_year,language,authorships,primary_location,"
    "abstract_inverted_index,keywords,referenced_works,cited_by_count"
)
WORK = re.compile(r"W[0-9]{1,15}")
LANGUAGES = frozenset({"ko", "en"})


class Settings(WebSettings):
    """Address and key of OpenAlex."""

    url: Address = "https://api.openalex.org"
    api_key: Key | None = Field(default=None, description="key of the service")
    requests_per_second: Rate = 5


SYNTAX = Syntax(
    word=searched_everywhere,
    titles=False,
    length=lambda query: len(quote_plus(query)),
    longest=3_500,  # a whole address may have about 4 KB
)


def filter_text(filters: Filters) -> str:
    """Format years and language as the parameter `filter`, "" for none."""
    parts = []
    if filters.years and filters.years.low:
        parts.append(f"from_publication_date:{filters.years.low}-01-01")
    if filters.years and filters.years.high:
        parts.append(f"to_publication_date:{filters.years.high}-12-31")
    if filters.lang in LANGUAGES:
        parts.append(f"language:{filters.lang}")
    return ",".join(parts)


def read_works(content: bytes, source: str) -> list[SourcePaper | None]:
    """Parse a page of works."""
    return [read_work(table(work), source) for work in items(agreed(json_in(content), "results")["results"])]


def read_work(work: Mapping[str, Any], source: str) -> SourcePaper | None:
    """Parse a work; its id is `W…`."""
    place = table(work.get("primary_location"))
    return paper_of(
        source,
        {
            "id": identifier(work.get("id"), WORK),
            "title": text(work.get("title")),
            "abstract": abstract_of(work.get("abstract_inverted_index")),
            "lang": text(work.get("language")),
            "year": year(work.get("publication_year")),
            "doi": doi(work.get("doi")),
            "authors": texts(at(each, "author", "display_name") for each in items(work.get("authorships"))),
            "journal": text(at(place, "source", "display_name")),
            "publisher": text(at(place, "source", "host_organization_name")),
            "url": address(place.get("landing_page_url")) or address(work.get("id")),
            "keywords": texts(at(each, "display_name") for each in items(work.get("keywords"))),
            "references": references_of(work),
            "cited_by_count": count(work.get("cited_by_count")),
        },
        score=number(work.get("relevance_score")),
    )


def references_of(work: Mapping[str, Any]) -> list[str]:
    """Return the ids of the works that a work refers to."""
    ids = (identifier(each, WORK) for each in items(work.get("referenced_works")))
    return list(dict.fromkeys(filter(None, ids)))


def abstract_of(inverted: Any) -> str:
    """Restore an abstract from its inverted index: the places of each word."""
    placed = [
        (place, str(word))
        for word, places in table(inverted).items()
        for place in items(places)
        if isinstance(place, int) and not isinstance(place, bool)
    ]
    return text(" ".join(word for _, word in sorted(placed, key=lambda each: each[0])))


class OpenAlex(WebSource):
    """OpenAlex, open until `close`."""

    service = "OpenAlex"
    features = SourceFeatures(references=True, citing=True, dois=True, private=False)
    syntax = SYNTAX
    identifiers = WORK
    batch = per_page = PER_PAGE
    whole_pages = True

    def __init__(self, name: str, settings: Settings) -> None:
        """Create the source; the first question connects."""
        super().__init__(name, settings)
        self._key = {"api_key": settings.api_key.get_secret_value()} if settings.api_key else {}

    async def page(self, asked: AskedQuery, start: int, size: int, conversation: Conversation) -> Page:
        """Return a page by relevance."""
        wanted = filter_text(asked.filters)
        parameters = {
            "search": asked.text,
            "per_page": str(size),
            "page": str(start // size + 1),
            "select": f"{FIELDS},relevance_score",
            **({"filter": wanted} if wanted else {}),
        }
        return await self._works(parameters, conversation)

    async def fetch(self, ids: Sequence[str], conversation: Conversation) -> Page:
        """Return works by id."""
        parameters = {"filter": f"ids.openalex:{'|'.join(ids)}", "per_page": str(PER_PAGE), "select": FIELDS}
        return await self._works(parameters, conversation)

    async def fetch_by_doi(self, dois: Sequence[str], conversation: Conversation) -> Page:
        """Return works by DOI."""
        parameters = {"filter": f"doi:{'|'.join(dois)}", "per_page": str(PER_PAGE), "select": FIELDS}
        return await self._works(parameters, conversation)

    async def follow(
        self, direction: Direction, ids: Sequence[str], limit: int, conversation: Conversation
    ) -> tuple[Mapping[str, Page], list[str]]:
        """Follow references, in two rounds for all papers, or citing works, with one request per paper."""
        if direction == "citing":
            return await answered(ids, lambda each: self._citing(each, limit, conversation))
        citing, failures = await self.by_id(ids, conversation)
        references = {each: paper.paper.references[:limit] for each, paper in citing.items()}
        followed, more = await self.follow_by_id(references, conversation)
        return followed, [*failures, *more]

    async def _citing(self, work: str, limit: int, conversation: Conversation) -> Page:
        parameters = {
            "filter": f"cites:{work}",
            "sort": "cited_by_count:desc",
            "per_page": str(min(PER_PAGE, limit)),
            "select": FIELDS,
        }
        return await self._works(parameters, conversation)

    async def _works(self, parameters: Mapping[str, str], conversation: Conversation) -> Page:
        content = await conversation.ask(WebRequest("/works", {**parameters, **self._key}))
        return await self.read(read_works, content, self.name)


open_source = OpenAlex.open
