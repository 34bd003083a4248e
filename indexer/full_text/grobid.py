"""GROBID, an optional server that reads each PDF too: its fields replace the own reader's.

Where GROBID fails, the record of the own reader is kept with a note. Korean papers are not sent: GROBID's
models were not trained on them. The request is documented in
https://grobid.readthedocs.io/en/latest/Grobid-service/.
"""

import asyncio
import threading
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import httpx

from indexer.full_text.tei import record_of_tei
from indexer.http_client import exchange, open_client
from indexer.logs import get_logger
from indexer.papers import language_of
from indexer.untrusted import one_line

SENT_BYTES = 64 << 20
ANSWER_BYTES = 32 << 20
FAILURES_IN_A_ROW = 3  # after which it is not asked again
FORM = {"consolidateHeader": "0", "consolidateCitations": "0", "includeRawCitations": "1"}
READ_BY = "GROBID"

log = get_logger("full_text")


class GrobidServer:
    """A server, asked by several threads, until it has failed several times in a row."""

    def __init__(self, url: str, seconds: float) -> None:
        """Name the server's address and the seconds that one document may take."""
        self._url = url
        self._seconds = seconds
        self._failures = 0
        self._lock = threading.Lock()

    def completed(self, data: bytes, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return the record of a PDF with GROBID's fields, or unchanged with a note that gives the reason."""
        if language_of(str(record.get("title", ""))) == "ko":
            return dict(record)
        if self._failures >= FAILURES_IN_A_ROW:
            return {
                **record,
                "note": f"{READ_BY} was not asked: it failed {FAILURES_IN_A_ROW} times in a row",
            }
        if len(data) > SENT_BYTES:
            return {**record, "note": f"{READ_BY} was not asked: more than {SENT_BYTES >> 20} MB"}
        try:
            found = asyncio.run(self._ask(data))
        except (httpx.HTTPError, ValueError) as error:
            self._count(failed=True)
            reason = one_line(str(error) or type(error).__name__)
            log.warning("GROBID failed", reason=reason)
            return {**record, "note": f"read without {READ_BY}: {reason}"}
        self._count(failed=False)
        return {**record, **found, "read_by": READ_BY}

    def _count(self, *, failed: bool) -> None:
        with self._lock:
            self._failures = self._failures + 1 if failed else 0

    async def _ask(self, data: bytes) -> dict[str, Any]:
        boundary = uuid4().hex
        async with open_client(self._url, None) as client:
            client.headers["Content-Type"] = f"multipart/form-data; boundary={boundary}"
            client.headers["Accept"] = "application/xml"
            response = await exchange(
                client,
                "POST",
                f"{self._url}/api/processFulltextDocument",
                _form(data, boundary),
                seconds=self._seconds,
                most_bytes=ANSWER_BYTES,
            )
        if response.status_code != httpx.codes.OK:
            raise ValueError(f"HTTP status {response.status_code}")
        return record_of_tei(response.content)


def _form(data: bytes, boundary: str) -> bytes:
    """Return the body of the request (RFC 7578)."""
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="'
    fields = "".join(f'{head}{name}"\r\n\r\n{value}\r\n' for name, value in FORM.items())
    file = f'{head}input"; filename="paper.pdf"\r\nContent-Type: application/pdf\r\n\r\n'
    return fields.encode() + file.encode() + data + f"\r\n--{boundary}--\r\n".encode()
