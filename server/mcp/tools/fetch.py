"""The tool `fetch`, in the form that chat products call: an id in, the paper's text and metadata out."""

from typing import Annotated, Any

from pydantic import BaseModel, Field

from retriever.errors import UnknownPassage
from server.mcp.papers import metadata_of, paper_id
from server.mcp.tool import Arguments, Desk, Given, Tool

MOST_CHARACTERS = 100_000  # of a text; a model reads no more


class FetchArguments(Arguments):
    """Which paper."""

    id: Annotated[str, Field(max_length=1_000, description="an id that `search` or `ask` has given")]


class FetchedPaper(BaseModel):
    """A paper with its text."""

    id: str
    title: str
    text: str
    url: Annotated[str, Field(description="where a reader finds the paper")]
    metadata: Annotated[dict[str, Any], Field(description="authors, year, journal, lang, doi … if known")]


async def _run(arguments: FetchArguments, desk: Desk) -> Given:
    name, doc_id = await _meant(arguments.id, desk)
    index = await desk.services.indexes.get(name)
    first = await index.ask(lambda version: version.engine.papers([doc_id]))
    if doc_id not in first:
        raise UnknownPassage(f"no paper of the id {doc_id!r} in index {name!r}", index=name)
    record = first[doc_id].paper or {}
    text = first[doc_id].text
    return Given(
        FetchedPaper(
            id=paper_id(name, doc_id),
            title=first[doc_id].title,
            text=text[:MOST_CHARACTERS],
            url=desk.address(name, doc_id),
            metadata=metadata_of(record),
        )
    )


async def _meant(given: str, desk: Desk) -> tuple[str, str]:
    """Return index and doc_id; an id of the one index there is needs no name before it."""
    name, colon, doc_id = given.partition(":")
    if colon and name in await desk.services.indexes.names():
        return name, doc_id
    return await desk.index_named(None), given


TOOL = Tool(
    name="fetch",
    title="Read a paper",
    description=(
        "Read a paper that `search` or `ask` has found: its title, its text as far as the index holds it, "
        "its address, and authors, year and journal as metadata."
    ),
    arguments=FetchArguments,
    output=FetchedPaper,
    work="read",
    run=_run,
)
