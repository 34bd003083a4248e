"""OpenAlex: works by full text search, their references, and the works that cite them.

Format: https://developers.openalex.org (works, searching, filtering, paging). The reader of corpora reads the
records.
"""

import re
from collections.abc import Sequence

from pydantic import Field

from indexer.corpora.readers.mapping import paper_record
from indexer.corpora.readers.services import OPENALEX
from retriever.sources import LinkKind, SourceFeatures
from retriever.sources.settings import Address, Key, Rate, WebSettings
from retriever.sources.web.boolean import Syntax, in_address
from retriever.sources.web.client import Call, WebRequest
from retriever.sources.web.records import agreed, items, json_in, table
from retriever.sources.web.source import AskedQuery, Linked, Page, WebSource, bounds

PER_PAGE = 100
FIELDS = (
    "id,doi,title,publication_year,language,authorships,primary_location,biblio,type,"
    "abstract_inverted_index,keywords,referenced_works,cited_by_count"
)
WORK = re.compile(r"W[0-9]{1,15}")
LANGUAGES = frozenset({"ko", "en"})


class Settings(WebSettings):
    """Address and key of OpenAlex."""

    url: Address = "https://api.openalex.org"
    api_key: Key | None = Field(default=None, description="key of the service")
    requests_per_second: Rate = 5


class OpenAlex(WebSource):
    """OpenAlex, open until `close`."""

    settings: Settings
    service = "OpenAlex"
    features = SourceFeatures(references=True, dois=True, private=False)
    syntax = Syntax(titles=False, length=in_address, longest=3_500)  # a whole address may have about 4 KB
    identifiers = WORK
    batch = per_page = PER_PAGE

    def _page_request(self, asked: AskedQuery, start: int, size: int) -> WebRequest:
        low, high = bounds(asked.filters) or ("", "")
        filters = [f"from_publication_date:{low}-01-01"] if low else []
        filters += [f"to_publication_date:{high}-12-31"] if high else []
        filters += [f"language:{asked.filters.lang}"] if asked.filters.lang in LANGUAGES else []
        page = {"per_page": str(size), "page": str(start // size + 1)}
        return self._works(",".join(filters), search=asked.text, **page)

    def _id_request(self, ids: Sequence[str]) -> WebRequest:
        return self._works(f"ids.openalex:{'|'.join(ids)}")

    def _doi_request(self, dois: Sequence[str]) -> WebRequest:
        return self._works(f"doi:{'|'.join(dois)}")

    def _works(self, filters: str, **parameters: str) -> WebRequest:
        key = {"api_key": self.settings.api_key.get_secret_value()} if self.settings.api_key else {}
        asked = {"filter": filters} if filters else {}
        return WebRequest("/works", {"per_page": str(PER_PAGE), "select": FIELDS} | asked | parameters | key)

    async def _follow(self, kind: LinkKind, ids: Sequence[str], limit: int, call: Call) -> Linked:
        if kind == "citing":
            sorted_ = {"sort": "cited_by_count:desc", "per_page": str(min(PER_PAGE, limit))}
            return await self.follow_requests(ids, lambda each: self._works(f"cites:{each}", **sorted_), call)
        return await self.follow_references(ids, limit, call)

    def _read(self, content: bytes) -> Page:
        works = map(table, items(agreed(json_in(content), "results").get("results")))
        return [self._paper(paper_record(work, OPENALEX)) for work in works]


open_source = OpenAlex
