"""Wikipedia in one language: articles by full text search, with the section before the first heading.

Format: https://www.mediawiki.org/wiki/API:Search, Extension:TextExtracts and Help:CirrusSearch.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import Field, model_validator

from retriever.queries.boolean import Query
from retriever.queries.filters import Filters
from retriever.sources import SourceFeatures, SourcePaper
from retriever.sources.settings import Address, AtOnce, Rate, WebSettings
from retriever.sources.web.boolean import Syntax, WrittenQuery, searched_everywhere
from retriever.sources.web.client import WebRequest
from retriever.sources.web.records import (
    Unreadable,
    address,
    agreed,
    at,
    items,
    json_in,
    paper_of,
    table,
    text,
)
from retriever.sources.web.source import AskedQuery, Conversation, Page, WebSource

PER_PAGE = 20  # the maximum number of introductions per request
PAGE = re.compile(r"[1-9][0-9]{0,11}")
WIKI = "Wikipedia"


class Settings(WebSettings):
    """The Wikipedia to search."""

    language: Literal["ko", "en"] = Field(default="en", description="language of the Wikipedia")
    url: Address = Field(default="", description="address of the API; default is the API of the language")
    requests_per_second: Rate = 5
    at_once: AtOnce = 2

    @model_validator(mode="before")
    @classmethod
    def _address_of_the_language(cls, values: Any) -> Any:
        if isinstance(values, Mapping) and not values.get("url"):
            return {**values, "url": f"https://{values.get('language', 'en')}.wikipedia.org/w"}
        return values


SYNTAX = Syntax(
    word=lambda words, field: ("intitle:" if field == "title" else "") + searched_everywhere(words, field),
    both=" ",
    without=" -",
    brackets=False,
    longest=300,
)


def read_articles(content: bytes, source: str, language: str) -> list[SourcePaper | None]:
    """Parse articles, best first."""
    answer = agreed(json_in(content), "query", "batchcomplete", "continue", "error")
    if at(answer, "error") is not None:
        raise Unreadable(f"it answers: {text(at(answer, 'error', 'code'))[:80] or 'an error'}")
    pages = [table(page) for page in items(at(answer, "query", "pages"))]
    found = [page for page in pages if not page.get("missing") and not page.get("invalid")]
    return [_read_article(page, source, language) for page in sorted(found, key=_place)]


def _place(page: Mapping[str, Any]) -> int:
    index = page.get("index")
    return index if isinstance(index, int) else PER_PAGE * PER_PAGE


def _read_article(page: Mapping[str, Any], source: str, language: str) -> SourcePaper | None:
    number = text(page.get("pageid"))
    return paper_of(
        source,
        {
            "id": number if PAGE.fullmatch(number) else "",
            "title": text(page.get("title")),
            "abstract": text(page.get("extract")),
            "lang": language,
            "journal": WIKI,
            "url": address(page.get("fullurl")),
        },
    )


class Wikipedia(WebSource):
    """One Wikipedia, open until `close`."""

    service = WIKI
    features = SourceFeatures(private=False)
    syntax = SYNTAX
    identifiers = PAGE
    batch = per_page = PER_PAGE

    def __init__(self, name: str, settings: Settings) -> None:
        """Create the source; the first question connects."""
        super().__init__(name, settings)
        self._language = settings.language

    def write(self, query: Query, k: int, filters: Filters) -> tuple[WrittenQuery, AskedQuery | None]:
        """Convert a query; articles have no year, so a filter of years matches nothing."""
        written, asked = super().write(query, k, filters)
        if asked and asked.filters.years:
            return WrittenQuery("", ("articles have no year: a filter of years excludes all of them",)), None
        if asked and asked.filters.lang not in {None, "", self._language}:
            return WrittenQuery(""), None
        return written, asked

    async def page(self, asked: AskedQuery, start: int, size: int, conversation: Conversation) -> Page:
        """Return a page by relevance."""
        parameters = {
            "generator": "search",
            "gsrsearch": asked.text,
            "gsrlimit": str(size),
            "gsroffset": str(start),
            "gsrnamespace": "0",
        }
        return await self._articles(parameters, conversation)

    async def fetch(self, ids: Sequence[str], conversation: Conversation) -> Page:
        """Return articles by page number."""
        return await self._articles({"pageids": "|".join(ids)}, conversation)

    async def _articles(self, parameters: Mapping[str, str], conversation: Conversation) -> Page:
        always = {
            "action": "query",
            "format": "json",
            "formatversion": "2",
            "prop": "extracts|info",
            "inprop": "url",
            "exintro": "1",
            "explaintext": "1",
            "exlimit": "max",
        }
        content = await conversation.ask(WebRequest("/api.php", {**always, **parameters}))
        return await self.read(read_articles, content, self.name, self._language)


open_source = Wikipedia.open
