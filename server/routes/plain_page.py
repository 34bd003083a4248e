"""Results for browsers without scripts: a plain list at the addresses of the page."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, Field

from base.markup import Markup, element, html
from retriever.calls import MOST_HITS, SearchCall
from retriever.papers.embedded_metadata import coins
from retriever.requests.request import MOST_CHARACTERS, RELEVANCE, Sort
from server.addresses import paper_address
from server.html.page_files import page_files
from server.html.pages import Reader, page_in, script
from server.html.paper_html import Words, byline, lang_of, unapi_id, unapi_link
from server.limits.gate import Search
from server.routes.page import PageRoute
from server.services import Shared
from server.source_names import sources_named
from server.targets.searching import searched
from server.targets.target import CallTarget, open_target

router = APIRouter(include_in_schema=False, route_class=PageRoute)


class PlainCall(BaseModel):
    """The parameters of the page's addresses (page/asked.js)."""

    q: Annotated[str, Field(max_length=MOST_CHARACTERS)]
    index: str = ""
    method: str = ""
    k: Annotated[int, Field(ge=1, le=MOST_HITS)] = 10
    year: str = ""
    lang: str = ""
    journal: str = ""
    author: str = ""
    type: str = ""
    sort: Sort = RELEVANCE
    kw: list[str] | None = None
    skip: list[str] = []
    exclude: Annotated[list[str], Field(alias="not")] = []
    strict: str | None = None
    literal: str | None = None

    def call(self) -> SearchCall:
        """Return the equivalent call of the API."""
        sources = sources_named(self.index)
        return SearchCall(
            question=self.q,
            index=self.index if self.index and not sources else None,
            sources=sources,
            method=self.method or "shrag",
            k=self.k,
            year=self.year or None,
            lang=self.lang or None,
            journal=self.journal or None,
            author=self.author or None,
            type=self.type or None,
            sort=self.sort,
            exclude=_given(self.exclude),
            strict_time=self.strict is not None,
            constraints=self.literal is None,
            keywords=None if self.kw is None else _given(self.kw),
            skip=_given(self.skip),
        )


def _given(texts: list[str]) -> tuple[str, ...]:
    """Return the values of a repeated parameter; a single empty value stands for an empty list."""
    return tuple(filter(None, texts))


@router.get("/plain")
async def plain(
    request: Request, services: Shared, _: Search, asked: Annotated[PlainCall, Query()]
) -> HTMLResponse:
    """Search, and list the results."""
    reader = Reader.of(request)
    call = asked.call()
    of = await open_target(services, call.index, call.sources)
    result, __ = await searched(request, services, of, call.request(services.settings.retriever))
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
