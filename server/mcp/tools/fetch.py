"""The tool `fetch`, in the form that chat products expect: returns a paper's text and metadata for its id."""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field

from base.calls import Call
from base.untrusted import one_line
from retriever.errors import UnknownPaper, UnknownPassage
from retriever.index import OpenIndex
from retriever.papers.page import PaperPage, paper_page, passage
from retriever.reference import web_address
from server.addresses import paper_address
from server.mcp.papers import NamedPaper, metadata_of
from server.mcp.tool import Argument, Tool, ToolContext, ToolResult
from server.source_names import PREFIX

MOST_CHARACTERS, MOST_PASSAGES = 100_000, 200  # of a text; a model reads no more


class FetchCall(Call):
    """The id of a paper."""

    id: Annotated[str, Field(max_length=1_000, description="An id returned by another tool.")]


class FetchedPaper(NamedPaper):
    """A paper with its text."""

    text: str


async def _run(call: FetchCall, context: ToolContext) -> ToolResult:
    if source := _source_of(call.id, context):
        return await _of_source(call.id, *source, context)
    name, doc_id = await _index_and_id(call.id, context)
    page = await _page(await context.services.indexes.get(name), doc_id)
    return _fetched(
        f"{name}:{page.doc_id}",
        page.record,
        title=str(page.record.get("title") or page.doc_id),
        texts=[passage.text for passage in page.passages],
        url=f"{context.public}{paper_address(page.doc_id, name)}",
        is_complete=len(page.passages) == page.passage_count,
    )


async def _page(index: OpenIndex, given: str) -> PaperPage:
    """Read a paper by its id, or by the id of one of its passages."""
    try:
        return await paper_page(index, given, passages=MOST_PASSAGES, related=1, similar=1)
    except UnknownPaper:
        try:
            found = await passage(index, given)
        except UnknownPassage:
            found = None
        if found is None or found.paper.doc_id == given:
            raise
    return await paper_page(index, found.paper.doc_id, passages=MOST_PASSAGES, related=1, similar=1)


def _source_of(given: str, context: ToolContext) -> tuple[str, str] | None:
    """Return a source and an id in it; None if the id belongs to an index."""
    name, _, own = given.removeprefix(PREFIX).partition(":")
    return (name, own) if given.startswith(PREFIX) and name in context.services.sources.names() else None


async def _of_source(given: str, name: str, own: str, context: ToolContext) -> ToolResult:
    records = await context.services.sources.records([name], [own])
    if not records:
        raise UnknownPaper(f"source {name!r} has no paper {one_line(own)!r}")
    [record] = records
    return _fetched(
        given,
        record,
        title=str(record.get("title") or own),
        texts=[str(record[part]) for part in ("abstract", "abstract2", "body") if record.get(part)],
        url=web_address(record),
    )


def _fetched(
    paper_id: str,
    record: dict[str, Any],
    *,
    title: str,
    texts: Sequence[str],
    url: str,
    is_complete: bool = True,
) -> ToolResult:
    """Return a paper with its joined texts; a text that is too long or incomplete is marked as cut."""
    text = "\n\n".join(texts)
    whole = is_complete and len(text) <= MOST_CHARACTERS
    return ToolResult(
        FetchedPaper(
            id=paper_id,
            title=title,
            text=text if whole else f"{text[:MOST_CHARACTERS]} …",
            url=url,
            metadata=metadata_of(record) | ({} if whole else {"text_is_cut": True}),
        )
    )


async def _index_and_id(given: str, context: ToolContext) -> tuple[str, str]:
    """Split an id into index and doc_id; the index may be missing if there is only one."""
    name, colon, doc_id = given.partition(":")
    if colon and await context.services.indexes.knows(name):
        return name, doc_id
    return await context.chosen_index(None), given


TOOL = Tool(
    name="fetch",
    title="Read a paper",
    description=(
        "Read a paper that another tool has found: its title, its text as far as it is in the index, its "
        "address, and authors, year and journal as metadata."
    ),
    call=FetchCall,
    arguments={"id": Argument("id", required=True)},
    output=FetchedPaper,
    work="read",
    run=_run,
)
