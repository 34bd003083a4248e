"""GROBID, an optional server that extracts the fields of a paper from its PDF.

The fields in GROBID's response replace those of the built-in reader. If GROBID fails, the record of the
built-in reader is kept with a note. Korean papers are not sent: GROBID's models were not trained on them.
https://grobid.readthedocs.io/en/latest/Grobid-service/ documents the request, the status 503 of a busy
server, and the elements of the response (TEI). As the response is untrusted, document types and entities are
rejected, and its size is limited.
"""

import asyncio
import threading
from collections.abc import Mapping
from functools import partial
from typing import Any
from xml.etree.ElementTree import Element, ParseError

import httpx
from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

from base.logs import get_logger
from base.net.backoff import growing_pauses
from base.net.http_client import exchange, open_client
from base.untrusted import one_line
from indexer.corpora.full_text.joining import readable
from indexer.corpora.full_text.references import doi_in, parse_reference
from indexer.corpora.full_text.title_page import arxiv_in
from indexer.corpora.papers import language_of
from indexer.corpora.readers.bibliography import drop_empty, year_within
from indexer.corpora.readers.mapping import Table, find, first, map_record, texts

SENT_BYTES = 64 << 20
ANSWER_BYTES = 32 << 20
FAILURES_IN_A_ROW = 3  # after which the server is not used any more
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 10.0  # pauses before a busy server is tried again
STOP_S = 0.1  # polling interval for cancellation
FORM = {"consolidateHeader": "0", "consolidateCitations": "0", "includeRawCitations": "1"}
READ_BY = "GROBID"
SOURCE = "teiHeader/fileDesc/sourceDesc/biblStruct//"
ARXIV = f"{SOURCE}idno[@type='arXiv']"
# Block elements, separated from surrounding text; other elements are within words.
BLOCKS = frozenset("div head p s lb list item note figure".split())

log = get_logger("full_text")


class GrobidServer:
    """A server, used by several threads until it has failed several times in a row."""

    def __init__(self, url: str, seconds: float) -> None:
        """Create a client with the server's address and the time limit per document in seconds."""
        self._url, self._seconds = url, seconds
        self._failures = 0

    def completed(self, data: bytes, record: Mapping[str, Any], stopped: threading.Event) -> dict[str, Any]:
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
            found = asyncio.run(self._until_stopped(data, stopped))
        except asyncio.CancelledError:
            return dict(record)
        except (httpx.HTTPError, ValueError) as error:
            self._failures += 1
            reason = one_line(str(error) or type(error).__name__)
            log.warning("GROBID failed", reason=reason)
            return {**record, "note": f"read without {READ_BY}: {reason}"}
        self._failures = 0
        return {**record, **found, "read_by": READ_BY}

    async def _until_stopped(self, data: bytes, stopped: threading.Event) -> dict[str, Any]:
        """Return GROBID's fields. Raises CancelledError when another thread sets `stopped`."""
        task = asyncio.create_task(self._ask(data))
        while not task.done():
            await asyncio.wait([task], timeout=STOP_S)
            if stopped.is_set():
                task.cancel()
        return await task

    async def _ask(self, data: bytes) -> dict[str, Any]:
        """Send a PDF, again while the server is busy, within the time limit of a document."""
        url = f"{self._url}/api/processFulltextDocument"
        file = {"input": ("paper.pdf", data, "application/pdf")}
        waited = 0.0
        async with open_client(self._url, None) as client:
            form = client.build_request("POST", url, data=FORM, files=file)
            client.headers.update({"Content-Type": form.headers["Content-Type"], "Accept": "application/xml"})
            content = await form.aread()
            for pause in growing_pauses(FIRST_PAUSE_S, LONGEST_PAUSE_S):
                answer = await exchange(
                    client, "POST", url, content, seconds=self._seconds, most_bytes=ANSWER_BYTES
                )
                waited += pause
                if answer.status_code != httpx.codes.SERVICE_UNAVAILABLE or waited > self._seconds:
                    break
                await asyncio.sleep(pause)
        if answer.status_code != httpx.codes.OK:
            raise ValueError(f"HTTP status {answer.status_code}")
        return record_of_tei(answer.content)


def record_of_tei(content: bytes) -> dict[str, Any]:
    """Return a record without an id; missing fields are omitted. Raises ValueError."""
    try:
        root = fromstring(content, forbid_dtd=True)
    except (ParseError, DefusedXmlException, LookupError) as error:
        raise ValueError(f"its response is not TEI ({type(error).__name__})") from None
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        if element.tag in BLOCKS:
            element.text, element.tail = f" {element.text or ''}", f" {element.tail or ''}"
    if root.find("teiHeader") is None:
        raise ValueError("its response is not TEI (without a header)")
    references = map(_reference, root.iterfind(".//listBibl/biblStruct"))
    return map_record(root, PAPER) | drop_empty(
        _body(root) | {"reference_list": list(filter(None, references))}
    )


def _text(element: Element, path: str) -> str:
    return readable(first(element, path))


def _names(element: Element, path: str) -> list[str]:
    people = (" ".join(texts(person, "*")) for person in element.iterfind(path))
    return list(filter(None, map(readable, people)))


def _year(element: Element, paths: str) -> int | None:
    dates = (date for path in paths.split("|") for date in find(element, path))
    return next(filter(None, (year_within(date.get("when", "") or _text(date, ".")) for date in dates)), None)


PAPER: Table = {
    "title": partial(_text, path="teiHeader//titleStmt/title"),
    "authors": partial(_names, path=f"{SOURCE}author/persName"),
    "year": partial(_year, paths=f"teiHeader//publicationStmt/date|{SOURCE}imprint/date"),
    "doi": lambda root: doi_in(first(root, f"{SOURCE}idno[@type='DOI']")),
    "arxiv": lambda root: arxiv_in(f"arXiv:{first(root, ARXIV).removeprefix('arXiv:')}"),
    "keywords": ("teiHeader//keywords//term",),
    "abstract": lambda root: (
        readable(" ".join(texts(root, "teiHeader//abstract//p"))) or _text(root, "teiHeader//abstract")
    ),
}
CITED: Table = {
    "title": lambda entry: _text(entry, "analytic/title|monogr/title"),
    "year": partial(_year, paths=".//imprint/date"),
    "doi": lambda entry: doi_in(first(entry, ".//idno[@type='DOI']")),
    "authors": partial(_names, path=".//author/persName"),
}


def _reference(entry: Element) -> dict[str, Any]:
    known = map_record(entry, CITED)
    parts = ", ".join(known.get("authors", ())), str(known.get("year", "")), known.get("title", "")
    text = _text(entry, "note[@type='raw_reference']") or ". ".join(filter(None, parts))
    return parse_reference(text) | known if text else {}


def _body(root: Element) -> dict[str, Any]:
    """Return the headings with their levels, and the text with headings on separate lines."""
    sections: list[dict[str, Any]] = []
    parts: list[str] = []
    for division in (*find(root, "text/body/div"), *find(root, "text/back//div/div")):
        head = division.find("head")
        if head is not None and (name := _text(head, ".")):
            number = head.get("n", "").strip()
            level = 1 + number.strip(".").count(".")
            sections.append({"title": f"{number} {name}".strip(), "level": level})
            parts.append(f"{'#' * (level + 1)} {sections[-1]['title']}")
        parts += map(readable, texts(division, "p"))
    return {"sections": sections, "body": "\n\n".join(parts)}
