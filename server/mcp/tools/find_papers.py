"""The tool `find_papers`: returns papers for a question, each with a reason and how it was found."""

from collections.abc import Mapping
from contextlib import aclosing
from typing import Annotated, Any

from pydantic import BaseModel, Field

from generator.finding.calls import FindCall
from generator.finding.result import shorten
from generator.finding.state import FoundBy
from retriever.stages.hits import listed_authors
from server.addresses import paper_address
from server.finding import PreparedSearch, finding_events
from server.mcp.papers import AMONG_PAPERS, MOST_RESULTS, NamedPaper, metadata_of, paper_id
from server.mcp.tool import Argument, Tool, ToolContext, ToolResult
from server.targets import CallTarget

SECONDS = 50  # many clients time out after a minute
MOST_FOUND_BY = 3  # shown of a paper


class JudgedPaper(NamedPaper):
    """A paper, and its relevance."""

    relevance: Annotated[float, Field(description="to the question, 0 to 1")]
    reason: Annotated[str, Field(description="for its relevance")]


class RelevantPaper(JudgedPaper):
    """A paper above the relevance threshold."""

    score: Annotated[float, Field(description="of relevance, authority and timeliness")]
    why: Annotated[str, Field(description="reasons for its rank")]
    found_by: list[FoundBy]


class ReadingList(BaseModel):
    """The papers found, best first."""

    papers: list[RelevantPaper]
    near: Annotated[
        list[JudgedPaper],
        Field(description="just below the threshold, if fewer than requested are relevant"),
    ] = []
    known: Annotated[int, Field(description="papers examined")]
    complete: Annotated[bool, Field(description="false if the search ended early; notes give the reason")]
    notes: Annotated[list[str], Field(description="notes for a reader of the list")] = []


async def _run(call: FindCall, context: ToolContext) -> ToolResult:
    of = await context.open_target(call.index, call.sources)
    found: Mapping[str, Any] = {}
    reported_s = 0.0  # reported progress must increase
    async with aclosing(finding_events(PreparedSearch(of, call.request()), context.services)) as events:
        async for event in events:
            found = event.data
            if event.kind == "spent" and found["seconds"] > reported_s:
                reported_s = found["seconds"]
                words = "{known} papers found, {papers} judged, {relevant} of them relevant".format_map(found)
                await context.progress(reported_s, call.max_seconds, words)
    return ToolResult(
        ReadingList(
            papers=[_paper(record, of, context.public) for record in found["papers"]],
            near=[JudgedPaper(**_named(record, of, context.public)) for record in found["near"]],
            known=found["known"],
            complete=found["complete"],
            notes=found["notes"],
        )
    )


def _named(record: dict[str, Any], of: CallTarget, public: str) -> dict[str, Any]:
    """Return the fields that every paper has."""
    return {
        "id": paper_id(of, record["id"]),
        "title": record.get("title") or record.get("title2") or record["id"],
        "url": f"{public}{paper_address(record['id'], of.index)}" if of.index else record.get("url", ""),
        "metadata": metadata_of(record | listed_authors(record)),
        "relevance": record["relevance"],
        "reason": record["reason"],
    }


def _paper(record: dict[str, Any], of: CallTarget, public: str) -> RelevantPaper:
    found_by = [
        FoundBy(
            kind=by["kind"],
            of=shorten(by["of"]) if by["kind"] == "query" else paper_id(of, by["of"]),
            rank=by["rank"],
        )
        for by in record["found_by"][:MOST_FOUND_BY]
    ]
    return RelevantPaper(
        **_named(record, of, public),
        score=record["score"],
        why=record["why"],
        found_by=found_by,
    )


TOOL = Tool(
    name="find_papers",
    title="Find papers for a question",
    description=(
        "Find the papers for a question or topic: a reading list rather than an answer. Expands the "
        "question to several queries, judges what they find, follows references and cited-by links of what "
        "is relevant, and searches further from there. Returns the relevant papers, best first, each with a "
        "score, a reason, and how it was found. Slower than `search`, which is one query; use it for "
        'surveys, related work and "what is there on …".'
    ),
    call=FindCall,
    arguments={
        "question": Argument("question", "The topic of the papers, or a question.", required=True),
        "k": Argument("papers", most=MOST_RESULTS),
        "seconds": Argument("max_seconds", default=SECONDS, most=86_400),
        **AMONG_PAPERS,
    },
    output=ReadingList,
    work="ask",
    run=_run,
    ends_by_itself=True,
)
