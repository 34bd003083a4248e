"""Papers with related papers, and single passages; ids may contain any character except white space."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request

from retriever.calls import IndexName
from retriever.papers.page import PaperPage, PaperPassage, paper_page
from retriever.papers.page import passage as passage_with_paper
from server.api.schemas import OfIndex, Shaped
from server.limits.gate import Read
from server.services import Shared
from server.transport.streams import while_connected

router = APIRouter(prefix="/api/v1", tags=["papers"])

Index = Annotated[IndexName, Query()]


@router.get("/papers/{doc_id:path}")
async def paper(
    request: Request,
    doc_id: Annotated[str, Path(examples=["SAMPLE-BAT-011"])],
    services: Shared,
    _: Read,
    index: Index = None,
) -> Annotated[dict[str, Any], Shaped(OfIndex, PaperPage, name="Paper")]:
    """Return a paper's record and passages, what it cites, what cites it, and similar papers."""
    name = await services.indexes.chosen(index)
    finding = (await services.indexes.get(name)).run(paper_page, doc_id)
    return {"index": name, **(await while_connected(request, services, finding)).as_record()}


@router.get("/passages/{passage_id:path}")
async def passage(
    request: Request,
    passage_id: Annotated[str, Path(examples=["SAMPLE-BAT-001@en"])],
    services: Shared,
    _: Read,
    index: Index = None,
) -> Annotated[dict[str, Any], Shaped(OfIndex, PaperPassage, name="PassageOfPaper")]:
    """Return a passage with its paper's record."""
    name = await services.indexes.chosen(index)
    finding = (await services.indexes.get(name)).run(passage_with_paper, passage_id)
    return {"index": name, **(await while_connected(request, services, finding)).as_record()}
