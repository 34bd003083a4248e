"""GROBID, played by a local server: its fields are taken, its faults leave the own reader's record."""

import json
import threading
from pathlib import Path

import pytest

from indexer.building.plan import IngestRequest
from indexer.corpora.full_text import grobid
from indexer.corpora.full_text.grobid import FAILURES_IN_A_ROW, GrobidServer, record_of_tei
from indexer.ingest import build_index
from indexer.settings import IndexerSettings
from tests.http_server import Handler, serving
from tests.indexer.corpora.full_text.pdf_files import SENTENCE, page_of, text

OWN = {"title": "Methane", "body": "from the own reader"}
PDF = page_of(text(b"Methane and Water", SENTENCE))
TEI = Path(__file__).with_name("grobid.xml").read_bytes()
RECORD = json.loads(Path(__file__).with_name("grobid.json").read_text(encoding="utf-8"))


class Grobid(Handler):
    statuses, content, sent = (200,), TEI, list[tuple[str, bytes]]()

    def post(self) -> None:
        self.sent.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(self.statuses[min(len(self.sent), len(self.statuses)) - 1])
        self.send_header("Content-Type", "application/xml")
        self.end_headers()
        self.wfile.write(self.content)


def answering(content: bytes = TEI, *statuses: int) -> type[Grobid]:
    return type("Answering", (Grobid,), {"content": content, "statuses": statuses or (200,), "sent": []})


def completed(url, record=OWN, seconds=5.0):
    return GrobidServer(url, seconds).completed(PDF, record, threading.Event())


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<html><body>busy</body></html>",
        b'<?xml version="1.0"?><!DOCTYPE TEI [<!ENTITY a "aaaa">]>' + TEI.partition(b"?>")[2],
        b'<!DOCTYPE TEI SYSTEM "http://127.0.0.1:1/tei.dtd">' + TEI.partition(b"?>")[2],
        TEI[: len(TEI) // 2],
        TEI.replace(b"UTF-8", b"no-such-coding"),
        TEI.replace(b"Lee", b"\xff\xfe"),
    ],
    ids=["empty", "html", "entity", "outside type", "cut", "coding", "bytes"],
)
def test_what_is_no_tei_or_brings_a_document_type_is_refused(content):
    with pytest.raises(ValueError, match="not TEI"):
        record_of_tei(content)


def test_a_pdf_is_sent_whole_again_to_a_busy_server_and_the_fields_of_the_answer_win(monkeypatch):
    monkeypatch.setattr(grobid, "FIRST_PAUSE_S", 0.01)
    handler = answering(TEI, 503, 503, 200)
    with serving(handler) as url:
        record = completed(url)

    [*_, (path, body)] = handler.sent
    assert (len(handler.sent), path) == (3, "/api/processFulltextDocument")
    assert PDF in body
    assert b'name="includeRawCitations"\r\n\r\n1' in body
    assert record == OWN | RECORD | {"read_by": "GROBID"}


@pytest.mark.parametrize(
    ("content", "status", "reason"),
    [(b"", 500, "HTTP status 500"), (b"<p>not TEI", 200, "not TEI"), (b"x" * 200_000, 200, "100,000 bytes")],
)
def test_a_server_that_fails_leaves_the_own_record_with_a_note(content, status, reason, monkeypatch):
    monkeypatch.setattr(grobid, "ANSWER_BYTES", 100_000)
    with serving(answering(content, status)) as url:
        record = completed(url)

    note = record.pop("note")
    assert note.startswith("read without GROBID: ")
    assert reason in note
    assert record == OWN


def test_a_server_that_fails_again_and_again_is_not_asked_any_more():
    handler = answering(b"", 500)
    with serving(handler) as url:
        server = GrobidServer(url, 5)
        notes = [server.completed(PDF, OWN, threading.Event())["note"] for _ in range(FAILURES_IN_A_ROW + 2)]

    assert len(handler.sent) == FAILURES_IN_A_ROW
    assert "3 times" in notes[-1]


def test_the_setting_names_the_server_and_indexing_asks_it(tmp_path, monkeypatch):
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "a.pdf").write_bytes(PDF)
    (folder / "b.pdf").write_bytes(b"%PDF-1.7 and nothing")
    handler = answering()
    with serving(handler) as url:
        monkeypatch.setenv("SHRAG_GROBID_URL", url)
        settings = IndexerSettings(home=tmp_path / "home", workers=1)
        report = build_index(IngestRequest("p", [str(folder)]), settings)

    assert len(handler.sent) == 1
    assert [letter.file for letter in report.dead_letters] == [str(folder / "b.pdf")]


def test_a_korean_paper_is_not_sent():
    record = {"title": "논의 물 관리와 메탄"}

    assert completed("http://127.0.0.1:1", record) == record
