"""PDFs: how their pages are set, files without text, and files made to harm."""

import re
from contextlib import closing, suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from rapidfuzz.distance import LCSseq
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from indexer.corpora.cleaning import clean_body
from indexer.corpora.full_text.parsing import Limits, ParserPool, parse
from indexer.corpora.papers import Paper
from indexer.corpora.readers import DeadLetter, read_corpus
from tests.conftest import BY_NIGHT
from tests.indexer.corpora.full_text.pdf_files import CATALOG, PAGE, SENTENCE, page_of, pdf, stream, text
from tests.indexer.corpora.full_text.typeset import typeset

GOOD = page_of(text(b"Methane and Water", SENTENCE))
PICTURE = PAGE.replace(b"/Font", b"/XObject<</I 6 0 R>>/Font")
IMAGE = stream(
    bytes(64 * 64),
    b"/Type/XObject/Subtype/Image/Width 64/Height 64/BitsPerComponent 8/ColorSpace/DeviceGray",
)
WITHOUT_MAP = (  # from codes of two bytes to characters
    b"<</Type/Font/Subtype/Type0/BaseFont/None/Encoding/Identity-H/DescendantFonts[<</Type/Font"
    b"/Subtype/CIDFontType2/BaseFont/None"
    b"/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>>>]>>"
)
BODY = [
    "The paddies were drained every second day and the methane",
    "was measured with chambers in all of them.",
] * 8


def draw_text(page, size, left, top, words, font="Times-Roman") -> None:
    page.setFont(font, size)
    page.drawString(left, top, words)


def drawn(draw, lines=BODY, *, font="Times-Roman", spacing=0.0) -> Any:
    """The record of a page with a title, names, a heading and lines, to which `draw` adds something."""
    buffer = BytesIO()
    page = Canvas(buffer, pagesize=(595, 842))
    draw(page, 0)
    draw_text(page, 18, 100, 780, "Methane and Water", "Times-Bold")
    draw_text(page, 11, 100, 750, "Ann Lee", "Times-Bold")
    draw_text(page, 13, 100, 710, "1. Introduction", "Times-Bold")
    page.setFont(font, 10)
    for number, words in enumerate(lines):
        left = 100.0
        for part in words if spacing else [words]:  # each letter on its own
            page.drawString(left, 690 - 12 * number, part)
            left += page.stringWidth(part, font, 10) + spacing * 10
        draw(page, number + 1)
    page.save()
    return parse(buffer.getvalue())["record"]


def turned(quarters):
    def draw(page, number):
        if not number:
            page.translate(*[(0, 0), (595, 0), (595, 842), (0, 842)][quarters])
            page.rotate(90 * quarters)

    return draw


def numbered(step):
    return lambda page, number: (
        number and not number % step and page.drawString(60, 702 - 12 * number, str(number))
    )


def outside(page, number):
    if not number:
        page.setCropBox((50, 200, 560, 842))
        draw_text(page, 10, 100, 190, "Printed outside the visible part of the page")


def page_number(page, number):
    if not number:
        draw_text(page, 10, 290, 30, "- 17 -")


@pytest.mark.parametrize(
    "draw",
    [*map(turned, (0, 2)), numbered(1), numbered(5), outside, page_number],
    ids=["upright", "upside down", "line numbers", "each fifth line", "outside", "page number"],
)
def test_a_page_is_read_without_numbers_of_lines_and_pages_and_text_outside_it(draw):
    record = drawn(draw)

    assert (record["title"], record["authors"]) == ("Methane and Water", ["Ann Lee"])
    assert record["body"].split() == ["##", "1.", "Introduction", *" ".join(BODY).split()]


def encrypted(password: str) -> bytes:
    buffer = BytesIO()
    page = Canvas(buffer, encrypt=StandardEncryption(password, ownerPassword="owner"))
    page.drawString(72, 760, SENTENCE.decode())
    page.save()
    return buffer.getvalue()


def read(folder, **files: bytes):
    for name, data in files.items():
        (folder / f"{name}.pdf").write_bytes(data)
    return list(read_corpus([folder], format="pdf", workers=2))


def parsed(*documents: bytes):
    with ParserPool(1, Limits(cpu_seconds=3, memory_bytes=600 << 20)) as pool:
        return [answer for _, answer in pool.parse_in_order((None, data) for data in documents)]


PROBLEMS = {
    "empty": b"",
    "not a PDF": b"Dear editor, this is a letter.",
    "not a PDF, or a damaged one": b"%PDF-1.7\nand nothing of it",
    "encrypted": encrypted("secret"),
    "no text.*OCR": page_of(b""),
    "images: run OCR": page_of(b"q 500 0 0 700 0 0 cm /I Do Q", page=PICTURE, more=IMAGE),
    "fonts": page_of(text(*[SENTENCE] * 5), font=WITHOUT_MAP),
    "10,000 pages": page_of(b"", pages=b"<</Type/Pages/Kids[%s]/Count 10000>>" % (b"3 0 R " * 10_000)),
    "pages|not a PDF|no text": page_of(b"", pages=b"<</Type/Pages/Kids[3 0 R]/Count 2000000000>>"),
    "no pages|not a PDF|no text": page_of(b"", pages=b"<</Type/Pages/Kids[2 0 R 2 0 R]/Count 2>>"),
    "no pages|not a PDF": pdf([CATALOG, b"<</Type/Pages/Kids[]/Count 0>>"]),
}


@pytest.mark.parametrize(("reason", "data"), PROBLEMS.items(), ids=list(PROBLEMS))
def test_a_file_without_text_is_a_dead_letter_with_the_reason(tmp_path, reason, data):
    first, second = read(tmp_path, a=data, b=GOOD)

    assert isinstance(first, DeadLetter)
    assert first.file == str(tmp_path / "a.pdf")
    assert re.search(reason, first.reason), first.reason
    assert second.id == "b"


def test_a_file_without_a_password_is_read_and_a_cut_one_as_far_as_possible(tmp_path):
    cut = {f"a{part}": GOOD[: len(GOOD) * part // 10] for part in range(1, 10)}
    *items, unlocked, whole = read(tmp_path, **cut, b=encrypted(""), c=GOOD)

    assert all(isinstance(item, DeadLetter) or "methane" in item.body + item.title for item in items)
    assert all("methane" in item.body for item in (unlocked, whole))


FORM = stream(b"/X Do", b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 6 0 R>>>>")
SCRIPT = (
    b"<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(while\\(true\\){})>>"
    b"/Names<</EmbeddedFiles<</Names[(a.exe)<</F(a.exe)/EF<</F 6 0 R>>>>]>>>>>>"
)


FORM_PAGE = PAGE.replace(b"/Font", b"/XObject<</X 6 0 R>>/Font")


@pytest.mark.parametrize(
    "data",
    [
        page_of(text(SENTENCE), trailer=b"/Prev TABLE"),
        page_of(text(SENTENCE) + b" /X Do", page=FORM_PAGE, more=FORM),
        page_of(text(SENTENCE), catalog=SCRIPT, more=stream(b"attached words")),
    ],
    ids=["table to itself", "form in itself", "script and attachment"],
)
def test_loops_end_and_scripts_and_attachments_are_not_opened(data):
    (answer,) = parsed(data)

    assert "methane" in str(answer) or "problem" in answer
    assert "attached" not in str(answer)


@pytest.mark.slow
def test_a_document_that_takes_too_much_time_or_memory_is_ended_and_the_next_one_read():
    operators = page_of(b"BT /F1 9 Tf 72 700 Td " + b"(a)Tj 0 -1 Td " * 5_000_000 + b"ET")
    bomb = page_of(b" " * (900 << 20))

    endless, large, good = parsed(operators, bomb, GOOD)

    assert endless["problem"].startswith("parsing takes more")
    assert large["problem"].startswith(("parsing takes more", "it has no text"))
    assert "methane" in good["record"]["body"]


def test_a_process_has_no_key_and_imports_no_module_of_the_current_folder(tmp_path, monkeypatch):
    (tmp_path / "queue.py").write_text("raise SystemExit('imported')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SHRAG_LLM__API_KEY", "sesame-7731")
    before = children()
    with ParserPool(1) as pool, closing(pool.parse_in_order([(None, GOOD), (None, GOOD)])) as answers:
        assert "record" in next(answers)[1]
        [parser] = children() - before
        assert b"sesame" not in Path(f"/proc/{parser}/environ").read_bytes()


def test_the_order_is_that_of_the_corpus_and_no_process_is_left_when_reading_stops(tmp_path):
    many = page_of(b" ".join([text(SENTENCE)] * 400))
    assert [item.id for item in read(tmp_path, a=many, b=GOOD, c=many, d=GOOD, e=GOOD)] == list("abcde")
    before = children()
    with closing(iter(read_corpus([tmp_path], workers=2))) as items:
        next(items)
        assert children() - before

    assert children() <= before


def children() -> set[str]:
    found: set[str] = set()
    for task in Path("/proc/self/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # a thread of another test that has just ended
            found |= set((task / "children").read_text().split())
    return found


def solid(text: str) -> str:
    return "".join(text.split())


def test_generated_papers_are_read_with_title_text_and_references(tmp_path):
    papers = sorted(map(typeset, range(200 if BY_NIGHT else 16)), key=lambda paper: paper.name)
    for paper in papers:
        (tmp_path / paper.name).write_bytes(paper.data)
    records = [item for item in read_corpus([tmp_path], workers=2) if isinstance(item, Paper)]

    assert [record.id for record in records] == [paper.name.removesuffix(".pdf") for paper in papers]
    for paper, record in zip(papers, records, strict=True):
        assert solid(record.title) == solid(paper.title)
        body = re.sub(r"^#+ ", "", clean_body(record.body), flags=re.MULTILINE)
        wanted, found = solid(paper.text), solid(record.title + record.abstract + body)
        assert LCSseq.similarity(wanted, found) >= 0.98 * len(wanted), paper.name
        listed = {
            (solid(each.get("title", "")), each.get("year"))
            for each in (record.model_extra or {})["reference_list"]
        }
        known = [(solid(each["title"].rstrip(".")), each["year"]) for each in paper.references]
        assert sum(each in listed for each in known) >= 0.8 * len(known), paper.name
