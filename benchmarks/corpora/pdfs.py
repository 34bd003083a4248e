"""Typeset papers with known content: PDFs in Korean and English, with one and two columns.

Texts are mixed from `sample/papers.jsonl`; equal seeds produce equal papers. Words are split at line ends
(English at hyphens, Korean anywhere in two thirds of the papers), pages have running headers and numbers,
every seventh paper is drawn across its columns, and reference lists have four styles.
"""

import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

from base.sample import SAMPLE_PAPERS

NANUM = Path("/usr/share/fonts/truetype/nanum/NanumGothic.ttf")
KOREAN_FONT = "HYSMyeongJo-Medium"  # available in every PDF reader
WIDTH, HEIGHT, MARGIN, GUTTER = 595.0, 842.0, 62.0, 20.0
TITLE_SIZE, HEADING_SIZE, TEXT_SIZE, SMALL_SIZE = 16.0, 11.5, 9.5, 8.0
LEADING = 1.35
PARAGRAPH_INDENT = 12.0
HEADINGS = {
    "en": ["Introduction", "Related Work", "Methods", "Results", "Discussion", "Conclusion"],
    "ko": ["서론", "관련 연구", "연구 방법", "실험 결과", "논의", "결론"],
}
NAMES_OF = {"en": ("Abstract", "Keywords", "References"), "ko": ("초록", "주제어", "참고문헌")}
LONG_WORD = 7
SENTENCE_CHARACTERS = 20
STYLES = ("bracketed", "numbered", "round", "author-year")
HANGUL, BETWEEN_HANGUL = re.compile("[가-힣]"), re.compile("[가-힣](?=[가-힣])")


@dataclass(frozen=True, slots=True)
class Typeset:
    """A PDF and its content: the text in reading order, and titles, years and DOIs of references."""

    name: str
    data: bytes
    title: str
    abstract: str
    body: str
    references: list[dict[str, Any]]
    kind: str  # language, columns, style of references


@dataclass(slots=True)
class _Setter:
    """Sets lines from top to bottom of a column, then in the next one."""

    canvas: Any
    font: str
    columns: int
    chance: random.Random
    parts_korean: bool
    word_by_word: bool
    across: bool  # draw the lines of all columns from top to bottom of the page
    header: Sequence[str]
    drawn: list[tuple[float, float, str, float]]  # on this page: baseline, left, text, size
    page: int = 1
    column: int = 0
    top: float = MARGIN
    begins: float = MARGIN  # top of the columns of this page

    @property
    def width(self) -> float:
        return (WIDTH - 2 * MARGIN - GUTTER * (self.columns - 1)) / self.columns

    @property
    def left(self) -> float:
        return MARGIN + self.column * (self.width + GUTTER)

    def set_text(
        self, text: str, size: float, *, indent: float = 0, hanging: float = 0, whole: bool = False
    ) -> None:
        """Set a paragraph; `whole` across all columns."""
        width, left = (WIDTH - 2 * MARGIN, MARGIN) if whole else (self.width, 0.0)
        words, first = text.split(), True
        while words:
            shift = indent if first else hanging
            line, words = self._line(words, size, width - shift)
            if self.top + size * LEADING > HEIGHT - MARGIN:
                self._next_column()
            self._draw(line, (left or self.left) + shift, size)
            self.top += size * LEADING
            first = False

    def _line(self, words: list[str], size: float, width: float) -> tuple[list[str], list[str]]:
        """Take the words of one line; the last one may be split."""
        line: list[str] = []
        used, space = 0.0, self._length(" ", size)
        while words:
            length = self._length(words[0], size)
            if used + length <= width:
                line.append(words.pop(0))
                used += length + space
                continue
            parts = self._parted(words[0], size, width - used)
            if parts:
                line.append(parts[0])
                words = [parts[1], *words[1:]]
            elif not line:
                line.append(words.pop(0))
            break
        return line, words

    def _parted(self, word: str, size: float, room: float) -> tuple[str, str] | None:
        if HANGUL.search(word):
            if not self.parts_korean:
                return None
            places, hyphen = [match.end() for match in BETWEEN_HANGUL.finditer(word)], ""
        elif word.isalpha() and word.islower() and len(word) >= LONG_WORD:
            places, hyphen = list(range(3, len(word) - 2)), "-"
        else:
            return None
        for place in reversed(places):
            if self._length(word[:place] + hyphen, size) <= room:
                return word[:place] + hyphen, word[place:]
        return None

    def _length(self, text: str, size: float) -> float:
        from reportlab.pdfbase.pdfmetrics import stringWidth

        return float(stringWidth(text, self.font, size))

    def _draw(self, line: Sequence[str], left: float, size: float) -> None:
        baseline = HEIGHT - self.top - size
        if not self.word_by_word:
            self.drawn.append((baseline, left, " ".join(line), size))
            return
        for word in line:
            self.drawn.append((baseline, left, word, size))
            left += self._length(word, size) + self._length(" ", size)

    def _next_column(self) -> None:
        self.column += 1
        if self.column == self.columns:
            self.furnish()
            self.canvas.showPage()
            self.page, self.column, self.begins = self.page + 1, 0, MARGIN
        self.top = self.begins

    def furnish(self) -> None:
        """Draw the page, its running header and its number."""
        lines = sorted(self.drawn, key=lambda line: (-line[0], line[1])) if self.across else self.drawn
        for baseline, left, text, size in lines:
            self.canvas.setFont(self.font, size)
            self.canvas.drawString(left, baseline, text)
        self.drawn.clear()
        self.canvas.setFont(self.font, SMALL_SIZE)
        if self.page > 1:
            self.canvas.drawString(MARGIN, HEIGHT - 36, self.header[self.page % 2])
        self.canvas.drawCentredString(
            WIDTH / 2, 30, f"- {self.page} -" if self.columns > 1 else str(self.page)
        )


def generated_pdfs(count: int, seed: int = 7) -> Iterator[Typeset]:
    """Yield `count` papers with alternating languages, columns and reference styles."""
    records = [json.loads(line) for line in SAMPLE_PAPERS.read_text(encoding="utf-8").splitlines()]
    for number in range(count):
        language = ("en", "ko")[number % 2]
        columns = 1 + number // 2 % 2
        style = STYLES[number // 4 % len(STYLES)]
        yield typeset(records, language, columns, style, number, random.Random(f"{seed}-{number}"))  # noqa: S311 - the same each time


def typeset(
    records: Sequence[dict[str, Any]],
    language: str,
    columns: int,
    style: str,
    number: int,
    chance: random.Random,
) -> Typeset:
    """Set one paper of mixed texts."""
    from reportlab.pdfgen.canvas import Canvas

    own = [record for record in records if record.get("lang") == language and record.get("abstract")]
    title = f"{chance.choice(own)['title']} {number}"
    abstract = chance.choice(own)["abstract"]
    sentences = [
        part
        for record in own
        for part in re.split(r"(?<=[.?!])\s+", record["abstract"])
        if len(part) >= SENTENCE_CHARACTERS
    ]
    keywords = ", ".join(chance.choice(own).get("keywords", ["search"])[:5])
    buffer = BytesIO()
    canvas = Canvas(buffer, pagesize=(WIDTH, HEIGHT), invariant=1)
    setter = _Setter(
        canvas,
        _font(embedded=number // 8 % 2 == 0),
        columns,
        chance,
        parts_korean=number % 3 != 0,
        word_by_word=number % 5 == 0,
        across=number % 7 == 0,
        header=(title[:40], "Annals of Generated Papers, Vol. 3 (2021)"),
        drawn=[],
    )
    abstract_name, keywords_name, references_name = NAMES_OF[language]
    for text, size, space in (
        (title, TITLE_SIZE, 6),
        (", ".join(chance.choice(own).get("authors", ["Ann Lee"])), TEXT_SIZE, 10),
        (abstract_name, HEADING_SIZE, 0),
        (abstract, TEXT_SIZE, 4),
        (f"{keywords_name}: {keywords}", TEXT_SIZE, 12),
    ):
        setter.set_text(text, size, whole=True)
        setter.top += space
    setter.begins = setter.top
    body: list[str] = []
    for place, heading in enumerate(HEADINGS[language], 1):
        heading = f"{place}. {heading}" if number % 2 or columns == 1 else heading  # noqa: PLW2901
        setter.top += 8
        setter.set_text(heading, HEADING_SIZE)
        setter.top += 3
        body.append(heading)
        for _ in range(chance.randint(2, 4)):
            paragraph = " ".join(chance.choice(sentences) for _ in range(chance.randint(3, 8)))
            setter.set_text(paragraph, TEXT_SIZE, indent=PARAGRAPH_INDENT)
            body.append(paragraph)
    setter.top += 8
    setter.set_text(references_name, HEADING_SIZE)
    references = chance.sample([record for record in records if record.get("authors")], 12)
    if style == "author-year":
        references.sort(key=lambda record: record["authors"][0])
    for place, record in enumerate(references, 1):
        setter.set_text(_reference(record, style, place), SMALL_SIZE, hanging=14.0)
    setter.furnish()
    canvas.save()
    name = f"{language}-{columns}-{style}-{number:03}.pdf"
    return Typeset(
        name, buffer.getvalue(), title, abstract, "\n".join(body), references, f"{language} {columns} {style}"
    )


def _reference(record: dict[str, Any], style: str, number: int) -> str:
    authors, title, year = record["authors"], record["title"].rstrip("."), record["year"]
    journal = record.get("journal", "Generated Letters")
    pages = f"{number}–{number + 9}"
    doi = f" https://doi.org/{record['doi']}." if record.get("doi") and number % 2 else ""
    names = ", ".join(map(_surname_first, authors) if style == "author-year" else authors)
    after = f"{names} ({year}). {title}. {journal}, 3(2), {pages}.{doi}"
    return {
        "bracketed": f"[{number}] {names}, “{title},” {journal}, vol. 3, pp. {pages}, {year}.{doi}",
        "numbered": f"{number}. {names}. {title}. {journal}. {year};3:{pages}.{doi}",
        "round": f"({number}) {after}",
        "author-year": after,
    }[style]


def _surname_first(name: str) -> str:
    given, _, surname = name.rpartition(" ")
    return f"{surname}, {given[0]}." if given else name


@cache
def _font(*, embedded: bool) -> str:
    """Return a Korean font; with `embedded`, an installed font with outlines if there is one."""
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont
    from reportlab.pdfbase.pdfmetrics import registerFont
    from reportlab.pdfbase.ttfonts import TTFont

    if embedded and NANUM.exists():
        registerFont(TTFont("NanumGothic", NANUM))
        return "NanumGothic"
    registerFont(UnicodeCIDFont(KOREAN_FONT))
    return KOREAN_FONT
