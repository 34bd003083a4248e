"""The styles of a Word document: fonts and sizes of paragraphs, headings, reference lists and tables.

`w:eastAsia` names the font of Hangul, which Word otherwise takes from the theme of the reader's language.
"""

from base.markup import Markup, element

MAIN = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
LATIN_FONT, KOREAN_FONT = "Calibri", "맑은 고딕"
HALF_POINTS = {1: "36", 2: "28", 3: "24"}  # of headings by level
BODY_HALF_POINTS, TABLE_HALF_POINTS = "22", "20"
INDENT = "480"  # twentieths of a point


def style_sheet() -> Markup:
    """Return the part `word/styles.xml`."""
    fonts = {"w:ascii": LATIN_FONT, "w:hAnsi": LATIN_FONT, "w:cs": LATIN_FONT, "w:eastAsia": KOREAN_FONT}
    languages = {"w:val": "en-US", "w:eastAsia": "ko-KR"}  # of Latin and of Korean words
    defaults = element(
        "w:rPrDefault",
        None,
        element(
            "w:rPr",
            None,
            element("w:rFonts", fonts),
            _size(BODY_HALF_POINTS),
            element("w:lang", languages),
        ),
    )
    hanging = element("w:ind", {"w:left": INDENT, "w:hanging": INDENT})
    tab = element("w:tabs", None, element("w:tab", {"w:val": "left", "w:pos": INDENT}))
    return element(
        "w:styles",
        {"xmlns:w": MAIN},
        element("w:docDefaults", None, defaults),
        _style("Normal", "Normal", _spacing("120"), is_default=True),
        *(_heading_style(level, size) for level, size in HALF_POINTS.items()),
        _style("ListItem", "List Bullet", Markup(tab + _spacing("60") + hanging)),
        _style("Bibliography", "Bibliography", Markup(_spacing("120") + hanging)),
        _style("TableText", "Table Text", _spacing("0"), _size(TABLE_HALF_POINTS)),
        _style(
            "TableHeader", "Table Header", _spacing("0"), Markup(element("w:b") + _size(TABLE_HALF_POINTS))
        ),
    )


def _heading_style(level: int, size: str) -> Markup:
    outline = element("w:outlineLvl", {"w:val": str(level - 1)})
    paragraph = Markup(element("w:keepNext") + element("w:spacing", {"w:before": "240", "w:after": "120"}))
    return _style(
        f"Heading{level}",
        f"heading {level}",
        Markup(paragraph + outline),
        Markup(element("w:b") + _size(size)),
    )


def _style(
    identifier: str, name: str, paragraph: Markup, run: Markup | None = None, *, is_default: bool = False
) -> Markup:
    attributes = {"w:type": "paragraph", "w:styleId": identifier, "w:default": "1" if is_default else ""}
    return element(
        "w:style",
        attributes,
        element("w:name", {"w:val": name}),
        "" if is_default else element("w:basedOn", {"w:val": "Normal"}),
        element("w:qFormat"),
        element("w:pPr", None, paragraph),
        element("w:rPr", None, run) if run else "",
    )


def _size(half_points: str) -> Markup:
    return Markup(element("w:sz", {"w:val": half_points}) + element("w:szCs", {"w:val": half_points}))


def _spacing(after: str) -> Markup:
    return element("w:spacing", {"w:after": after})
