"""Wikipedia in one language: articles by full text search, with the section before the first heading.

Format: https://www.mediawiki.org/wiki/API:Search, Extension:TextExtracts and Help:CirrusSearch.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import Field, model_validator

from indexer.corpora.readers.mapping import Table, first, map_record
from retriever.queries.boolean import Query
from retriever.queries.filters import Filters
from retriever.sources.settings import Address, AtOnce, Rate, WebSettings
from retriever.sources.web.boolean import Syntax, anywhere
from retriever.sources.web.client import Call, NoAnswer, WebRequest
from retriever.sources.web.records import agreed, at, items, json_in, table
from retriever.sources.web.source import AskedQuery, Page, WebSource

PER_PAGE = 20  # the maximum number of introductions per request
ARTICLE = re.compile(r"\b[1-9][0-9]{0,11}\b")
WIKI = "Wikipedia"
NO_YEARS = "articles have no year: a filter of years excludes all of them"
PAGE: Table = {"id": "pageid", "title": "title", "abstract": "extract", "url": "fullurl"}
ALWAYS = {
    "action": "query",
    "format": "json",
    "formatversion": "2",
    "prop": "extracts|info",
    "inprop": "url",
    "exintro": "1",
    "explaintext": "1",
    "exlimit": "max",
}


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


class Wikipedia(WebSource):
    """One Wikipedia, open until `close`."""

    settings: Settings
    service = WIKI
    syntax = Syntax(
        word=lambda words, field: ("intitle:" if field == "title" else "") + anywhere(words),
        both=" ",
        without=" -",
        brackets=False,
        longest=300,
    )
    identifiers = ARTICLE
    batch = per_page = PER_PAGE

    def _write(self, query: Query, filters: Filters, call: Call) -> AskedQuery | None:
        asked = super()._write(query, filters, call)
        if asked and asked.filters.years:
            call.notes.append(NO_YEARS)
            return None
        return asked if asked and asked.filters.lang in {None, "", self.settings.language} else None

    def _page_request(self, asked: AskedQuery, start: int, size: int) -> WebRequest:
        page = {"gsrlimit": str(size), "gsroffset": str(start), "gsrnamespace": "0"}
        return WebRequest("/api.php", {**ALWAYS, "generator": "search", "gsrsearch": asked.text, **page})

    def _id_request(self, ids: Sequence[str]) -> WebRequest:
        return WebRequest("/api.php", {**ALWAYS, "pageids": "|".join(ids)})

    def _read(self, content: bytes) -> Page:
        answer = agreed(json_in(content), "query", "batchcomplete", "continue", "error")
        if answer.get("error") is not None:
            raise NoAnswer(f"it answers: {first(answer, 'error/code')[:80] or 'an error'}")
        pages = [table(page) for page in items(at(answer, "query", "pages"))]
        found = [page for page in pages if not page.get("missing") and not page.get("invalid")]
        always = {"lang": self.settings.language, "journal": WIKI}
        return [self._paper(map_record(page, PAGE) | always) for page in sorted(found, key=_place)]


def _place(page: Mapping[str, Any]) -> int:
    index = page.get("index")
    return index if isinstance(index, int) else PER_PAGE * PER_PAGE


open_source = Wikipedia
