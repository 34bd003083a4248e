"""Results for browsers without scripts: the page's own addresses, answered with a list."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from retriever.embedded_metadata import coins
from retriever.search import MOST_CHARACTERS
from server.addresses import paper_address
from server.gate import Search
from server.markup import Markup, element, html
from server.page_files import page_files
from server.paper_html import Words, byline, lang_of
from server.problems import PROBLEMS, problem
from server.reader import Reader
from server.requests import SearchCall
from server.routes.page import failed_page, page_in, script
from server.searching import searched
from server.services import Shared

router = APIRouter(include_in_schema=False)


@router.get("/plain")
async def plain(
    request: Request,
    services: Shared,
    _: Search,
    q: Annotated[str, Query(max_length=MOST_CHARACTERS)],
    index: str | None = None,
    method: str = "shrag",
    year: str | None = None,
    lang: str | None = None,
    journal: str | None = None,
) -> HTMLResponse:
    """Search, and list the results."""
    reader = Reader.of(request)
    asked = SearchCall(
        question=q, index=index, method=method, year=year or None, lang=lang or None, journal=journal or None
    )
    try:
        result, manifest = await searched(
            request, services, asked.index, asked.request(services.settings.retriever)
        )
    except tuple(PROBLEMS) as error:
        return failed_page(reader, problem(error))
    words = page_files().words[reader.language]
    hits = [_hit({**hit.paper, **hit.as_record()}, manifest.name, words) for hit in result.hits]
    body = html(
        element("h1", None, words["results"]),
        element("p", {"class": "quiet"}, words["plain_about"]),
        element("ol", {"class": "plain-hits"}, hits) if hits else element("p", None, words["nothing_found"]),
    )
    places = {"title": f"{q[:80]} – SHRAG", "question": q, "index_name": manifest.name, "head": script()}
    return page_in(reader, "paper.html", places | {"body": body})


def _hit(hit: dict[str, Any], index: str, words: Words) -> Markup:
    lang = lang_of(hit["title"], hit["lang"])
    address = paper_address(hit["doc_id"], index, hit["passage_id"])
    return element(
        "li",
        None,
        element("a", {"href": address, "lang": lang}, hit["title"] or hit["doc_id"]),
        element("p", {"class": "meta"}, byline(hit, words)),
        element("p", {"lang": lang}, hit["snippet"]),
        element("span", {"class": "Z3988", "title": coins(hit)}),
    )
