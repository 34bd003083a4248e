"""arXiv: preprints from its query interface, which answers in Atom.

Format: https://info.arxiv.org/help/api/user-manual.html
"""

import re
from collections.abc import Mapping, Sequence
from urllib.parse import quote_plus
from xml.etree.ElementTree import Element

from indexer.corpora.papers import FIRST_YEAR, LAST_YEAR
from retriever.queries.filters import Filters
from retriever.sources import SourceFeatures, SourcePaper
from retriever.sources.settings import Address, AtOnce, Rate, SearchSeconds, Seconds, WebSettings
from retriever.sources.web.boolean import Syntax, searched_everywhere
from retriever.sources.web.client import WebRequest
from retriever.sources.web.records import (
    Unreadable,
    address,
    doi,
    identifier,
    paper_of,
    text,
    text_in,
    texts,
    xml_in,
    year,
)
from retriever.sources.web.source import AskedQuery, Conversation, Page, WebSource

ATOM = "{http://www.w3.org/2005/Atom}"
OWN = "{http://arxiv.org/schemas/atom}"
# A preprint's id without its version: 2101.00001, or hep-th/9901001 before 2007.
PREPRINT = re.compile(r"[0-9]{4}\.[0-9]{4,5}|[a-z-]+(?:\.[A-Z]{2})?/[0-9]{7}")
ADDRESS = re.compile(rf"(?<=/abs/)(?:{PREPRINT.pattern})")
ERROR = "/api/errors"


class Settings(WebSettings):
    """Settings of arXiv, which allows one request at a time, every three seconds."""

    url: Address = "https://export.arxiv.org/api"
    timeout_s: SearchSeconds = 60
    request_timeout_s: Seconds = 20
    requests_per_second: Rate = 1 / 3
    at_once: AtOnce = 1


SYNTAX = Syntax(
    word=lambda words, field: ("ti:" if field == "title" else "all:") + searched_everywhere(words, field),
    without=" ANDNOT ",
    length=lambda query: len(quote_plus(query)),
    longest=3_500,  # no documented limit; servers refuse addresses of twice this length
)


def with_years(query: str, filters: Filters) -> str:
    """Add the range of submission dates."""
    years = filters.years
    if not years or not (years.low or years.high):
        return query
    first, last = max(years.low or FIRST_YEAR, 1991), years.high or LAST_YEAR
    return f"({query}) AND submittedDate:[{first}01010000 TO {last}12312359]"


def read_feed(content: bytes, source: str) -> list[SourcePaper | None]:
    """Parse a feed; Unreadable if it contains an error instead of preprints."""
    return [_read_entry(entry, source) for entry in xml_in(content, f"{ATOM}feed").iter(f"{ATOM}entry")]


def _read_entry(entry: Element, source: str) -> SourcePaper | None:
    place = _text(entry, "id")
    if ERROR in place:
        raise Unreadable(f"it answers: {_text(entry, 'summary')[:200]}")
    return paper_of(
        source,
        {
            "id": identifier(place, ADDRESS),
            "title": _text(entry, "title"),
            "abstract": _text(entry, "summary"),
            "year": year(_text(entry, "published")),
            "doi": doi(text_in(entry.find(f"{OWN}doi"))),
            "authors": texts(_text(author, "name") for author in entry.iter(f"{ATOM}author")),
            "journal": text(text_in(entry.find(f"{OWN}journal_ref"))),
            "keywords": texts(each.get("term") for each in entry.iter(f"{ATOM}category")),
            "url": address(place),
        },
    )


def _text(element: Element, tag: str) -> str:
    return text(text_in(element.find(f"{ATOM}{tag}")))


class ArXiv(WebSource):
    """arXiv, open until `close`."""

    service = "arXiv"
    features = SourceFeatures(private=False)
    syntax = SYNTAX
    identifiers = PREPRINT
    batch = 100
    per_page = 200

    async def page(self, asked: AskedQuery, start: int, size: int, conversation: Conversation) -> Page:
        """Return a page by relevance."""
        parameters = {
            "search_query": with_years(asked.text, asked.filters),
            "start": str(start),
            "max_results": str(size),
            "sortBy": "relevance",
        }
        return await self._preprints(parameters, conversation)

    async def fetch(self, ids: Sequence[str], conversation: Conversation) -> Page:
        """Return preprints by id."""
        parameters = {"id_list": ",".join(ids), "max_results": str(len(ids))}
        return await self._preprints(parameters, conversation)

    async def _preprints(self, parameters: Mapping[str, str], conversation: Conversation) -> Page:
        return await self.read(read_feed, await conversation.ask(WebRequest("/query", parameters)), self.name)


open_source = ArXiv.open
