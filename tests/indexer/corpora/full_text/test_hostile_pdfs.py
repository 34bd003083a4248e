"""PDFs that nothing can be read from, or that are made to harm: a dead letter each, and the next is read."""

import re
from contextlib import closing, suppress
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from indexer.corpora.full_text.parsing import ParserPool
from indexer.corpora.full_text.parsing import Limits
from indexer.corpora.readers import DeadLetter, read_corpus
from tests.indexer.corpora.full_text.pdf_files import CATALOG, PAGE, SENTENCE, page_of, pdf, stream, text

GOOD = page_of(text(b"Methane and Water", SENTENCE))
SMALL = Limits(cpu_seconds=3, memory_bytes=600 << 20)
PICTURE = PAGE.replace(b"/Font", b"/XObject<</I 6 0 R>>/Font")
IMAGE = stream(
    bytes(64 * 64),
    b"/Type/XObject/Subtype/Image/Width 64/Height 64/BitsPerComponent 8/ColorSpace/DeviceGray",
)
# Codes of two bytes, and nothing that says which characters they are.
WITHOUT_MAP = (
    b"<</Type/Font/Subtype/Type0/BaseFont/None/Encoding/Identity-H/DescendantFonts[<</Type/Font"
    b"/Subtype/CIDFontType2/BaseFont/None"
    b"/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>>>]>>"
)


def encrypted(password: str) -> bytes:
    buffer = BytesIO()
    drawn = Canvas(buffer, encrypt=StandardEncryption(password, ownerPassword="owner"))
    drawn.drawString(72, 760, SENTENCE.decode())
    drawn.save()
    return buffer.getvalue()


def read(folder, **files: bytes):
    for name, data in files.items():
        (folder / f"{name}.pdf").write_bytes(data)
    return list(read_corpus([folder], format="pdf", workers=2))


def parsed(*documents: bytes, limits: Limits = SMALL):
    with ParserPool(1, limits) as pool:
        return [answer for _, answer in pool.parse_in_order((None, data) for data in documents)]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"Dear editor, this is a letter.", "not a PDF"),
        (b"%PDF-1.7\nand nothing of it", "not a PDF"),
        (page_of(b""), r"no text.*OCR"),
        (page_of(b"q 500 0 0 700 0 0 cm /I Do Q", page=PICTURE, more=IMAGE), r"no text.*OCR"),
        (page_of(text(*[SENTENCE] * 5), font=WITHOUT_MAP), "fonts"),
        (page_of(b"", pages=b"<</Type/Pages/Kids[%s]/Count 10000>>" % (b"3 0 R " * 10_000)), "10,000 pages"),
        (page_of(b"", pages=b"<</Type/Pages/Kids[3 0 R]/Count 2000000000>>"), "pages|not a PDF|no text"),
        (page_of(b"", pages=b"<</Type/Pages/Kids[2 0 R 2 0 R]/Count 2>>"), "no pages|not a PDF|no text"),
        (pdf([CATALOG, b"<</Type/Pages/Kids[]/Count 0>>"]), "no pages|not a PDF"),
    ],
    ids=["empty", "letter", "header", "blank", "scan", "codes", "10000", "count", "loop", "no pages"],
)  # fmt: skip
def test_what_holds_no_text_is_a_dead_letter_that_says_why(tmp_path, data, reason):
    first, second = read(tmp_path, a=data, b=GOOD)

    assert isinstance(first, DeadLetter)
    assert first.file == str(tmp_path / "a.pdf")
    assert re.search(reason, first.reason), first.reason
    assert second.id == "b"


def test_an_encrypted_file_needs_its_password_and_one_without_is_read(tmp_path):
    locked, open_to_all = read(tmp_path, a=encrypted("secret"), b=encrypted(""))

    assert "encrypted" in locked.reason
    assert "methane" in open_to_all.body


def test_a_file_cut_short_is_read_as_far_as_it_goes_or_refused(tmp_path):
    *cut, whole = read(
        tmp_path, **{f"a{part}": GOOD[: len(GOOD) * part // 10] for part in range(1, 10)}, b=GOOD
    )

    assert len(cut) == 9
    assert all(isinstance(item, DeadLetter) or "methane" in item.body + item.title for item in cut)
    assert "methane" in whole.body


@pytest.mark.parametrize("trailer", [b"/Prev TABLE", b"/Prev 0", b"/Prev 99999999", b"/XRefStm TABLE"])
def test_a_table_that_leads_to_itself_ends(trailer):
    (answer,) = parsed(page_of(text(SENTENCE), trailer=trailer))

    assert answer.keys() & {"record", "problem"}


def test_a_form_that_draws_itself_ends():
    form = stream(b"/X Do", b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 6 0 R>>>>")
    page = PAGE.replace(b"/Font", b"/XObject<</X 6 0 R>>/Font")

    (answer,) = parsed(page_of(text(SENTENCE) + b" /X Do", page=page, more=form))

    assert "methane" in str(answer["record"])


def test_scripts_are_not_run_and_attachments_not_opened(tmp_path):
    catalog = (
        b"<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(while\\(true\\){})>>"
        b"/Names<</EmbeddedFiles<</Names[(a.exe)<</F(a.exe)/EF<</F 6 0 R>>>>]>>>>>>"
    )

    (answer,) = parsed(page_of(text(SENTENCE), catalog=catalog, more=stream(b"attached words")))

    assert "methane" in str(answer)
    assert "attached" not in str(answer)


@pytest.mark.slow
def test_what_computes_too_long_or_takes_too_much_memory_is_ended_and_the_next_one_read():
    operators = page_of(b"BT /F1 9 Tf 72 700 Td " + b"(a)Tj 0 -1 Td " * 5_000_000 + b"ET")
    bomb = page_of(b" " * (900 << 20))

    endless, large, good = parsed(operators, bomb, GOOD)

    assert endless["problem"].startswith("parsing takes more")
    assert large["problem"].startswith(("parsing takes more", "it has no text"))
    assert "methane" in good["record"]["body"]


def test_a_row_of_twenty_thousand_fragments_is_read_in_time():
    raised = b"BT /F1 9 Tf 72 700 Td " + b"0 Ts (a) Tj 5 Ts (a) Tj " * 10_000 + b"ET"

    in_time = replace(SMALL, cpu_seconds=20)  # it takes 2 on an idle core

    assert "record" in parsed(page_of(raised), limits=in_time)[0]


def test_a_module_that_lies_in_the_current_folder_is_not_run(tmp_path, monkeypatch):
    (tmp_path / "queue.py").write_text("raise SystemExit('imported')")
    monkeypatch.chdir(tmp_path)
    assert "record" in parsed(GOOD)[0]


def test_the_process_that_reads_is_given_no_key(monkeypatch):
    monkeypatch.setenv("SHRAG_LLM__API_KEY", "sesame-7731")
    monkeypatch.setenv("HF_TOKEN", "sesame-7731")
    before = children()
    with ParserPool(1) as pool, closing(pool.parse_in_order([(None, GOOD), (None, GOOD)])) as answers:
        assert "record" in (next(answers)[1] or {})
        [parser] = children() - before
        assert b"sesame" not in Path(f"/proc/{parser}/environ").read_bytes()


def test_the_order_is_that_of_the_corpus_whoever_is_ready_first(tmp_path):
    many = page_of(b" ".join([text(SENTENCE)] * 400))

    assert [item.id for item in read(tmp_path, a=many, b=GOOD, c=many, d=GOOD, e=GOOD)] == list("abcde")


def test_no_process_is_left_when_reading_is_broken_off(tmp_path):
    before = children()
    for name in "abcdef":
        (tmp_path / f"{name}.pdf").write_bytes(GOOD)
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
