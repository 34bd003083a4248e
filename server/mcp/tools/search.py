"""The tool `search`, in the form that chat products expect: returns id, title and url of papers."""

from typing import Annotated, Any

from pydantic import BaseModel, Field

from retriever.calls import SearchCall
from retriever.search import search
from retriever.stages.hits import listed_authors
from retriever.strategy import Strategy
from server.addresses import hit_address
from server.mcp.papers import AMONG_PAPERS, MOST_RESULTS, STRATEGY, NamedPaper, metadata_of, paper_id
from server.mcp.tool import Argument, Tool, ToolContext, ToolResult

# Fields of the search result that are returned next to its papers.
BESIDE_THE_RESULTS = ("strategy", "likelihood", "unknown_words", "notes")
# Fields of a hit that are returned with its metadata.
OTHERS = ("folded", "folded_ids", "same_doi", "title_only")


class FoundPaper(NamedPaper):
    """A paper found by a search."""

    text: Annotated[str, Field(description="the part of the passage that contains the question's words")]


class SearchResults(BaseModel):
    """The papers found, best first."""

    results: list[FoundPaper]
    strategy: Annotated[Strategy | None, Field(description="that was used")] = None
    likelihood: Annotated[
        float | None, Field(description="probability that the papers answer the question, 0 to 1")
    ] = None
    unknown_words: Annotated[
        list[str], Field(description="words of the question that no paper contains")
    ] = []
    notes: Annotated[list[str], Field(description="notes for a reader of the results")] = []


async def _run(call: SearchCall, context: ToolContext) -> ToolResult:
    settings = context.services.settings.retriever
    of = await context.open_target(call.index, call.sources)
    found = await search(of.opened, call.request(), settings)
    shown = found.as_record()
    results = [
        FoundPaper(
            id=paper_id(of, hit.doc_id),
            title=hit.passage.title,
            url=hit_address(record, of.index, context.public),
            text=hit.snippet,
            metadata=metadata_of(hit.paper | listed_authors(hit.paper)) | _others(record),
        )
        for hit, record in zip(found.listed, shown["hits"], strict=True)
    ]
    return ToolResult(SearchResults(results=results, **{name: shown[name] for name in BESIDE_THE_RESULTS}))


def _others(record: dict[str, Any]) -> dict[str, Any]:
    """Return the duplicates of a hit, other hits with its DOI, and whether it is title-only."""
    return {name: record[name] for name in OTHERS if name in record}


TOOL = Tool(
    name="search",
    title="Search scholarly papers",
    description=(
        "Search Korean and English scholarly papers. Takes a question in natural language, or keywords, in "
        "either language, and finds papers in both. Returns papers, best first, each with an id for `fetch`, "
        "its title, its address and the passage found. Ask one thing a call; narrow by year, lang or "
        "journal. For the best results write the `strategy` yourself: keywords in both languages."
    ),
    call=SearchCall,
    arguments={
        "query": Argument("question", "A question or keywords, Korean or English.", required=True),
        "k": Argument("k", most=MOST_RESULTS),
        "strategy": STRATEGY,
        **AMONG_PAPERS,
    },
    output=SearchResults,
    work="search",
    run=_run,
)
