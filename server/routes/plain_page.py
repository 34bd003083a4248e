"""Results for browsers without scripts: a plain list at the addresses of the page."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, Field, Json

from retriever.calls import MOST_HITS, SearchCall
from retriever.request import MAX_CHARACTERS, RELEVANCE, Sort
from retriever.strategy import Strategy
from server.addresses import paper_address, sources_named
from server.html import Reader, page_files, page_in
from server.services import Shared
from server.targets import admitted_search

router = APIRouter(include_in_schema=False)


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
    async with admitted_search(request, services, asked.call()) as search:
        of, (result, _) = search.of, await search.search()
    hits = [{**hit.paper, **hit.as_record()} for hit in result.listed]
    addresses = [
        paper_address(hit["doc_id"], of.index, hit["passage_id"]) if of.index else hit.get("url")
        for hit in hits
    ]
    return page_in(
        *(Reader.of(request), "plain.html"),
        title=f"{asked.q[:80]} – SHRAG",
        question=asked.q,
        index_name=asked.index or of.index or "",
        searched_index=of.index,
        scripts=page_files().modules("paper.js"),
        hits=list(zip(addresses, hits, strict=True)),
    )
