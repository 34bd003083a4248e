"""The tool `fetch`, in the form that chat products expect: returns a paper's text and metadata for its id."""

from typing import Annotated

from pydantic import Field

from base.calls import Call
from base.untrusted import one_line
from retriever.errors import UnknownPaper, UnknownPassage
from retriever.index import OpenIndex
from retriever.papers.page import PaperPage, paper_page, passage
from retriever.reference import web_address
from server.addresses import paper_address
from server.mcp.papers import NamedPaper, metadata_of
from server.mcp.tool import Argument, Desk, Given, Tool
from server.source_names import PREFIX

MOST_CHARACTERS, MOST_PASSAGES = 100_000, 200  # of a text; a model reads no more


class FetchCall(Call):
    """The id of a paper."""

    id: Annotated[str, Field(max_length=1_000, description="An id returned by another tool.")]


class FetchedPaper(NamedPaper):
    """A paper with its text."""

    text: str


async def _run(call: FetchCall, desk: Desk) -> Given:
    if source := _source_of(call.id, desk):
        return await _of_source(call.id, *source, desk)
    name, doc_id = await _meant(call.id, desk)
    page = await _page(await desk.services.indexes.get(name), doc_id)
    texts = [passage.text for passage in page.passages]
    text = "\n\n".join(texts)
    whole = len(page.passages) == page.passage_count and len(text) <= MOST_CHARACTERS
    return Given(
        FetchedPaper(
            id=f"{name}:{page.doc_id}",
            title=str(page.record.get("title") or page.doc_id),
            text=text if whole else f"{text[:MOST_CHARACTERS]} …",
            url=f"{desk.public}{paper_address(page.doc_id, name)}",
            metadata=metadata_of(page.record) | ({} if whole else {"text_is_cut": True}),
        )
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


def _source_of(given: str, desk: Desk) -> tuple[str, str] | None:
    """Return a source and an id in it; None if the id belongs to an index."""
    name, _, own = given.removeprefix(PREFIX).partition(":")
    return (name, own) if given.startswith(PREFIX) and name in desk.services.sources.names() else None


async def _of_source(given: str, name: str, own: str, desk: Desk) -> Given:
    records = await desk.services.sources.records([name], [own])
    if not records:
        raise UnknownPaper(f"source {name!r} has no paper {one_line(own)!r}")
    [record] = records
    text = "\n\n".join(str(record[part]) for part in ("abstract", "abstract2", "body") if record.get(part))
    whole = len(text) <= MOST_CHARACTERS
    return Given(
        FetchedPaper(
            id=given,
            title=str(record.get("title") or own),
            text=text if whole else f"{text[:MOST_CHARACTERS]} …",
            url=web_address(record),
            metadata=metadata_of(record) | ({} if whole else {"text_is_cut": True}),
        )
    )


async def _meant(given: str, desk: Desk) -> tuple[str, str]:
    """Return index and doc_id; the index name is optional if there is only one index."""
    name, colon, doc_id = given.partition(":")
    if colon and await desk.services.indexes.knows(name):
        return name, doc_id
    return await desk.index_named(None), given


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
