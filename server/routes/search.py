"""Searches and answers: results, counts, the plan, the explanation of a rank, the record, the answer."""

import asyncio
from enum import Enum
from typing import Annotated, Any, Literal, NotRequired

from fastapi import APIRouter, Body, Query, Request
from fastapi.responses import Response
from pydantic import Field
from typing_extensions import TypedDict

from base.documents.word import MEDIA_TYPE as WORD
from base.logs import get_logger
from base.notes import Note, note_codes
from generator.calls import AskCall
from indexer.versions.manifest import Manifest
from retriever.calls import MOST_HITS, CountedSearch, ExplainedSearch, IndexSearch, SearchCall
from retriever.errors import BadFilter
from retriever.explaining import Account, explain, explanation_lines
from retriever.papers.embedded_metadata import coins
from retriever.request import SearchRequest
from retriever.search_records.record import Comparison, SearchRecord, compare, search_record
from retriever.search_records.report import written
from retriever.stages.hits import HitRecord, SearchResult
from retriever.stages.stages import Stage
from retriever.views.facets import Facets, facets
from retriever.views.nothing_found import NothingFound, nothing_found
from retriever.views.planning import ChosenKeywords, PlannedSearch, plan_search
from server.addresses import saved_as
from server.description import ANSWER_RESULT, EVENTS, OfIndex, Shaped, by_address_and_body, stream_responses
from server.limits.gate import Search
from server.services import Services, Shared
from server.targets import AskedSearch, CallTarget, admitted_search, answer_events, open_target
from server.transport.streams import streamed_or_whole

COUNTED_IN_S = 5.0  # beside the hits; without them the counts have their own call

log = get_logger("server")
router = APIRouter(prefix="/api/v1")
SEARCH: list[str | Enum] = ["search"]  # the tag of searches


class ListedHit(HitRecord):
    """A hit with its metadata for literature managers."""

    coins: Annotated[str, Field(description="for literature managers")]


class FoundInIndex(TypedDict):
    """The hits of a search with the fingerprint of its index."""

    hits: list[ListedHit]
    fingerprint: Annotated[dict[str, str], Field(description="the analyzer and settings of the index")]
    nothing_found: NotRequired[NothingFound]
    facets: NotRequired[
        Annotated[Facets, Field(description="if requested, unless counting fails or takes too long")]
    ]


class WithLines(TypedDict):
    """The parts of a passage's rank; the contributions of `features` add up to `order_score`."""

    lines: Annotated[list[str], Field(description="the same in words")]


SEARCH_RESULT = Annotated[dict[str, Any], Shaped(CallTarget, SearchResult, FoundInIndex, name="SearchResult")]
EXPLAINED = Annotated[dict[str, Any], Shaped(OfIndex, Account, WithLines, name="Explanation")]
COUNTED = Annotated[dict[str, Any], Shaped(OfIndex, Facets, name="FacetsOfIndex")]


@by_address_and_body(router, "/search", tags=SEARCH)
async def search(request: Request, call: SearchCall, services: Shared) -> SEARCH_RESULT:
    """Find the papers that answer a question."""
    async with admitted_search(request, services, call) as asked:
        record = await found(asked, *await asked.search())
        if call.facets and not asked.of.sources and (counts := await _counts(asked)):
            record["facets"] = counts
        return record


async def _counts(asked: AskedSearch) -> dict[str, Any] | None:
    """Count the papers of a finished search; return None if that fails or takes too long."""
    try:
        async with asyncio.timeout(COUNTED_IN_S):
            return await counted(asked, asked.request)
    except Exception as error:  # noqa: BLE001 - the hits are sent after any error
        log.warning("papers of a search not counted", error=type(error).__name__)
        return None


async def counted(asked: AskedSearch, matching: SearchRequest | None) -> dict[str, Any]:
    """Count the papers of an index that match a search, or all of its papers."""
    return (await asked.of.opened.run(facets, matching, asked.services.settings.retriever)).as_record()


async def found(asked: AskedSearch, result: SearchResult, manifest: Manifest) -> dict[str, Any]:
    """Return the response to a search; an index without hits adds the reason."""
    of = asked.of
    record = of.as_record() | {"fingerprint": manifest.fingerprint} | result.as_record()
    if result.listed or of.sources:
        hits = zip(record["hits"], result.listed, strict=True)
        return record | {"hits": [shown | {"coins": coins({**hit.paper, **shown})} for shown, hit in hits]}
    why = await of.opened.run(nothing_found, asked.request, asked.services.settings.retriever)
    return record | {"nothing_found": why.as_record()}


@by_address_and_body(router, "/facets", tags=SEARCH)
async def count(request: Request, call: CountedSearch, services: Shared) -> COUNTED:
    """Count the papers that match a search; the counts of a field ignore its own filter."""
    async with admitted_search(request, services, call) as asked:
        matching = asked.request if call.question.strip() else None
        return {"index": asked.of.index, **await counted(asked, matching)}


@by_address_and_body(router, "/explain", tags=SEARCH)
async def explain_rank(request: Request, call: ExplainedSearch, services: Shared) -> EXPLAINED:
    """Explain a passage's score, part by part and term by term."""
    async with admitted_search(request, services, call) as asked:
        settings = services.settings.retriever
        account = await asked.of.opened.run(explain, asked.request, call.passage_id, settings)
    lines = list(explanation_lines(account, call.words))
    return {"index": asked.of.index, **account.as_record(), "lines": lines}


@router.post("/keywords", tags=SEARCH)
async def keywords(
    request: Request, call: SearchCall, services: Shared
) -> Annotated[dict[str, Any], Shaped(CallTarget, ChosenKeywords)]:
    """Choose the strategy of a question: keywords in both languages, exclusions and years."""
    return await _planned(request, call, services, "terms")


@router.post("/queries", tags=SEARCH)
async def queries(
    request: Request, call: SearchCall, services: Shared
) -> Annotated[dict[str, Any], Shaped(CallTarget, PlannedSearch)]:
    """Make the queries of a question, from a given strategy or its own."""
    return await _planned(request, call, services, "plan")


async def _planned(request: Request, call: SearchCall, services: Services, upto: Stage) -> dict[str, Any]:
    async with admitted_search(request, services, call) as asked:
        settings = services.settings.retriever
        planning = asked.of.opened.run(plan_search, asked.request, settings, upto=upto)
        planned = (await planning).as_record()
        planned["notes"][:0] = asked.notes
        planned["note_codes"][:0] = note_codes(asked.notes)
        return asked.of.as_record() | planned


Form = Literal["json", "markdown", "docx"]
JSON, MARKDOWN = "application/json", "text/markdown"
FORMS = {"json": (JSON, "json"), "markdown": (MARKDOWN, "md"), "docx": (WORD, "docx")}
CONTENT = {
    JSON: {"schema": {"type": "object", "required": ["search_record", "request", "hits"]}},
    MARKDOWN: {"schema": {"type": "string"}},
    WORD: {"schema": {"type": "string", "format": "binary"}},
}


@router.post("/record", response_class=Response, responses={200: {"content": CONTENT}}, tags=SEARCH)
async def record(
    request: Request,
    call: IndexSearch,
    services: Shared,
    form: Annotated[Form, Query(description="of the file", examples=["markdown"])] = "json",
) -> Response:
    """Search, and return the record of the search: JSON, which can be rerun, Markdown or Word."""
    media_type, extension = FORMS[form]
    async with admitted_search(request, services, call) as asked:
        result, manifest = await asked.search()
        content = await asyncio.to_thread(written, search_record(manifest, asked.request, result), form)
    named = saved_as(f"search-record.{extension}")
    charset = "" if media_type == WORD else "; charset=utf-8"
    return Response(content, media_type=f"{media_type}{charset}", headers=named)


class Rerun(TypedDict):
    """A repeated search: the differences, its new record, and its result."""

    comparison: Comparison
    record: dict[str, Any]
    result: SEARCH_RESULT


@router.post("/rerun", tags=SEARCH)
async def rerun(
    saved: Annotated[dict[str, Any], Body()], services: Shared, _: Search
) -> Annotated[dict[str, Any], Shaped(Rerun)]:
    """Run the search of a record again, with today's settings, and report the differences."""
    then = await asyncio.to_thread(SearchRecord.checked, saved, "the call")
    if then.request.k > MOST_HITS:  # more than other calls may request
        raise BadFilter(Note("hits_out_of_range", k=then.request.k, most=MOST_HITS))
    target = await open_target(services, then.index)
    asked = AskedSearch(services, target, then.request)
    result, manifest = await asked.search()
    now, result_now = search_record(manifest, asked.request, result), await found(asked, result, manifest)
    return {"comparison": compare(then, now).as_record(), "record": now.record, "result": result_now}


DESCRIPTION = """Answer a question from the best papers found; every sentence is cited and checked.

With `Accept: text/event-stream` the answer is streamed as numbered events `step`, `keywords`, `queries`,
`evidence`, `sentence`, `check`, `restart` (the sentences so far are withdrawn), and as the last one `done`,
with the content of the plain answer, or `error`, with problem details."""
ANSWER = Annotated[dict[str, Any], ANSWER_RESULT]


@by_address_and_body(
    *(router, "/ask"),
    response_model=ANSWER,
    responses=stream_responses(EVENTS),
    description=DESCRIPTION,
    tags=["answer"],
)
async def ask(request: Request, call: AskCall, services: Shared) -> Any:
    """Answer a question."""
    return await streamed_or_whole(request, answer_events(request, services, call))
