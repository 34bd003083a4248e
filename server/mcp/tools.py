"""The tools, in the form that chat products expect; models choose them by their descriptions."""

# ruff: noqa: PLR0913 - the arguments of a tool are its interface

from collections.abc import Mapping
from contextlib import aclosing
from typing import Annotated, Any, Literal, TypeAlias

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import Field

from base.untrusted import one_line
from generator.calls import AskCall
from generator.finding.calls import FindCall
from generator.pipeline import answer_question
from retriever.calls import SearchCall
from retriever.errors import UnknownPaper, UnknownPassage
from retriever.index import OpenIndex
from retriever.papers.page import PaperPage, paper_page, passage
from retriever.reference import web_address
from retriever.search import search
from retriever.strategy import Strategy
from server.addresses import PREFIX, hit_address, paper_address, without_address
from server.cited_text import CitedText
from server.finding import finding_events
from server.mcp.protocol import ToolContext, Tools, result
from server.mcp.results import (
    CheckedAnswer,
    FetchedPaper,
    ReadingList,
    SearchResults,
    checked_answer,
    fetched_paper,
    reading_list,
    search_results,
)

MOST_PASSAGES = 200  # of a paper; a model reads no more
SECONDS = 50  # many clients time out after a minute

ToolCall: TypeAlias = Context[Any, Any]
Question = Annotated[str, Field(description="One question, Korean or English.")]
OwnStrategy = Annotated[
    Strategy | None,
    Field(
        description="Your own search strategy; it decides what is found, so give one if you know the "
        "subject. `ko` and `en`: 3 to 10 keywords in each language, most important first. Write both "
        "languages whatever the question's: translate each concept as papers in that language write it, and "
        "add synonyms, abbreviations and names. Use words of titles and abstracts, no question words. "
        "`exclude`: things that papers must not be about, each in both languages. `years`: first and last, "
        "null if open. If the results miss, call again with a better strategy. Without it statistics choose "
        "keywords, in `ask` the server's model if it has one. The strategy used is returned."
    ),
]
Index = Annotated[str | None, Field(description="Name of the index; an error lists the names.")]
Sources = Annotated[
    tuple[str, ...],
    Field(description="Names of sources to search instead of an index; an error lists them."),
]
Year = Annotated[str | None, Field(description="Year of publication: 2019, 2019..2024, ..2024, 2019..")]
Lang = Annotated[Literal["ko", "en", "other"] | None, Field(description="Language of the passage.")]
Journal = Annotated[str | None, Field(description="Exact name of the journal.")]


def make_tools(local: ToolContext | None = None) -> Tools:
    """Create the protocol's server; `local` is the context of calls over stdio."""
    made = Tools(local)

    @made.reading("Answer from scholarly papers")
    async def ask(
        called: ToolCall,
        *,
        question: Question,
        k: Annotated[int, Field(ge=1, le=20, description="Number of papers as evidence.")] = 5,
        strategy: OwnStrategy = None,
        index: Index = None,
        sources: Sources = (),
        year: Year = None,
        lang: Lang = None,
        journal: Journal = None,
    ) -> Annotated[CallToolResult, CheckedAnswer]:
        """Answer a question from Korean and English scholarly papers.

        Returns an answer in the question's language, every sentence with the passages it cites and a check
        whether they support it, and the references. Without a language model it returns sentences quoted from
        the papers, which may help. If the papers do not answer it says so, names unknown words and lists the
        nearest papers. Slower than `search`; use it for a question that papers can answer, and `search` and
        `fetch` to read for yourself.
        """
        context = made.context_of(called)
        services = context.services
        of = await context.open_target(index, sources)
        call = AskCall.of(
            question=question, evidence=k, strategy=strategy, year=year, lang=lang, journal=journal
        )
        request = call.request(services.settings)
        model = services.model_of(request)
        asked = await answer_question(of.opened, request, services.settings, model=model)
        notes = without_address(list(asked.result.notes), services.settings)
        text = CitedText(question, lambda hit: hit_address(hit, of.index, context.public))
        values = checked_answer(asked, text, notes, of, context.public)
        return result(values, values.answer)

    @made.reading("Read a paper")
    async def fetch(
        called: ToolCall,
        *,
        id: Annotated[str, Field(max_length=1_000, description="An id returned by another tool.")],  # noqa: A002 - expected
    ) -> Annotated[CallToolResult, FetchedPaper]:
        """Read a paper that another tool has found.

        Returns its title, its text as far as it is in the index, its address, and authors, year and journal
        as metadata.
        """
        context = made.context_of(called)
        name, _, own = id.removeprefix(PREFIX).partition(":")
        if id.startswith(PREFIX) and name in context.services.sources.names():
            return result(await _paper_of_source(id, name, own, context))
        name, colon, doc_id = id.partition(":")
        if not colon or not await context.services.indexes.knows(name):  # there may be one index only
            name, doc_id = await context.chosen_index(None), id
        page = await _page(await context.services.indexes.get(name), doc_id)
        return result(
            fetched_paper(
                f"{name}:{page.doc_id}",
                {"doc_id": page.doc_id, **page.record},
                [passage.text for passage in page.passages],
                f"{context.public}{paper_address(page.doc_id, name)}",
                is_complete=len(page.passages) == page.passage_count,
            )
        )

    @made.reading("Find papers for a question")
    async def find_papers(
        called: ToolCall,
        *,
        question: Annotated[str, Field(description="The topic of the papers, or a question.")],
        k: Annotated[int, Field(ge=1, le=100, description="Papers to find.")] = 20,
        seconds: Annotated[
            float, Field(gt=0, le=86_400, description="Most seconds of the search.")
        ] = SECONDS,
        index: Index = None,
        sources: Sources = (),
        year: Year = None,
        lang: Lang = None,
        journal: Journal = None,
    ) -> Annotated[CallToolResult, ReadingList]:
        """Find the papers for a question or topic: a reading list rather than an answer.

        Expands the question to several queries, judges what they find, follows references and cited-by links
        of what is relevant, and searches further from there. Returns the relevant papers, best first, each
        with a score, a reason, and how it was found. Slower than `search`, which is one query; use it for
        surveys, related work and "what is there on …".
        """
        context = made.context_of(called)
        of = await context.open_target(index, sources)
        call = FindCall.of(
            question=question, papers=k, max_seconds=seconds, year=year, lang=lang, journal=journal
        )
        found: Mapping[str, Any] = {}
        reported_s = 0.0  # reported progress must increase
        async with aclosing(finding_events(of, call.request(), context.services)) as events:
            async for event in events:
                found = event.data
                if event.kind == "spent" and found["seconds"] > reported_s:
                    reported_s = found["seconds"]
                    words = "{known} papers found, {papers} judged, {relevant} of them relevant"
                    await called.report_progress(reported_s, seconds, words.format_map(found))
        return result(reading_list(found, of, context.public))

    @made.reading("Search scholarly papers", name="search")
    async def search_papers(
        called: ToolCall,
        *,
        query: Annotated[str, Field(description="A question or keywords, Korean or English.")],
        k: Annotated[int, Field(ge=1, le=100, description="Papers to find.")] = 10,
        strategy: OwnStrategy = None,
        index: Index = None,
        sources: Sources = (),
        year: Year = None,
        lang: Lang = None,
        journal: Journal = None,
    ) -> Annotated[CallToolResult, SearchResults]:
        """Search Korean and English scholarly papers.

        Takes a question in natural language, or keywords, in either language, and finds papers in both.
        Returns papers, best first, each with an id for `fetch`, its title, its address and the passage found.
        Ask one thing a call; narrow by year, lang or journal. For the best results write the `strategy`
        yourself: keywords in both languages.
        """
        context = made.context_of(called)
        of = await context.open_target(index, sources)
        call = SearchCall.of(question=query, k=k, strategy=strategy, year=year, lang=lang, journal=journal)
        found = await search(of.opened, call.request(), context.services.settings.retriever)
        return result(search_results(found, of, context.public))

    return made


async def _page(index: OpenIndex, given: str) -> PaperPage:
    """Read a paper by its id, or by the id of one of its passages."""
    try:
        return await index.run(paper_page, given, passages=MOST_PASSAGES, related=1, similar=1)
    except UnknownPaper:
        try:
            found = await index.run(passage, given)
        except UnknownPassage:
            found = None
        if found is None or found.doc_id == given:
            raise
    return await index.run(paper_page, found.doc_id, passages=MOST_PASSAGES, related=1, similar=1)


async def _paper_of_source(given: str, name: str, own: str, context: ToolContext) -> FetchedPaper:
    records = await context.services.sources.records([name], [own])
    if not records:
        raise UnknownPaper(f"source {name!r} has no paper {one_line(own)!r}")
    [record] = records
    texts = [str(record[part]) for part in ("abstract", "abstract2", "body") if record.get(part)]
    return fetched_paper(given, record, texts, web_address(record))
