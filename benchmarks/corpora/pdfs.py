"""Typeset papers with known content: PDFs in Korean and English, with one and two columns.

Texts are mixed from `sample/papers.jsonl`; equal seeds produce equal papers. Words are split at line ends
(English at hyphens, Korean anywhere in two thirds of the papers), pages have running headers and numbers,
every seventh paper is drawn across its columns, and reference lists have four styles.
"""

import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

from base.sample import SAMPLE_PAPERS

NANUM = Path("/usr/share/fonts/truetype/nanum/NanumGothic.ttf")
KOREAN_FONT = "HYSMyeongJo-Medium"  # available in every PDF reader
WIDTH, HEIGHT, MARGIN, GUTTER = 595.0, 842.0, 62.0, 20.0
TITLE_SIZE, HEADING_SIZE, TEXT_SIZE, SMALL_SIZE = 16.0, 11.5, 9.5, 8.0
LEADING = 1.35
HEADINGS = {
    "en": ["Introduction", "Related Work", "Methods", "Results", "Discussion", "Conclusion"],
    "ko": ["서론", "관련 연구", "연구 방법", "실험 결과", "논의", "결론"],
}
NAMES_OF = {"en": ("Abstract", "Keywords", "References"), "ko": ("초록", "주제어", "참고문헌")}
LONG_WORD = 7
SENTENCE_CHARACTERS = 20
STYLES = {
    "bracketed": "[{number}] {names}, “{title},” {journal}, vol. 3, pp. {pages}, {year}.{doi}",
    "numbered": "{number}. {names}. {title}. {journal}. {year};3:{pages}.{doi}",
    "round": "({number}) {names} ({year}). {title}. {journal}, 3(2), {pages}.{doi}",
    "author-year": "{names} ({year}). {title}. {journal}, 3(2), {pages}.{doi}",
}
BETWEEN_HANGUL = re.compile("(?<=[가-힣])(?=[가-힣])")


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
    parts_korean: bool
    word_by_word: bool
    across: bool  # draw the lines of all columns from top to bottom of the page
    header: Sequence[str]
    drawn: list[tuple[float, float, str, float]] = field(default_factory=list)  # baseline, left, text, size
    page: int = 1
    column: int = 0
    top: float = MARGIN
    begins: float = MARGIN  # top of the columns of this page

    def set_text(
        self, text: str, size: float, *, first: float = 0, others: float = 0, whole: bool = False
    ) -> None:
        """Set a paragraph, `whole` on all columns; `first` and `others` are indentations of its lines."""
        width = (WIDTH - 2 * MARGIN - GUTTER * (self.columns - 1)) / self.columns
        words, indent = text.split(), first
        while words:
            if self.top + size * LEADING > HEIGHT - MARGIN:
                self.column += 1
                if self.column == self.columns:
                    self.end_page()
                    self.page, self.column, self.begins = self.page + 1, 0, MARGIN
                self.top = self.begins
            left = MARGIN + self.column * (width + GUTTER) + indent
            room = (WIDTH - 2 * MARGIN if whole else width) - indent
            line, words = self._line(words, size, room)
            for word in line if self.word_by_word else [" ".join(line)]:
                self.drawn.append((HEIGHT - self.top - size, left, word, size))
                left += self._length(f"{word} ", size)
            self.top += size * LEADING
            indent = others

    def _line(self, words: list[str], size: float, room: float) -> tuple[list[str], list[str]]:
        """Return the words of one line, of which the last one may be split, and the words behind it."""
        line: list[str] = []
        for number, word in enumerate(words):
            if self._length(word, size) > room:
                fitting = [parts for parts in self._parts(word) if self._length(parts[0], size) <= room]
                if fitting:
                    return [*line, fitting[-1][0]], [fitting[-1][1], *words[number + 1 :]]
                return (line, words[number:]) if line else ([word], words[1:])
            line.append(word)
            room -= self._length(f"{word} ", size)
        return line, []

    def _parts(self, word: str) -> list[tuple[str, str]]:
        """Return the two parts of a word at each place where it may be split."""
        if self.parts_korean and (places := [found.start() for found in BETWEEN_HANGUL.finditer(word)]):
            return [(word[:place], word[place:]) for place in places]
        if word.isascii() and word.isalpha() and word.islower() and len(word) >= LONG_WORD:
            return [(f"{word[:place]}-", word[place:]) for place in range(3, len(word) - 2)]
        return []

    def _length(self, text: str, size: float) -> float:
        from reportlab.pdfbase.pdfmetrics import stringWidth

        return float(stringWidth(text, self.font, size))

    def end_page(self) -> None:
        """Draw the page, its running header and its number."""
        lines = sorted(self.drawn, key=lambda line: (-line[0], line[1])) if self.across else self.drawn
        for baseline, left, text, size in lines:
            self.canvas.setFont(self.font, size)
            self.canvas.drawString(left, baseline, text)
        self.drawn.clear()
        self.canvas.setFont(self.font, SMALL_SIZE)
        if self.page > 1:
            self.canvas.drawString(MARGIN, HEIGHT - 36, self.header[self.page % 2])
        number = f"- {self.page} -" if self.columns > 1 else str(self.page)
        self.canvas.drawCentredString(WIDTH / 2, 30, number)
        self.canvas.showPage()


def generated_pdfs(count: int, seed: int = 7) -> Iterator[Typeset]:
    """Yield `count` papers with alternating languages, columns and reference styles."""
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont
    from reportlab.pdfbase.pdfmetrics import registerFont
    from reportlab.pdfbase.ttfonts import TTFont

    registerFont(UnicodeCIDFont(KOREAN_FONT))
    if NANUM.exists():  # a font with outlines, which is embedded
        registerFont(TTFont(NANUM.stem, NANUM))
    records = [json.loads(line) for line in SAMPLE_PAPERS.read_text(encoding="utf-8").splitlines()]
    for number in range(count):
        yield _typeset(records, number, random.Random(f"{seed}-{number}"))  # noqa: S311 - the same each time


def _typeset(records: Sequence[dict[str, Any]], number: int, chance: random.Random) -> Typeset:
    """Set one paper of mixed texts."""
    from reportlab.pdfgen.canvas import Canvas

    language, columns = ("en", "ko")[number % 2], 1 + number // 2 % 2
    style = list(STYLES)[number // 4 % len(STYLES)]
    own = [record for record in records if record.get("lang") == language and record.get("abstract")]
    title, abstract = f"{chance.choice(own)['title']} {number}", chance.choice(own)["abstract"]
    sentences = [part for record in own for part in re.split(r"(?<=[.?!])\s+", record["abstract"])]
    sentences = [part for part in sentences if len(part) >= SENTENCE_CHARACTERS]
    buffer = BytesIO()
    canvas = Canvas(buffer, pagesize=(WIDTH, HEIGHT), invariant=1)
    setter = _Setter(
        canvas,
        KOREAN_FONT if number // 8 % 2 or not NANUM.exists() else NANUM.stem,
        columns,
        parts_korean=number % 3 != 0,
        word_by_word=number % 5 == 0,
        across=number % 7 == 0,
        header=(title[:40], "Annals of Generated Papers, Vol. 3 (2021)"),
    )
    abstract_name, keywords_name, references_name = NAMES_OF[language]
    for text, size, space in (
        (title, TITLE_SIZE, 6),
        (", ".join(chance.choice(own).get("authors", ["Ann Lee"])), TEXT_SIZE, 10),
        (abstract_name, HEADING_SIZE, 0),
        (abstract, TEXT_SIZE, 4),
        (f"{keywords_name}: {', '.join(chance.choice(own).get('keywords', ['search'])[:5])}", TEXT_SIZE, 12),
    ):
        setter.set_text(text, size, whole=True)
        setter.top += space
    setter.begins = setter.top
    body: list[str] = []
    for place, name in enumerate(HEADINGS[language], 1):
        body.append(f"{place}. {name}" if number % 2 or columns == 1 else name)
        setter.top += 8
        setter.set_text(body[-1], HEADING_SIZE)
        setter.top += 3
        for _ in range(chance.randint(2, 4)):
            body.append(" ".join(chance.choice(sentences) for _ in range(chance.randint(3, 8))))
            setter.set_text(body[-1], TEXT_SIZE, first=12.0)
    setter.top += 8
    setter.set_text(references_name, HEADING_SIZE)
    references = chance.sample([record for record in records if record.get("authors")], 12)
    if style == "author-year":
        references.sort(key=lambda record: record["authors"][0])
    for place, record in enumerate(references, 1):
        setter.set_text(_reference(record, style, place), SMALL_SIZE, others=14.0)
    setter.end_page()
    canvas.save()
    kind = f"{language} {columns} {style}"
    name = f"{kind.replace(' ', '-')}-{number:03}.pdf"
    return Typeset(name, buffer.getvalue(), title, abstract, "\n".join(body), references, kind)


def _reference(record: dict[str, Any], style: str, number: int) -> str:
    names = record["authors"]
    if style == "author-year":  # surnames first
        names = [re.sub(r"(\S).* (\S+)", r"\2, \1.", name) for name in names]
    return STYLES[style].format(
        number=number,
        names=", ".join(names),
        title=record["title"].rstrip("."),
        journal=record.get("journal", "Generated Letters"),
        pages=f"{number}–{number + 9}",
        year=record["year"],
        doi=f" https://doi.org/{record['doi']}." if record.get("doi") and number % 2 else "",
    )
