"""Export of references, of reference lists in a style, and of answers: of papers, or of hits of a search."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import Field

from base.calls import described, with_examples
from base.documents.formats import DOCUMENT_FORMATS
from base.errors import InvalidCall
from base.notes import Note
from generator.answers.cited_answer import CitedAnswer, cited_document
from retriever.calls import QUESTION, CitedCall, SearchCall
from retriever.citing.reference_list import list_document
from retriever.citing.styles import style_named
from retriever.errors import BadFilter, UnknownPaper
from retriever.exports import export_named, export_names
from retriever.index import SearchIndex
from retriever.papers.records import records_of_hits, records_of_papers
from retriever.reference import Record
from retriever.search import search
from server.api.answers_to_cite import MOST_CITED, AnswerToCite, Evidence, answer_to_cite
from server.services import Services, Shared
from server.targets import admitted_search
from server.transport.headers import saved_as
from server.transport.leaving import while_connected

router = APIRouter(prefix="/api/v1", tags=["papers"])

MOST_PAPERS = 1_000
STYLE = "apa"  # default of documents
MISSING = "X-Missing-Papers"  # the number of ids that are not in the index, or the sources
FORMATS = (*export_names(), *DOCUMENT_FORMATS)


def _described(media_type: str) -> dict[str, Any]:
    """Return the description of a file: JSON is a list of references, Word is binary, others are text."""
    if media_type.endswith("+json"):
        return {"schema": {"type": "array", "items": {"type": "object"}}}
    return {"schema": {"type": "string"} | ({"format": "binary"} if media_type == DOCX else {})}


DOCX = DOCUMENT_FORMATS["docx"].media_type
MEDIA_TYPES = [
    *(export_named(name).media_type for name in export_names()),
    *(each.media_type for each in DOCUMENT_FORMATS.values()),
]
FILES: dict[int | str, dict[str, Any]] = {
    200: {"content": {media_type.partition(";")[0]: _described(media_type) for media_type in MEDIA_TYPES}}
}


EXAMPLES: list[dict[str, Any]] = [
    {"format": "bibtex", "ids": ["SAMPLE-BAT-011"]},
    {"format": "ris", "question": QUESTION, "k": 50},
    {"format": "text", "cite": "vancouver", "ids": ["SAMPLE-BAT-011", "SAMPLE-BAT-001"]},
]
ANSWER_EXAMPLE = {
    "format": "markdown",
    "cite": "apa",
    "answer": {
        "question": QUESTION,
        "sentences": [
            {
                "text": "Aerogel slows the spread.",
                "section": "body",
                "citations": ["SAMPLE-BAT-011"],
                "check": "supported",
            }
        ],
    },
    "evidence": [{"passage_id": "SAMPLE-BAT-011", "doc_id": "SAMPLE-BAT-011"}],
}


class ExportCall(SearchCall, CitedCall):
    """Papers by their ids, or a search for them; exactly one of both.

    `text`, `markdown` and `docx` are reference lists in the style `cite`.
    """

    model_config = with_examples(*EXAMPLES)

    format: Annotated[
        str, described(type="string", enum=FORMATS, example="ris"), Field(description="of the file")
    ]
    question: Annotated[str, Field(description="if no ids are given", examples=[QUESTION])] = ""
    ids: Annotated[
        tuple[str, ...],
        Field(
            max_length=MOST_PAPERS,
            description="of papers, if no question is given; unknown ones are left out, "
            f"and {MISSING} counts them",
            examples=[["SAMPLE-BAT-011", "SAMPLE-BAT-001"]],
        ),
    ] = ()


class ExportBody(ExportCall):
    """Papers by their ids, a search for them, or an answer with its evidence.

    An answer is a document (`text`, `markdown` or `docx`) with citations and references in the style `cite`.
    """

    model_config = with_examples(*EXAMPLES, ANSWER_EXAMPLE)

    answer: Annotated[AnswerToCite | None, Field(description="as `ask` returned it, with its `evidence`")] = (
        None
    )
    evidence: Evidence = ()


@router.get("/export", response_class=Response, responses=FILES)
async def export_by_address(
    request: Request, call: Annotated[ExportCall, Query()], services: Shared
) -> Response:
    """Return references as a file of the chosen format."""
    if bool(call.ids) == bool(call.question.strip()):
        raise InvalidCall(Note("ids_or_question"))
    return await _export(request, call, services, call.ids, _file_of(call))


@router.post("/export", response_class=Response, responses=FILES)
async def export_by_body(request: Request, call: ExportBody, services: Shared) -> Response:
    """Return references, or an answer with references, as a file of the chosen format."""
    if sum((bool(call.ids), bool(call.question.strip()), call.answer is not None)) != 1:
        raise InvalidCall(Note("ids_question_or_answer"))
    if call.answer is None:
        return await _export(request, call, services, call.ids, _file_of(call))
    if call.format not in DOCUMENT_FORMATS or not call.evidence:
        raise InvalidCall(f"an answer needs its evidence, and a format of {', '.join(DOCUMENT_FORMATS)}")
    answer = answer_to_cite(call.answer, call.evidence)
    ids = tuple(each.doc_id for each in call.evidence)
    return await _export(request, call, services, ids, _file_of(call, answer))


@dataclass(frozen=True, slots=True)
class _File:
    """The format of the response, and the function that makes it of papers' records."""

    media_type: str
    extension: str
    written: Callable[[Sequence[Record]], bytes]


def _file_of(call: ExportCall, answer: CitedAnswer | None = None) -> _File:
    """Return the file of a call.

    Raises:
        BadFilter: an unknown format or style.
        InvalidCall: a style of a format without styles, or too many papers.
    """
    form, style = DOCUMENT_FORMATS.get(call.format), call.cite or STYLE
    if form is None:
        if call.format not in export_names():
            raise BadFilter(Note("no_such_format", format=call.format, there=", ".join(FORMATS)))
        if call.cite:
            raise InvalidCall(f"cite is the style of {', '.join(DOCUMENT_FORMATS)}; leave it out")
        export = export_named(call.format)
        return _File(export.media_type, export.extension, lambda records: b"".join(export.encoded(records)))
    style_named(style)
    if (count := len(call.ids) or call.k) > MOST_CITED:
        raise InvalidCall(Note("style_too_many", most=MOST_CITED, papers=count))

    def written(records: Sequence[Record]) -> bytes:
        document = cited_document(answer, records, style) if answer else list_document(style, records)
        return form.encoded(document)

    return _File(form.media_type, form.extension, written)


async def _export(
    request: Request, call: ExportCall, services: Services, ids: Sequence[str], file: _File
) -> Response:
    """Read the records of papers by ids, or of the hits of the call's question, and make the file."""
    async with admitted_search(request, services, call) as asked:
        of = asked.of

        async def of_version(version: SearchIndex) -> list[dict[str, Any]]:
            if ids:
                return await records_of_papers(version, ids)
            result = await search(version, asked.request, services.settings.retriever)
            return await records_of_hits(version, result.listed)

        of_source = ids and of.sources
        reading = services.sources.records(of.sources, ids) if of_source else of.opened.ask(of_version)
        records = await while_connected(request, services, reading)
        missing = len(set(ids)) - len(records) if ids else 0
        if ids and not records:
            where = f"the index {of.index} has" if of.index else "the sources have"
            raise UnknownPaper(f"{where} none of these papers")
        written = await asyncio.to_thread(file.written, records)
    headers = {
        **saved_as(f"{of.index or '-'.join(of.sources)}{file.extension}"),
        **({MISSING: str(missing)} if missing else {}),
    }
    return Response(written, media_type=file.media_type, headers=headers)
