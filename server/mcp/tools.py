"""The tools, in the form that chat products expect; models choose them by their descriptions."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from starlette.requests import Request

from base.untrusted import one_line
from generator.calls import AskCall
from generator.finding.calls import FindCall
from generator.pipeline import answer_question
from retriever.calls import SearchCall
from retriever.errors import UnknownPaper, UnknownPassage
from retriever.index import OpenIndex
from retriever.papers.page import PaperPage, paper_page, passage
from retriever.reference import web_address
from retriever.search import search as search_index
from retriever.strategy import Strategy
from server.addresses import PREFIX, hit_address, paper_address, public_address, without_address
from server.cited_text import CitedText
from server.finding import finding_events
from server.limits.gate import Work
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
from server.services import Backends, Services
from server.targets import CallTarget, open_target

MOST_PASSAGES = 200  # of a paper; a model reads no more
SECONDS = 50  # many clients time out after a minute


async def _no_report(_progress: float, _total: float | None = None, _message: str | None = None) -> None:
    """Report nothing."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The context of a tool's call: the shared backends, the request, the default index, the client.

    Over stdio the only caller is the person who started the process, so there is no request and no gate.
    """

    services: Backends
    request: Request | None = None
    index: str | None = None
    report_progress: Callable[[float, float | None, str | None], Awaitable[None]] = _no_report

    @property
    def public(self) -> str:
        """The address of the server for readers."""
        return public_address(self.services.server, self.request)

    @asynccontextmanager
    async def admitted(self, tool: "Tool", given: "Arguments") -> AsyncIterator[None]:
        """Hold a slot during the work of a tool; raises as `Gate.admit`."""
        if self.request is None:
            yield
            return
        services: Services = self.request.state.services
        admitted = services.gate.admit(
            self.request, tool.work, is_stream=tool.ends_by_itself, asks_sources=given.asks_sources
        )
        async with admitted:
            yield


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


class Arguments(BaseModel):
    """The arguments of a tool."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @property
    def asks_sources(self) -> bool:
        """Whether sources are asked."""
        return bool(getattr(self, "sources", ())) or getattr(self, "id", "").startswith(PREFIX)

    @model_validator(mode="before")
    @classmethod
    def _read(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Leave out absent values, for which models write "" and null; read objects written as a text."""
        required = {name for name, field in cls.model_fields.items() if field.is_required()}
        present = {
            name: value for name, value in given.items() if name in required or value not in (None, "")
        }
        for name in present.keys() & {"strategy", "sources"}:
            with suppress(ValueError, TypeError, RecursionError):  # a text that is not JSON is refused
                present[name] = json.loads(present[name])
        return present


class _Place(Arguments):
    index: Annotated[str | None, Field(description="Name of the index; an error lists the names.")] = None
    sources: Annotated[
        tuple[str, ...],
        Field(description="Names of sources to search instead of an index; an error lists them."),
    ] = ()
    year: Annotated[
        str | None, Field(description="Year of publication: 2019, 2019..2024, ..2024, 2019..")
    ] = None
    lang: Annotated[Literal["ko", "en", "other"] | None, Field(description="Language of the passage.")] = None
    journal: Annotated[str | None, Field(description="Whole name of the journal, in any case.")] = None

    @property
    def narrowing(self) -> dict[str, Any]:
        """The fields of a call that are arguments of the same name."""
        names = self.model_fields_set & {"question", "strategy", "year", "lang", "journal"}
        return {name: getattr(self, name) for name in names}

    async def target(self, context: ToolContext) -> CallTarget:
        """Open the index or the sources; raises as `open_target`."""
        index = self.index or (None if self.sources else context.index)
        return await open_target(context.services, index, self.sources)


class AskArguments(_Place):
    """A question."""

    question: Annotated[str, Field(description="One question, Korean or English.")]
    k: Annotated[int, Field(ge=1, le=20, description="Number of papers as evidence.")] = 5
    strategy: OwnStrategy = None


async def ask(context: ToolContext, given: AskArguments) -> tuple[CheckedAnswer, str]:
    """Answer a question from Korean and English scholarly papers.

    Returns an answer in the question's language, every sentence with the passages it cites and a check
    whether they support it, and the references. Without a language model it returns sentences quoted from
    the papers, which may help. If the papers do not answer it says so, names unknown words and lists the
    nearest papers. Slower than `search`; use it for a question that papers can answer, and `search` and
    `fetch` to read for yourself.
    """
    services, of = context.services, await given.target(context)
    request = AskCall.of(evidence=given.k, **given.narrowing).request(services.settings)
    asked = await answer_question(of.opened, request, services.settings, model=services.model_of(request))
    notes = without_address(list(asked.result.notes), services.settings)
    text = CitedText(given.question, lambda hit: hit_address(hit, of.index, context.public))
    values = checked_answer(asked, text, notes, of, context.public)
    return values, values.answer


class FetchArguments(Arguments):
    """The id of a paper."""

    id: Annotated[str, Field(max_length=1_000, description="An id returned by another tool.")]


async def fetch(context: ToolContext, given: FetchArguments) -> tuple[FetchedPaper, str]:
    """Read a paper that another tool has found.

    Returns its title, its text as far as it is in the index, its address, and authors, year and journal
    as metadata.
    """
    services, paper = context.services, given.id
    name, _, own = paper.removeprefix(PREFIX).partition(":")
    if paper.startswith(PREFIX) and name in services.sources.names():
        return await _paper_of_source(paper, name, own, context), ""
    name, colon, doc_id = paper.partition(":")
    if not colon or not await services.indexes.knows(name):  # there may be one index only
        name, doc_id = await services.indexes.chosen(context.index), paper
    page = await _page(await services.indexes.get(name), doc_id)
    fetched = fetched_paper(
        f"{name}:{page.doc_id}",
        {"doc_id": page.doc_id, **page.record},
        [passage.text for passage in page.passages],
        f"{context.public}{paper_address(page.doc_id, name)}",
        is_complete=len(page.passages) == page.passage_count,
    )
    return fetched, ""


class FindArguments(_Place):
    """A topic."""

    question: Annotated[str, Field(description="The topic of the papers, or a question.")]
    k: Annotated[int, Field(ge=1, le=100, description="Papers to find.")] = 20
    seconds: Annotated[float, Field(gt=0, le=86_400, description="Most seconds of the search.")] = SECONDS


async def find_papers(context: ToolContext, given: FindArguments) -> tuple[ReadingList, str]:
    """Find the papers for a question or topic: a reading list rather than an answer.

    Expands the question to several queries, judges what they find, follows references and cited-by links
    of what is relevant, and searches further from there. Returns the relevant papers, best first, each
    with a score, a reason, and how it was found. Slower than `search`, which is one query; use it for
    surveys, related work and "what is there on …".
    """
    of = await given.target(context)
    call = FindCall.of(papers=given.k, max_seconds=given.seconds, **given.narrowing)
    found: Mapping[str, Any] = {}
    reported_s = 0.0  # reported progress must increase
    async with aclosing(finding_events(of, call.request(), context.services)) as events:
        async for event in events:
            found = event.data
            if event.kind == "spent" and found["seconds"] > reported_s:
                reported_s = found["seconds"]
                words = "{known} papers found, {papers} judged, {relevant} of them relevant"
                await context.report_progress(reported_s, given.seconds, words.format_map(found))
    return reading_list(found, of, context.public), ""


class SearchArguments(_Place):
    """A query."""

    query: Annotated[str, Field(description="A question or keywords, Korean or English.")]
    k: Annotated[int, Field(ge=1, le=100, description="Papers to find.")] = 10
    strategy: OwnStrategy = None


async def search(context: ToolContext, given: SearchArguments) -> tuple[SearchResults, str]:
    """Search Korean and English scholarly papers.

    Takes a question in natural language, or keywords, in either language, and finds papers in both.
    Returns papers, best first, each with an id for `fetch`, its title, its address and the passage found.
    Ask one thing a call; narrow by year, lang or journal. For the best results write the `strategy`
    yourself: keywords in both languages.
    """
    of = await given.target(context)
    request = SearchCall.of(question=given.query, k=given.k, **given.narrowing).request()
    found = await search_index(of.opened, request, context.services.settings.retriever)
    return search_results(found, of, context.public), ""


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


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: its docstring describes it; it returns values for programs, and a text for models, if any."""

    title: str
    run: Callable[[ToolContext, Any], Awaitable[tuple[BaseModel, str]]]
    arguments: type[Arguments]
    result: type[BaseModel]
    work: Work
    ends_by_itself: bool = False  # with partial results, at its time limit or when the server stops


TOOLS = {
    "ask": Tool("Answer from scholarly papers", ask, AskArguments, CheckedAnswer, "ask"),
    "fetch": Tool("Read a paper", fetch, FetchArguments, FetchedPaper, "read"),
    "find_papers": Tool(
        "Find papers for a question", find_papers, FindArguments, ReadingList, "ask", ends_by_itself=True
    ),
    "search": Tool("Search scholarly papers", search, SearchArguments, SearchResults, "search"),
}
