"""Example questions for an index, made from its own papers."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from typing_extensions import TypedDict

from retriever.calls import IndexName
from retriever.views.example_questions import example_questions
from server.api.schemas import Shaped
from server.limits.gate import Read
from server.services import Shared
from server.transport.leaving import while_connected

router = APIRouter(prefix="/api/v1", tags=["indexes"])


class Examples(TypedDict):
    """Example questions for an index."""

    index: str
    questions: list[str]


@router.get("/examples")
async def examples(
    request: Request,
    services: Shared,
    _: Read,
    index: Annotated[IndexName, Query()] = None,
    lang: Annotated[Literal["ko", "en"], Query(description="of the questions", examples=["ko"])] = "en",
) -> Annotated[Examples, Shaped(Examples)]:
    """Return three questions, always the same ones for a version of the index."""
    name = await services.indexes.chosen(index)
    finding = example_questions(await services.indexes.get(name), lang)
    return {"index": name, "questions": list(await while_connected(request, services, finding))}
