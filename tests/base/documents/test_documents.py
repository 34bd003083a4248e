"""Documents written as Word, Markdown and plain text, and read again."""

import io

import docx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from base.documents.blocks import Heading, Paragraph, Run, Table, plain, table
from base.documents.formats import as_markdown, as_text
from base.documents.word import as_word
from tests.hostile import TEXTS

DOCUMENT = (
    Heading("논의 메탄 <b>"),
    Paragraph((Run("Kim, A. (2023). "), Run("Annals & Notes", italic=True), Run(", 7(2).")), "reference"),
    Paragraph((Run("곽소율 (2021)."),), "reference"),
    plain("first", "item"),
    plain("둘째", "item"),
    Heading("Queries", 2),
    table(("Name", "Hits"), [("SQ1", 3), ("a|b", 12)]),
    plain("1. end"),
)


def test_word_is_read_with_its_headings_paragraphs_and_tables():
    read = docx.Document(io.BytesIO(as_word(DOCUMENT)))

    assert [(str(getattr(paragraph.style, "name", "")), paragraph.text) for paragraph in read.paragraphs] == [
        ("Heading 1", "논의 메탄 <b>"),
        ("Normal", "Kim, A. (2023). Annals & Notes, 7(2)."),
        ("Normal", "곽소율 (2021)."),
        ("List Bullet", "first"),
        ("List Bullet", "둘째"),
        ("Heading 2", "Queries"),
        ("Normal", ""),
        ("Normal", "1. end"),
    ]
    assert [run.text for run in read.paragraphs[1].runs if run.italic] == ["Annals & Notes"]
    (found,) = read.tables
    assert [[cell.text for cell in row.cells] for row in found.rows] == [
        ["Name", "Hits"],
        ["SQ1", "3"],
        ["a|b", "12"],
    ]


@given(st.lists(TEXTS, max_size=4))
def test_word_can_be_read_whatever_the_text(texts):
    blocks: tuple[Heading | Paragraph | Table, ...] = (
        Heading("T"),
        *map(plain, texts),
        table(("A",), [[text] for text in texts]),
    )
    read = docx.Document(io.BytesIO(as_word(blocks)))

    assert len(read.paragraphs) == len(texts) + 2
    assert len(read.tables[0].rows) == len(texts) + 1


def test_markdown_is_escaped():
    assert as_markdown(DOCUMENT) == (
        "# 논의 메탄 \\<b\\>\n"
        "\n"
        "Kim, A. (2023). *Annals \\& Notes*, 7(2).\n"
        "\n"
        "곽소율 (2021).\n"
        "\n"
        "- first\n"
        "- 둘째\n"
        "\n"
        "## Queries\n"
        "\n"
        "| Name | Hits |\n"
        "| --- | --- |\n"
        "| SQ1 | 3 |\n"
        "| a\\|b | 12 |\n"
        "\n"
        "1\\. end\n"
    )


@pytest.mark.parametrize(("text", "line"), [("- a", "\\- a"), ("12) a", "12\\) a"), ("+ a", "\\+ a")])
def test_no_paragraph_of_markdown_is_a_list(text, line):
    assert as_markdown([plain(text)]) == f"{line}\n"


def test_text_has_one_entry_of_a_list_per_line():
    assert as_text(DOCUMENT) == (
        "논의 메탄 <b>\n"
        "\n"
        "Kim, A. (2023). Annals & Notes, 7(2).\n"
        "곽소율 (2021).\n"
        "- first\n"
        "- 둘째\n"
        "\n"
        "Queries\n"
        "\n"
        "Name\tHits\n"
        "SQ1\t3\n"
        "a|b\t12\n"
        "\n"
        "1. end\n"
    )
