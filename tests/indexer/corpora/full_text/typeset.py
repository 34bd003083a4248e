"""Papers with known content, set by reportlab: Korean and English, one and two columns, styles of references.

Texts are mixed from `sample/papers.jsonl`. Pages have running headers and numbers.
"""

import json
import random
import re
from html import escape
from io import BytesIO
from typing import Any, NamedTuple

from reportlab.lib.fonts import addMapping
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.pdfmetrics import registerFont
from reportlab.platypus import BaseDocTemplate, Frame, FrameBreak, NextPageTemplate, PageTemplate, Paragraph

from base.sample import SAMPLE_PAPERS

FONT = "HYSMyeongJo-Medium"  # available in every PDF reader
WIDTH, HEIGHT, MARGIN, GUTTER, FRONT = 595, 842, 62, 20, 300
HEADINGS = {
    "en": ["Introduction", "Related Work", "Methods", "Results", "Discussion", "Conclusion"],
    "ko": ["서론", "관련 연구", "연구 방법", "실험 결과", "논의", "결론"],
}
NAMES = {"en": ("Abstract", "Keywords", "References"), "ko": ("초록", "주제어", "참고문헌")}
STYLES = {
    "bracketed": "[{number}] {names}, “{title},” {journal}, vol. 3, pp. {pages}, {year}.{doi}",
    "numbered": "{number}. {names}. {title}. {journal}. {year};3:{pages}.{doi}",
    "round": "({number}) {names} ({year}). {title}. {journal}, 3(2), {pages}.{doi}",
    "author-year": "{names} ({year}). {title}. {journal}, 3(2), {pages}.{doi}",
}
registerFont(UnicodeCIDFont(FONT))
addMapping(FONT, 0, 0, FONT)
PAPERS = [json.loads(line) for line in SAMPLE_PAPERS.read_text("utf-8").splitlines()]


class Typeset(NamedTuple):
    """A PDF and its content."""

    name: str
    data: bytes
    title: str
    text: str  # title, abstract and body, in reading order
    references: list[dict[str, Any]]


def typeset(number: int) -> Typeset:
    """Set a paper; equal numbers give equal papers."""
    chance = random.Random(number)
    language, columns = ("en", "ko")[number % 2], 1 + number // 2 % 2
    style = list(STYLES)[number // 4 % len(STYLES)]
    own = [paper for paper in PAPERS if paper["lang"] == language and paper.get("abstract")]
    title, abstract = f"{chance.choice(own)['title']} {number}", chance.choice(own)["abstract"]
    sentences = [part for paper in own for part in re.split(r"(?<=[.?!])\s+", paper["abstract"])]
    body: list[str] = []
    for place, name in enumerate(HEADINGS[language], 1):
        body.append(f"{place}. {name}" if number % 4 < 2 or columns == 1 else name)
        body += [" ".join(chance.sample(sentences, 5)) for _ in range(chance.randint(2, 4))]
    references = chance.sample([paper for paper in PAPERS if paper.get("authors")], 12)
    if style == "author-year":
        references.sort(key=lambda paper: paper["authors"][0])
    keywords = ", ".join(chance.choice(own).get("keywords", ["search"])[:5])
    abstract_name, keywords_name, references_name = NAMES[language]

    def paragraph(text: str, size: float, *, above: float = 0, others: float = 0) -> Paragraph:
        wrap = "CJK" if language == "ko" else None
        indent = {"leftIndent": others, "firstLineIndent": -others, "spaceBefore": above}
        form = ParagraphStyle("", fontName=FONT, fontSize=size, leading=1.35 * size, wordWrap=wrap, **indent)
        return Paragraph(escape(text), form)

    story = [
        paragraph(title, 16),
        paragraph(", ".join(chance.choice(own).get("authors", ["Ann Lee"])), 9.5, above=6),
        paragraph(abstract_name, 11.5, above=10),
        paragraph(abstract, 9.5),
        paragraph(f"{keywords_name}: {keywords}", 9.5, above=4),
        NextPageTemplate("text"),
        FrameBreak(),
        *(paragraph(text, 11.5 if len(text) < 20 else 9.5, above=6) for text in body),
        paragraph(references_name, 11.5, above=8),
        *(
            paragraph(_reference(paper, style, place), 8, others=14)
            for place, paper in enumerate(references, 1)
        ),
    ]
    width = (WIDTH - 2 * MARGIN - GUTTER * (columns - 1)) / columns

    def frames(height: float) -> list[Frame]:
        lefts = (MARGIN + column * (width + GUTTER) for column in range(columns))
        return [Frame(left, MARGIN, width, height, 0, 0, 0, 0) for left in lefts]

    def decorated(canvas: Any, document: BaseDocTemplate) -> None:
        canvas.setFont(FONT, 8)
        if document.page > 1:
            header = (title[:40], "Annals of Generated Papers, Vol. 3 (2021)")[document.page % 2]
            canvas.drawString(MARGIN, HEIGHT - 36, header)
        canvas.drawCentredString(WIDTH / 2, 30, f"- {document.page} -" if columns > 1 else str(document.page))

    whole = HEIGHT - 2 * MARGIN
    front = Frame(MARGIN, HEIGHT - MARGIN - FRONT, WIDTH - 2 * MARGIN, FRONT, 0, 0, 0, 0)
    buffer = BytesIO()
    document = BaseDocTemplate(buffer, pagesize=(WIDTH, HEIGHT), invariant=1)
    document.addPageTemplates(
        [
            PageTemplate("first", [front, *frames(whole - FRONT)], onPage=decorated),
            PageTemplate("text", frames(whole), onPage=decorated),
        ]
    )
    document.build(story)
    name = f"{language}-{columns}-{style}-{number:03}.pdf"
    return Typeset(name, buffer.getvalue(), title, "\n".join((title, abstract, *body)), references)


def _reference(paper: dict[str, Any], style: str, number: int) -> str:
    names = paper["authors"]
    if style == "author-year":  # surnames first
        names = [re.sub(r"(\S).* (\S+)", r"\2, \1.", name) for name in names]
    return STYLES[style].format(
        number=number,
        names=", ".join(names),
        title=paper["title"].rstrip("."),
        journal=paper.get("journal", "Generated Letters"),
        pages=f"{number}–{number + 9}",
        year=paper["year"],
        doi=f" https://doi.org/{paper['doi']}." if paper.get("doi") and number % 2 else "",
    )
