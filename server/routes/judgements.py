"""Judgements of readers on papers, sentences and answers; kept only if the operator enabled it."""

import asyncio
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Request, Response

from base.logs import get_logger
from base.notes import Note
from base.records import adapter
from generator.reader_judgements import JudgementCall, ReaderJudgement
from retriever.errors import UnknownPaper, UnknownPassage
from retriever.index import SearchIndex
from server.access.callers import visit_of
from server.addresses import saved_as
from server.errors import Forbidden, JudgementNotKept, StoreUnusable
from server.limits.gate import Curate, Read
from server.services import Services, Shared
from server.store import Store
from server.targets import open_target

router = APIRouter(prefix="/api/v1", tags=["judgements"])
log = get_logger("server")
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
        await target.opened.run(_check_ids, call)
    judgement = ReaderJudgement.of(
        call, target.index or ",".join(target.sources), datetime.now(UTC).date().isoformat()
    )
    await asyncio.to_thread(_keep, services.store, judgement, services.server.judgements_mb * 1_000_000)
    return Response(status_code=204)


@router.get("/judgements", response_class=Response, responses=FILE)
async def kept_judgements(request: Request, services: Shared, _: Curate) -> Response:
    """Return all judgements as JSON lines, for `shrag eval judgements`; needs the role librarian."""
    _require_enabled(services)
    if visit_of(request).caller.is_limited:
        raise Forbidden("the judgements are of all indexes; this needs rights on all of them")
    rows = await asyncio.to_thread(services.store.rows, "SELECT record FROM judgements ORDER BY id")
    content = b"".join(record + b"\n" for (record,) in rows)
    return Response(content, media_type=MEDIA_TYPE, headers=saved_as("readers.jsonl"))


def _keep(store: Store, judgement: ReaderJudgement, most_bytes: int) -> None:
    record = adapter(ReaderJudgement).dump_json(judgement)
    try:
        with store.changing() as database:
            (size,) = database.execute("SELECT total(length(record)) FROM judgements").fetchone()
            if size >= most_bytes:
                raise JudgementNotKept("no further judgements are kept; the operator can raise their size")
            database.execute("INSERT INTO judgements (record) VALUES (?)", (record,))
    except StoreUnusable as error:
        log.warning("judgement not kept", reason=error.what)
        raise JudgementNotKept("the judgement could not be kept; the reason is in the server's log") from None


def _require_enabled(services: Services) -> None:
    if not services.server.judgements:
        raise Forbidden("this server keeps no judgements of readers")


def _check_ids(index: SearchIndex, call: JudgementCall) -> None:
    """Raise UnknownPaper or UnknownPassage if the index does not contain what was judged."""
    if call.paper and call.paper not in index.engine.papers([call.paper]):
        raise UnknownPaper(Note("no_such_paper", index=index.manifest.name, paper=call.paper[:200]))
    if call.sentence:
        known = index.engine.passages(list(call.sentence.citations))
        if missing := [each for each in call.sentence.citations if each not in known]:
            raise UnknownPassage(Note("no_such_passage", index=index.manifest.name, passage=missing[0][:200]))
