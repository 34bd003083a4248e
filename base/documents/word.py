"""A document as Word reads it, made by python-docx."""

import io
from typing import TYPE_CHECKING, Any

from base.documents.blocks import Block, Document, Heading, Paragraph, Table
from base.letters import HANGUL
from base.untrusted import FORBIDDEN_IN_XML

if TYPE_CHECKING:  # only documents import it
    from docx.document import Document as WordDocument

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
LATIN_FONT, KOREAN_FONT = "Calibri", "맑은 고딕"
POINTS = {"Normal": 11, "Heading 1": 18, "Heading 2": 14, "Heading 3": 12}
WIDTH_MM, HEIGHT_MM, MARGIN_MM, INDENT_MM = 210, 297, 25, 8  # A4
SHORTEST_CELL, LONGEST_CELL = 11, 60  # columns of a cell that the width of its column considers


def as_word(document: Document) -> bytes:
    """Return the document as a .docx file."""
    import docx

    made = docx.Document()
    _set_page_and_fonts(made)
    for block in document:
        _add(made, block)
    package = io.BytesIO()
    made.save(package)
    return package.getvalue()


def _set_page_and_fonts(made: "WordDocument") -> None:
    from docx.oxml.ns import qn
    from docx.shared import Mm, Pt, RGBColor

    section = made.sections[0]
    section.page_width, section.page_height = Mm(WIDTH_MM), Mm(HEIGHT_MM)
    for side in ("left_margin", "right_margin", "top_margin", "bottom_margin"):
        setattr(section, side, Mm(MARGIN_MM))
    for name, points in POINTS.items():
        style: Any = made.styles[name]
        style.font.name, style.font.size = LATIN_FONT, Pt(points)
        style.font.color.rgb = RGBColor(0, 0, 0)
        # The font of Hangul, which Word otherwise takes from the theme of the reader's language.
        fonts = style.element.get_or_add_rPr().get_or_add_rFonts()
        fonts.set(qn("w:eastAsia"), KOREAN_FONT)
        for theme in ("w:asciiTheme", "w:hAnsiTheme", "w:eastAsiaTheme"):
            fonts.attrib.pop(qn(theme), None)


def _add(made: "WordDocument", block: Block) -> None:
    from docx.shared import Mm

    if isinstance(block, Heading):
        made.add_heading(_allowed(block.text), block.level)
    elif isinstance(block, Table):
        _add_table(made, block)
    else:
        paragraph = made.add_paragraph(style="List Bullet" if block.kind == "item" else None)
        if block.kind == "reference":
            paragraph.paragraph_format.left_indent = Mm(INDENT_MM)
            paragraph.paragraph_format.first_line_indent = Mm(-INDENT_MM)
        _add_runs(paragraph, block)


def _add_runs(paragraph: Any, block: Paragraph) -> None:
    for run in block.runs:
        paragraph.add_run(_allowed(run.text)).italic = run.italic or None


def _add_table(made: "WordDocument", block: Table) -> None:
    from docx.oxml import OxmlElement
    from docx.shared import Mm

    rows = (block.header, *block.rows)
    table = made.add_table(len(rows), len(block.header), style="Table Grid")
    table.autofit = False
    for column, width in zip(table.columns, _widths(rows), strict=True):
        column.width = Mm(width)
    for number, (cells, texts) in enumerate(zip(table.rows, rows, strict=True)):
        for cell, text, width in zip(cells.cells, texts, _widths(rows), strict=True):
            cell.width = Mm(width)
            cell.paragraphs[0].add_run(_allowed(text)).bold = number == 0 or None
    table.rows[0]._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))  # noqa: SLF001 - no public name
    made.add_paragraph()  # Word would join two tables


def _widths(rows: tuple[tuple[str, ...], ...]) -> list[int]:
    """Divide the width of the text, in mm, by the longest cells of the columns; Hangul counts twice."""
    longest = [
        max(len(cell) + len(HANGUL.findall(cell)) for cell in column) for column in zip(*rows, strict=True)
    ]
    weights = [min(max(length, SHORTEST_CELL), LONGEST_CELL) for length in longest]
    return [(WIDTH_MM - 2 * MARGIN_MM) * weight // sum(weights) for weight in weights]


def _allowed(text: str) -> str:
    return FORBIDDEN_IN_XML.sub("", text)
