"""What the first page tells of a paper besides its text: title, authors, keywords, DOI, year."""

import re
from collections.abc import Sequence
from itertools import takewhile

from indexer.cleaning import heading_kind, kind_by_words
from indexer.full_text.joining import Usage, join_lines, readable
from indexer.full_text.layout import Line
from indexer.full_text.margins import MARGIN, Page
from indexer.full_text.reference_fields import doi_in
from indexer.full_text.sections import INLINE_HEADING, KEYWORD_HEADINGS, LARGER, rounded, together
from indexer.papers import language_of

TITLE_LETTERS = 5
TITLE_LINES = 6
ABSTRACT = re.compile(r"abstract|summary|(?:국문|영문)?(?:초록|요약)", re.IGNORECASE)
KEYWORDS = re.compile(KEYWORD_HEADINGS, re.IGNORECASE)
LINE_OF_JOURNAL = re.compile(
    r"vol\.|no\.|doi|©|copyright|published|accepted|received|journal|proceedings|conference|학회|학술|제\s*\d+\s*[권호]"
    r"|접수|게재|논문지",
    re.IGNORECASE,
)
YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
MOST_KEYWORDS = 30
KEYWORD_CHARACTERS = 5_000
FRONT = 0.4  # of a first page without a heading
FILE_NAME = re.compile(r"\.[A-Za-z]{2,5}$|^Microsoft Word - ")


def title_lines(lines: Sequence[Line], usual: float) -> list[Line]:
    """Return the lines of a page's largest text, and of what is smaller below it in another language."""
    large = [
        line
        for line in lines
        if rounded(line.size) > LARGER * usual and heading_kind(together(line.text)) is None
    ]
    candidates = [line for line in large if sum(map(str.isalpha, line.text)) >= TITLE_LETTERS]
    if not candidates:
        return []
    first = max(candidates, key=lambda line: rounded(line.size))
    size, language = rounded(first.size), language_of(first.text)
    begin = lines.index(first)
    return list(
        takewhile(
            lambda line: rounded(line.size) == size or (line in large and language_of(line.text) != language),
            lines[begin : begin + TITLE_LINES],
        )
    )


def front_lines(page: Page) -> list[str]:
    """Return what stands above the first heading of a first page, below its title, and in its margins."""
    headings = [line.top for line in page.fragments if _is_heading(line.text)]
    end = min(headings, default=FRONT * page.height)
    foot = (1 - MARGIN) * page.height
    return [line.text for line in page.fragments if line.bottom < end or line.top > foot]


def _is_heading(text: str) -> bool:
    return kind_by_words(together(text)) is not None or INLINE_HEADING.fullmatch(text) is not None


def titles(lines: Sequence[Line], usage: Usage) -> tuple[str, str]:
    """Return the title, and what stands below it in the other language."""
    korean = [language_of(line.text) == "ko" for line in lines]
    # A line of a Korean title may be in Latin letters; of an English one none is in Hangul.
    if any(korean):
        end = len(korean) - korean[::-1].index(True) if korean[0] else korean.index(True)
    else:
        end = len(korean)
    if sum(map(str.isalpha, "".join(line.text for line in lines[end:]))) < TITLE_LETTERS:
        end = len(lines)
    return join_lines(lines[:end], usage), join_lines(lines[end:], usage)


def title_told(metadata: str, first_page: str) -> str:
    """Return the title that a document's metadata tell, if it is none of a file and on the page; else ''."""
    told = readable(metadata)
    if FILE_NAME.search(told):
        return ""
    return told if _letters(told) and _letters(told) in _letters(first_page) else ""


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def authors_told(metadata: str, first_page: str) -> list[str]:
    """Return the authors that a document's metadata tell, if the first page names them."""
    page = _letters(first_page)
    parts = re.split(r"\s*[;·]\s*|,\s*(?:and\s+)?|\s+and\s+", readable(metadata))
    return [part for part in parts if len(_letters(part)) > 1 and _letters(part) in page]


def keywords_in(text: str) -> list[str]:
    """Part a list of keywords."""
    parts = re.split(r"[,;·，、]", text[:KEYWORD_CHARACTERS].strip().rstrip("."))
    return [part.strip() for part in parts if part.strip()][:MOST_KEYWORDS]


def doi_and_year(front: Sequence[str]) -> tuple[str, int | None]:
    """Return the DOI that the front of a paper bears, and the year from a line that names the journal."""
    doi = next((found for text in front if (found := doi_in(text))), "")
    lines = [text for text in front if LINE_OF_JOURNAL.search(text)]
    years = [int(found) for text in lines for found in YEAR.findall(re.sub(r"10\.\d{4,}\S+", "", text))]
    return doi, years[0] if years else None
