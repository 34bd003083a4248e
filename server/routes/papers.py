"""Papers with related papers, and single passages; ids may contain any character except white space."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query

from retriever.calls import IndexName
from retriever.papers.page import PaperPage, PaperPassage, paper_page
from retriever.papers.page import passage as passage_with_paper
from server.api.schemas import OfIndex, Shaped
from server.limits.gate import Read
from server.services import Shared

router = APIRouter(prefix="/api/v1", tags=["papers"])

Index = Annotated[IndexName, Query()]


@router.get("/papers/{doc_id:path}")
async def paper(
    doc_id: Annotated[str, Path(examples=["SAMPLE-BAT-011"])],
    services: Shared,
    _: Read,
    index: Index = None,
) -> Annotated[dict[str, Any], Shaped(OfIndex, PaperPage, name="Paper")]:
    """Return a paper's record and passages, what it cites, what cites it, and similar papers."""
    name = await services.indexes.chosen(index)
    return {"index": name, **(await paper_page(await services.indexes.get(name), doc_id)).as_record()}


@router.get("/passages/{passage_id:path}")
async def passage(
    passage_id: Annotated[str, Path(examples=["SAMPLE-BAT-001@en"])],
    services: Shared,
    _: Read,
    index: Index = None,
) -> Annotated[dict[str, Any], Shaped(OfIndex, PaperPassage, name="PassageOfPaper")]:
    """Return a passage with its paper's record."""
    name = await services.indexes.chosen(index)
    found = await passage_with_paper(await services.indexes.get(name), passage_id)
    return {"index": name, **found.as_record()}
