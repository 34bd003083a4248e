"""Client of GROBID, an optional server that extracts the fields of a paper from its PDF.

The fields in GROBID's response replace those of the built-in reader. If GROBID fails, the record of the
built-in reader is kept with a note. Korean papers are not sent: GROBID's models were not trained on them. The
request and the status 503 of a busy server are documented in
https://grobid.readthedocs.io/en/latest/Grobid-service/.
"""

import asyncio
import threading
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

import httpx

from base.logs import get_logger
from base.net.backoff import growing_pauses
from base.net.http_client import exchange, open_client
from base.untrusted import one_line
from indexer.corpora.full_text.tei import record_of_tei
from indexer.corpora.papers import language_of

SENT_BYTES = 64 << 20
ANSWER_BYTES = 32 << 20
FAILURES_IN_A_ROW = 3  # after which the server is not used any more
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 10.0  # pauses before a busy server is tried again
STOP_S = 0.1  # polling interval for cancellation
FORM = {"consolidateHeader": "0", "consolidateCitations": "0", "includeRawCitations": "1"}
READ_BY = "GROBID"

Result = TypeVar("Result")

log = get_logger("full_text")


class GrobidServer:
    """A server, used by several threads until it has failed several times in a row."""

    def __init__(self, url: str, seconds: float) -> None:
        """Create a client with the server's address and the time limit per document in seconds."""
        self._url = url
        self._seconds = seconds
        self._failures = 0
        self._lock = threading.Lock()

    def completed(
        self, data: bytes, record: Mapping[str, Any], stopped: threading.Event | None = None
    ) -> dict[str, Any]:
        """Return the record of a PDF with GROBID's fields, or the original with a note of the reason.

        When `stopped` is set, the request is cancelled and the record is returned unchanged.
        """
        if language_of(str(record.get("title", ""))) == "ko":
            return dict(record)
        if self._failures >= FAILURES_IN_A_ROW:
            return {**record, "note": f"{READ_BY} was not used: it failed {FAILURES_IN_A_ROW} times in a row"}
        if len(data) > SENT_BYTES:
            return {**record, "note": f"{READ_BY} was not used: more than {SENT_BYTES >> 20} MB"}
        try:
            found = asyncio.run(_until_stopped(self._ask(data), stopped or threading.Event()))
        except asyncio.CancelledError:
            return dict(record)
        except (httpx.HTTPError, ValueError) as error:
            with self._lock:
                self._failures += 1
            reason = one_line(str(error) or type(error).__name__)
            log.warning("GROBID failed", reason=reason)
            return {**record, "note": f"read without {READ_BY}: {reason}"}
        self._failures = 0
        return {**record, **found, "read_by": READ_BY}

    async def _ask(self, data: bytes) -> dict[str, Any]:
        file = {"input": ("paper.pdf", data, "application/pdf")}
        async with open_client(self._url, None) as client:
            form = client.build_request("POST", self._url, data=FORM, files=file)
            client.headers.update({"Content-Type": form.headers["Content-Type"], "Accept": "application/xml"})
            response = await self._send(client, await form.aread())
        if response.status_code != httpx.codes.OK:
            raise ValueError(f"HTTP status {response.status_code}")
        return record_of_tei(response.content)

    async def _send(self, client: httpx.AsyncClient, form: bytes) -> httpx.Response:
        """Send a request; retry while the server is busy, within the time limit of a document."""
        waited = 0.0
        for pause in growing_pauses(FIRST_PAUSE_S, LONGEST_PAUSE_S):
            url = f"{self._url}/api/processFulltextDocument"
            response = await exchange(
                client, "POST", url, form, seconds=self._seconds, most_bytes=ANSWER_BYTES
            )
            waited += pause
            if response.status_code != httpx.codes.SERVICE_UNAVAILABLE or waited > self._seconds:
                return response
            await asyncio.sleep(pause)
        raise AssertionError("unreachable: pauses are endless")


async def _until_stopped(request: Coroutine[Any, Any, Result], stopped: threading.Event) -> Result:
    """Return the result of a request. Raises CancelledError when another thread sets `stopped`."""
    task = asyncio.create_task(request)
    while not task.done():
        await asyncio.wait([task], timeout=STOP_S)
        if stopped.is_set():
            task.cancel()
    return await task
