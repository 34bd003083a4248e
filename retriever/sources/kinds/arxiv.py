"""arXiv: preprints from its query interface, which answers in Atom.

Format: https://info.arxiv.org/help/api/user-manual.html
"""

import re
from collections.abc import Sequence
from xml.etree.ElementTree import Element

from indexer.corpora.papers import LAST_YEAR, Paper
from indexer.corpora.readers.mapping import Table, map_record
from indexer.corpora.readers.xml_records import text_in
from retriever.sources.settings import Address, AtOnce, Rate, SearchSeconds, Seconds, WebSettings
from retriever.sources.web.boolean import Syntax, anywhere, in_address
from retriever.sources.web.client import NoAnswer, WebRequest
from retriever.sources.web.records import xml_in
from retriever.sources.web.source import AskedQuery, Page, WebSource, bounds

ATOM = "{http://www.w3.org/2005/Atom}"
OWN = "{http://arxiv.org/schemas/atom}"
# A preprint's id without its version: 2101.00001, or hep-th/9901001 before 2007.
PREPRINT = re.compile(r"[0-9]{4}\.[0-9]{4,5}|[a-z-]+(?:\.[A-Z]{2})?/[0-9]{7}")
BEGUN = 1991  # year of the first preprint
ERROR = "/api/errors"
ENTRY: Table = {
    "title": f"{ATOM}title",
    "abstract": f"{ATOM}summary",
    "year": f"{ATOM}published",
    "doi": f"{OWN}doi",
    "authors": (f"{ATOM}author/{ATOM}name",),
    "journal": f"{OWN}journal_ref",
    "url": f"{ATOM}id",
}


class Settings(WebSettings):
    """Settings of arXiv, which allows one request at a time, every three seconds."""

    url: Address = "https://export.arxiv.org/api"
    timeout_s: SearchSeconds = 60
    request_timeout_s: Seconds = 20
    requests_per_second: Rate = 1 / 3
    at_once: AtOnce = 1


class ArXiv(WebSource):
    """arXiv, open until `close`."""

    service = "arXiv"
    syntax = Syntax(
        word=lambda words, field: ("ti:" if field == "title" else "all:") + anywhere(words),
        without=" ANDNOT ",
        length=in_address,
        longest=3_500,  # no documented limit; servers refuse addresses of twice this length
    )
    identifiers = PREPRINT
    batch = 100
    per_page = 200

    def _page_request(self, asked: AskedQuery, start: int, size: int) -> WebRequest:
        query = asked.text
        if years := bounds(asked.filters, BEGUN, LAST_YEAR):
            first, last = max(years[0], BEGUN), years[1]
            query = f"({query}) AND submittedDate:[{first}01010000 TO {last}12312359]"
        page = {"start": str(start), "max_results": str(size), "sortBy": "relevance"}
        return WebRequest("/query", {"search_query": query, **page})

    def _id_request(self, ids: Sequence[str]) -> WebRequest:
        return WebRequest("/query", {"id_list": ",".join(ids), "max_results": str(len(ids))})

    def _read(self, content: bytes) -> Page:
        return [self._preprint(entry) for entry in xml_in(content, f"{ATOM}feed").iter(f"{ATOM}entry")]

    def _preprint(self, entry: Element) -> Paper | None:
        place = text_in(entry, f"{ATOM}id")
        if ERROR in place:
            raise NoAnswer(f"it answers: {text_in(entry, f'{ATOM}summary')[:200]}")
        keywords = [each.get("term") for each in entry.iter(f"{ATOM}category")]
        return self._paper(
            {**map_record(entry, ENTRY), "id": place.rpartition("/abs/")[2], "keywords": keywords}
        )


open_source = ArXiv
