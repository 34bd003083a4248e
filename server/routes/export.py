"""Export of references, of reference lists in a style, and of answers: of papers, or of hits of a search."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from base.calls import described, with_examples
from base.documents.formats import DOCUMENT_FORMATS
from base.errors import InvalidCall
from base.notes import Note
from generator.answers.answer import EXTRACTIVE, Answer, Sentence
from generator.answers.cited_answer import cited_document, citing_papers
from generator.calls import MOST_EVIDENCE
from indexer.corpora.papers import Language
from retriever.calls import LONGEST_PASSAGE_ID, QUESTION, CitedCall, SearchCall
from retriever.citing.reference_list import list_document
from retriever.citing.styles import style_named
from retriever.errors import BadFilter, UnknownPaper
from retriever.exports import EXPORTS, export_named
from retriever.index import SearchIndex
from retriever.papers.records import records_of_hits, records_of_papers
from retriever.request import MAX_CHARACTERS
from retriever.search import search
from server.addresses import saved_as
from server.description import MOST_CITED
from server.services import Services, Shared
from server.targets import admitted_search

PassageId = Annotated[str, Field(max_length=LONGEST_PASSAGE_ID)]
router = APIRouter(prefix="/api/v1", tags=["papers"])
MOST_PAPERS = 1_000
MOST_SENTENCES = 100  # of an answer
STYLE = "apa"  # default of documents
MISSING = "X-Missing-Papers"  # the number of ids that are not in the index, or the sources
FORMATS = (*EXPORTS, *DOCUMENT_FORMATS)
DOCX = DOCUMENT_FORMATS["docx"].media_type
MEDIA_TYPES = [
    *(export.media_type for export in EXPORTS.values()),
    *(each.media_type for each in DOCUMENT_FORMATS.values()),
]
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


class AnswerToCite(BaseModel):
    """The answer of `ask`, with the question as its heading, if given; other fields are ignored."""

    question: Annotated[str, Field(max_length=MAX_CHARACTERS)] = ""
    title: str = ""
    introduction: Annotated[str, Field(description="the statement of an abstention")] = ""
    sentences: Annotated[tuple[Sentence, ...], Field(max_length=MOST_SENTENCES)]
    language: Language = "en"
    written_by: str = EXTRACTIVE
    abstained: bool = False


class EvidenceToCite(BaseModel):
    """A passage of the evidence, and its paper; other fields are ignored."""

    passage_id: Annotated[PassageId, Field(examples=["SAMPLE-BAT-011"])]
    doc_id: Annotated[PassageId, Field(examples=["SAMPLE-BAT-011"])]


def answer_to_cite(call: "ExportBody") -> Answer | None:
    """Return the answer of a call with the papers that it cites; citations of other passages are left out."""
    if (sent := call.answer) is None:
        return None
    statement = sent.introduction if sent.abstained else ""
    answer = Answer(sent.title, sent.sentences, sent.language, sent.written_by, sent.abstained, statement)
    return citing_papers(answer, {each.passage_id: each.doc_id for each in call.evidence})


def _described(media_type: str) -> dict[str, Any]:
    """Return the description of a file: JSON is a list of references, Word is binary, others are text."""
    if media_type.endswith("+json"):
        return {"schema": {"type": "array", "items": {"type": "object"}}}
    return {"schema": {"type": "string"} | ({"format": "binary"} if media_type == DOCX else {})}


FILES: dict[int | str, dict[str, Any]] = {
    200: {"content": {media_type.partition(";")[0]: _described(media_type) for media_type in MEDIA_TYPES}}
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
    evidence: Annotated[
        tuple[EvidenceToCite, ...],
        Field(max_length=MOST_EVIDENCE, description="of `answer`: the evidence of `ask`"),
    ] = ()


@router.get("/export", response_class=Response, responses=FILES)
async def export_by_address(
    request: Request, call: Annotated[ExportCall, Query()], services: Shared
) -> Response:
    """Return references as a file of the chosen format."""
    return await _export(request, call, services)


@router.post("/export", response_class=Response, responses=FILES)
async def export_by_body(request: Request, call: ExportBody, services: Shared) -> Response:
    """Return references, or an answer with references, as a file of the chosen format."""
    return await _export(request, call, services)


def _check(call: ExportCall) -> None:
    """Check the combination of fields, the format and the style of a call.

    Raises:
        BadFilter: an unknown format or style.
        InvalidCall: fields that exclude each other, a style of a format without styles, or too many papers.
    """
    body = call if isinstance(call, ExportBody) else None
    answer = body and body.answer
    if sum((bool(call.ids), bool(call.question.strip()), answer is not None)) != 1:
        raise InvalidCall(Note("ids_question_or_answer" if body else "ids_or_question"))
    if body and answer and (call.format not in DOCUMENT_FORMATS or not body.evidence):
        raise InvalidCall(f"an answer needs its evidence, and a format of {', '.join(DOCUMENT_FORMATS)}")
    if call.format in DOCUMENT_FORMATS:
        style_named(call.cite or STYLE)
        if (count := len(call.ids) or call.k) > MOST_CITED:
            raise InvalidCall(Note("style_too_many", most=MOST_CITED, papers=count))
    elif call.format not in EXPORTS:
        raise BadFilter(Note("no_such_format", format=call.format, there=", ".join(FORMATS)))
    elif call.cite:
        raise InvalidCall(f"cite is the style of {', '.join(DOCUMENT_FORMATS)}; leave it out")


async def _export(request: Request, call: ExportCall, services: Services) -> Response:
    """Read the records of papers by ids, or of the hits of the call's question, and make the file."""
    _check(call)
    body = call if isinstance(call, ExportBody) and call.answer else None
    answer = answer_to_cite(body) if body else None
    ids = tuple(each.doc_id for each in body.evidence) if body else call.ids
    question = body.answer.question.strip() if body and body.answer else ""
    async with admitted_search(request, services, call) as asked:
        of = asked.of

        async def of_version(version: SearchIndex) -> list[dict[str, Any]]:
            if ids:
                return await version.run(records_of_papers, ids)
            result = await search(version, asked.request, services.settings.retriever)
            return await version.run(records_of_hits, result.listed)

        if ids and of.sources:
            records = await services.sources.records(of.sources, ids)
        else:
            records = await of.opened.ask(of_version)
        missing = len(set(ids)) - len(records) if ids else 0
        if ids and not records:
            where = f"the index {of.index} has" if of.index else "the sources have"
            raise UnknownPaper(f"{where} none of these papers")

        def content() -> bytes:
            if (document := DOCUMENT_FORMATS.get(call.format)) is None:
                return b"".join(export_named(call.format).encoded(records))
            style = call.cite or STYLE
            if answer is None:
                return document.encoded(list_document(style, records))
            return document.encoded(cited_document(answer, records, style, question))

        written = await asyncio.to_thread(content)
    form = DOCUMENT_FORMATS.get(call.format) or export_named(call.format)
    headers = saved_as(f"{of.index or '-'.join(of.sources)}{form.extension}")
    headers |= {MISSING: str(missing)} if missing else {}
    return Response(written, media_type=form.media_type, headers=headers)
