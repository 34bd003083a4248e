"""Results for browsers without scripts: a plain list at the addresses of the page."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, Field, Json

from base.markup import Markup, element, html
from retriever.calls import MOST_HITS, SearchCall
from retriever.papers.embedded_metadata import coins
from retriever.request import MAX_CHARACTERS, RELEVANCE, Sort
from retriever.strategy import Strategy
from server.addresses import paper_address
from server.html.page_files import page_files
from server.html.pages import Reader, page_in, script
from server.html.paper_html import Words, byline, lang_of, unapi_id, unapi_link
from server.routes.page import PageRoute
from server.services import Shared
from server.source_names import sources_named
from server.targets import CallTarget, admitted_search, searched

router = APIRouter(include_in_schema=False, route_class=PageRoute)


class PlainCall(BaseModel):
    """The parameters of the page's addresses (page/asked.js)."""

    q: Annotated[str, Field(max_length=MAX_CHARACTERS)]
    index: str = ""
    method: str = ""
    k: Annotated[int, Field(ge=1, le=MOST_HITS)] = 10
    year: str = ""
    lang: str = ""
    journal: str = ""
    author: str = ""
    type: str = ""
    sort: Sort = RELEVANCE
    strategy: Json[Strategy] | None = None
    skip: tuple[str, ...] = ()
    exclude: Annotated[tuple[str, ...], Field(alias="not")] = ()
    literal: str | None = None

    def call(self) -> SearchCall:
        """Return the equivalent call of the API."""
        sources = sources_named(self.index)
        given = self.model_dump(exclude={"q", "index", "literal"}, exclude_unset=True)
        return SearchCall(
            **{name: value for name, value in given.items() if value},
            question=self.q,
            index=self.index if self.index and not sources else None,
            sources=sources,
            conditions=self.literal is None,
        )


@router.get("/plain")
async def plain(request: Request, services: Shared, asked: Annotated[PlainCall, Query()]) -> HTMLResponse:
    """Search, and list the results."""
    reader = Reader.of(request)
    async with admitted_search(request, services, asked.call()) as search:
        of, (result, _) = search.of, await searched(request, services, search)
    words = page_files().words[reader.language]
    hits = [_hit({**hit.paper, **hit.as_record()}, of, words) for hit in result.listed]
    body = html(
        element("h1", None, words["results"]),
        element("p", {"class": "quiet"}, words["plain_about"]),
        element("ol", {"class": "plain-hits"}, hits) if hits else element("p", None, words["nothing_found"]),
    )
    places = {
        "title": f"{asked.q[:80]} – SHRAG",
        "question": asked.q,
        "index_name": asked.index or of.index or "",
        "head": html(script(), unapi_link()),
    }
    return page_in(reader, "paper.html", places | {"body": body})


def _hit(hit: dict[str, Any], of: CallTarget, words: Words) -> Markup:
    lang = lang_of(hit["title"], hit["lang"])
    address = paper_address(hit["doc_id"], of.index, hit["passage_id"]) if of.index else hit.get("url")
    title = {"href": address, "lang": lang} if address else {"lang": lang}
    return element(
        "li",
        None,
        element("a" if address else "span", title, hit["title"] or hit["doc_id"]),
        element("p", {"class": "meta"}, byline(hit, words)),
        element("p", {"lang": lang}, hit["snippet"]),
        element("span", {"class": "Z3988", "title": coins(hit)}),
        unapi_id(hit["doc_id"], of.index) if of.index else "",
    )
