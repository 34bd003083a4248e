"""The tool `find_papers`: a question in, a list of papers out, each with a reason and how it was found."""

from collections.abc import Mapping
from contextlib import aclosing
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from generator.finding.result import shorten
from retriever.requests.request import MOST_CHARACTERS
from retriever.stages.hits import listed_authors
from server.addresses import paper_address
from server.api.find_requests import FindCall
from server.calls.asked_of import AskedOf
from server.finding.running import PreparedSearch, finding_events
from server.mcp.papers import MOST_RESULTS, AmongPapers, NamedPaper, metadata_of, paper_id
from server.mcp.tool import Desk, Given, Tool

SECONDS = 50  # many clients wait a minute for a tool
MOST_WAYS = 3  # by which a paper was found


class FindArguments(AmongPapers):
    """What papers are to be found for, and how long that may take."""

    question: Annotated[
        str, Field(max_length=MOST_CHARACTERS, description="what the papers are to be about, or answer")
    ]
    k: Annotated[int, Field(ge=1, le=MOST_RESULTS, description="papers to find, at most")] = 20
    seconds: Annotated[
        float, Field(gt=0, le=86_400, description="after which what was found by then is given")
    ] = SECONDS


class FoundBy(BaseModel):
    """How a paper was found."""

    kind: Annotated[
        Literal["query", "reference", "citing"],
        Field(description="by a query; as a reference of, or as citing, another paper"),
    ]
    of: Annotated[str, Field(description="the query, or the other paper's id")]
    rank: int


class JudgedPaper(NamedPaper):
    """A paper, and how relevant it was judged to be."""

    relevance: Annotated[float, Field(description="to the question, 0 to 1")]
    reason: Annotated[str, Field(description="for its relevance")]


class RelevantPaper(JudgedPaper):
    """A paper that was judged to be relevant."""

    score: Annotated[float, Field(description="of relevance, authority and timeliness")]
    why: Annotated[str, Field(description="it stands at this place")]
    found_by: list[FoundBy]


class FoundPapers(BaseModel):
    """The papers found, best first."""

    papers: list[RelevantPaper]
    near: Annotated[
        list[JudgedPaper],
        Field(description="next below the threshold, where fewer are relevant than were asked for"),
    ] = []
    known: Annotated[int, Field(description="papers that were looked at")]
    complete: Annotated[bool, Field(description="false where the search ended early; notes say why")]
    notes: Annotated[list[str], Field(description="what a reader of the list should know")] = []


async def _run(arguments: FindArguments, desk: Desk) -> Given:
    of = await desk.asked_of(arguments.index, arguments.sources or ())
    call = FindCall(
        question=arguments.question,
        papers=arguments.k,
        max_seconds=arguments.seconds,
        **arguments.filters(),
    )
    found: Mapping[str, Any] = {}
    told_s = 0.0  # each progress is to be more than the one before
    async with aclosing(finding_events(PreparedSearch(of, call.request()), desk.services)) as events:
        async for event in events:
            found = event.data
            if event.kind == "spent" and found["seconds"] > told_s:
                told_s = found["seconds"]
                words = "{known} papers found, {papers} judged, {relevant} of them relevant".format_map(found)
                await desk.progress(told_s, arguments.seconds, words)
    return Given(
        FoundPapers(
            papers=[_paper(record, of, desk.public) for record in found["papers"]],
            near=[JudgedPaper(**_named(record, of, desk.public)) for record in found["near"]],
            known=found["known"],
            complete=found["complete"],
            notes=found["notes"],
        )
    )


def _named(record: dict[str, Any], of: AskedOf, public: str) -> dict[str, Any]:
    """Return the parts that every paper has, by their names."""
    return {
        "id": paper_id(of, record["id"]),
        "title": record.get("title") or record.get("title2") or record["id"],
        "url": f"{public}{paper_address(record['id'], of.index)}" if of.index else record.get("url", ""),
        "metadata": metadata_of(record | listed_authors(record)),
        "relevance": record["relevance"],
        "reason": record["reason"],
    }


def _paper(record: dict[str, Any], of: AskedOf, public: str) -> RelevantPaper:
    ways = [
        FoundBy(
            kind=by["kind"],
            of=shorten(by["of"]) if by["kind"] == "query" else paper_id(of, by["of"]),
            rank=by["rank"],
        )
        for by in record["found_by"][:MOST_WAYS]
    ]
    return RelevantPaper(
        **_named(record, of, public),
        score=record["score"],
        why=record["why"],
        found_by=ways,
    )


TOOL = Tool(
    name="find_papers",
    title="Find papers for a question",
    description=(
        "Find the papers that a question or topic asks for: a reading list rather than an answer. Widens the "
        "question to several queries, judges what they find, follows references and cited-by links of what "
        "is relevant, and searches on from there. Returns the relevant papers, best first, each with a "
        "score, a reason, and how it was found. Slower than `search`, which is one query; use it for "
        'surveys, related work and "what is there on …".'
    ),
    arguments=FindArguments,
    output=FoundPapers,
    work="ask",
    run=_run,
    ends_by_itself=True,
)
