"""Judgements of readers on papers, sentences and answers; kept only if the operator enabled it."""

import asyncio
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Request, Response

from base.notes import Note
from generator.reader_judgements import JudgementCall, ReaderJudgement
from retriever.errors import UnknownPaper, UnknownPassage
from retriever.index import SearchIndex
from server.access.callers import visit_of
from server.errors import Forbidden
from server.judgements.store import judgements_file, keep_judgement
from server.limits.gate import Curate, Read
from server.services import Services, Shared
from server.targets import open_target
from server.transport.headers import saved_as

router = APIRouter(prefix="/api/v1", tags=["judgements"])
MEDIA_TYPE = "application/x-ndjson"
FILE: dict[int | str, dict[str, Any]] = {200: {"content": {MEDIA_TYPE: {"schema": {"type": "string"}}}}}


@router.post("/judgements", status_code=204)
async def judge(call: JudgementCall, services: Shared, _: Read) -> Response:
    """Keep a judgement of a paper, a sentence or an answer, for evaluation.

    The question, the judged thing, the verdict, the day and the caller's token are kept, and no address, key
    or name.
    """
    _require_enabled(services)
    target = await open_target(services, call.index, call.sources)
    if target.index is not None:

        async def of_version(version: SearchIndex) -> None:
            await _check_ids(version, call)

        await target.opened.ask(of_version)
    judgement = ReaderJudgement.of(
        call, target.index or ",".join(target.sources), datetime.now(UTC).date().isoformat()
    )
    await asyncio.to_thread(
        keep_judgement, services.settings.indexer.home, judgement, most_mb=services.server.judgements_mb
    )
    return Response(status_code=204)


@router.get("/judgements", response_class=Response, responses=FILE)
async def kept_judgements(request: Request, services: Shared, _: Curate) -> Response:
    """Return all judgements as JSON lines, for `shrag eval judgements`; needs the role librarian."""
    _require_enabled(services)
    if visit_of(request).caller.is_limited:
        raise Forbidden("the judgements are of all indexes; this needs rights on all of them")
    path = judgements_file(services.settings.indexer.home)
    headers = saved_as("readers.jsonl")
    content = await asyncio.to_thread(lambda: path.read_bytes() if path.exists() else b"")
    return Response(content, media_type=MEDIA_TYPE, headers=headers)


def _require_enabled(services: Services) -> None:
    if not services.server.judgements:
        raise Forbidden("this server keeps no judgements of readers")


async def _check_ids(index: SearchIndex, call: JudgementCall) -> None:
    """Raise UnknownPaper or UnknownPassage if the index does not contain what was judged."""
    if call.paper and call.paper not in await index.engine.papers([call.paper]):
        raise UnknownPaper(Note("no_such_paper", index=index.manifest.name, paper=call.paper[:200]))
    if call.sentence:
        known = await index.engine.passages(list(call.sentence.citations))
        if missing := [each for each in call.sentence.citations if each not in known]:
            raise UnknownPassage(Note("no_such_passage", index=index.manifest.name, passage=missing[0][:200]))
