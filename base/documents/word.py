"""A document as Word reads it: Office Open XML (ECMA-376, part 1), the same bytes for the same document.

The package has a document, its styles, the relationships of both, and the list of content types.
"""

import io
import zipfile
from collections.abc import Iterable, Iterator

from base.documents.blocks import Block, Document, Heading, Paragraph, Run, Table
from base.documents.word_styles import MAIN, style_sheet
from base.letters import HANGUL
from base.markup import Markup, element

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml"
DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
# A4 with margins of an inch, in twentieths of a point.
PAGE = {"w:w": "11906", "w:h": "16838"}
TEXT_WIDTH = 9026
SHORTEST_CELL, LONGEST_CELL = 11, 60  # columns of a cell that the width of its column considers
EARLIEST = (1980, 1, 1, 0, 0, 0)  # the time of all files in the package
STYLES = {"text": "Normal", "item": "ListItem", "reference": "Bibliography"}


def as_word(document: Document) -> bytes:
    """Return the document as a .docx file."""
    parts = {
        "[Content_Types].xml": _content_types(),
        "_rels/.rels": _relationships({"officeDocument": "word/document.xml"}),
        "word/_rels/document.xml.rels": _relationships({"styles": "styles.xml"}),
        "word/document.xml": _document(document),
        "word/styles.xml": style_sheet(),
    }
    package = io.BytesIO()
    with zipfile.ZipFile(package, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(_entry(name), f"{DECLARATION}{content}".encode())
    return package.getvalue()


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, EARLIEST)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.create_system = 0  # the same on all systems
    return entry


def _content_types() -> Markup:
    return element(
        "Types",
        {"xmlns": f"{PACKAGE}/content-types"},
        element(
            "Default",
            {"Extension": "rels", "ContentType": "application/vnd.openxmlformats-package.relationships+xml"},
        ),
        element("Default", {"Extension": "xml", "ContentType": "application/xml"}),
        *(
            element(
                "Override", {"PartName": f"/word/{part}.xml", "ContentType": f"{WORD}.{content_type}+xml"}
            )
            for part, content_type in (("document", "document.main"), ("styles", "styles"))
        ),
    )


def _relationships(targets: dict[str, str]) -> Markup:
    return element(
        "Relationships",
        {"xmlns": f"{PACKAGE}/relationships"},
        *(
            element("Relationship", {"Id": f"r{number}", "Type": f"{OFFICE}/{kind}", "Target": target})
            for number, (kind, target) in enumerate(targets.items(), 1)
        ),
    )


def _document(document: Document) -> Markup:
    margins = dict.fromkeys(("w:top", "w:right", "w:bottom", "w:left"), "1440")
    margins |= {"w:header": "720", "w:footer": "720", "w:gutter": "0"}
    section = element("w:sectPr", None, element("w:pgSz", PAGE), element("w:pgMar", margins))
    body = element("w:body", None, *map(_block, document.blocks), section)
    return element("w:document", {"xmlns:w": MAIN}, body)


def _block(block: Block) -> Markup:
    if isinstance(block, Heading):
        return _paragraph(f"Heading{block.level}", [Run(block.text)])
    if isinstance(block, Paragraph):
        runs = [Run("•\t"), *block.runs] if block.kind == "item" else block.runs
        return _paragraph(STYLES[block.kind], runs)
    return _table(block)


def _paragraph(style: str, runs: Iterable[Run]) -> Markup:
    properties = element("w:pPr", None, element("w:pStyle", {"w:val": style}))
    return element("w:p", None, properties, *map(_run, runs))


def _run(run: Run) -> Markup:
    properties = element("w:rPr", None, element("w:i")) if run.italic else ""
    return element("w:r", None, properties, *_pieces(run.text))


def _pieces(text: str) -> Iterator[Markup]:
    """Yield the text of a run, and its tabs."""
    for place, piece in enumerate(text.split("\t")):
        if place:
            yield element("w:tab")
        if piece:
            yield element("w:t", {"xml:space": "preserve"}, _allowed(piece))


def _allowed(text: str) -> str:
    """Drop the characters that XML 1.0 does not allow."""
    return "".join(
        char
        for char in text
        if char in "\t\n\r"
        or "\x20" <= char <= "\ud7ff"
        or "\ue000" <= char <= "\ufffd"
        or char >= "\U00010000"
    )


def _table(block: Table) -> Markup:
    widths = [str(width) for width in _widths(block)]
    line = {"w:val": "single", "w:sz": "4", "w:space": "0", "w:color": "A6A6A6"}
    sides = ("top", "left", "bottom", "right", "insideH", "insideV")
    properties = element(
        "w:tblPr",
        None,
        element("w:tblW", {"w:w": str(TEXT_WIDTH), "w:type": "dxa"}),
        element("w:tblBorders", None, *(element(f"w:{side}", line) for side in sides)),
        element("w:tblLayout", {"w:type": "fixed"}),
    )
    grid = element("w:tblGrid", None, *(element("w:gridCol", {"w:w": width}) for width in widths))
    header = element("w:trPr", None, element("w:tblHeader"))
    rows = [
        _row(block.header, widths, "TableHeader", header),
        *(_row(row, widths, "TableText") for row in block.rows),
    ]
    # A paragraph separates two tables, which Word would otherwise join.
    return Markup(element("w:tbl", None, properties, grid, *rows) + element("w:p"))


def _widths(block: Table) -> list[int]:
    """Divide the width of the text by the longest cells of the columns, within bounds."""
    rows = (block.header, *block.rows)
    longest = [max(_length(row[column]) for row in rows) for column in range(len(block.header))]
    weights = [min(max(length, SHORTEST_CELL), LONGEST_CELL) for length in longest]
    return [TEXT_WIDTH * weight // sum(weights) for weight in weights]


def _length(text: str) -> int:
    """Count the characters of a text, Hangul twice."""
    return len(text) + len(HANGUL.findall(text))


def _row(cells: tuple[str, ...], widths: Iterable[str], style: str, properties: str = "") -> Markup:
    made = (_cell(cell, width, style) for cell, width in zip(cells, widths, strict=True))
    return element("w:tr", None, properties, *made)


def _cell(text: str, width: str, style: str) -> Markup:
    properties = element("w:tcPr", None, element("w:tcW", {"w:w": width, "w:type": "dxa"}))
    return element("w:tc", None, properties, _paragraph(style, [Run(text)]))
