"""What the first page tells of a paper besides its text: title, authors, keywords, DOI, year."""

import re
from collections.abc import Sequence
from itertools import takewhile

from indexer.cleaning import heading_kind
from indexer.full_text.joining import Usage, join_lines, readable
from indexer.full_text.layout import Line
from indexer.full_text.reference_fields import doi_in
from indexer.full_text.sections import LARGER, rounded, together
from indexer.papers import language_of

TITLE_LETTERS = 5
TITLE_LINES = 6
ABSTRACT = re.compile(r"abstract|summary|(?:국문|영문)?(?:초록|요약)", re.IGNORECASE)
KEYWORDS = re.compile(
    r"key ?words?(?: and phrases)?|index terms|주제어|핵심어|중심어|키워드|색인어", re.IGNORECASE
)
LINE_OF_JOURNAL = re.compile(
    r"vol\.|no\.|doi|©|copyright|published|accepted|received|journal|proceedings|conference|학회|학술|제\s*\d+\s*[권호]"
    r"|접수|게재|논문지",
    re.IGNORECASE,
)
YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
MOST_KEYWORDS = 30


def title_lines(lines: Sequence[Line], usual: float) -> list[Line]:
    """Return the lines of a page's largest text, and what follows them and is larger than the text."""
    large = [
        line
        for line in lines
        if rounded(line.size) > LARGER * usual and heading_kind(together(line.text)) is None
    ]
    candidates = [line for line in large if sum(map(str.isalpha, line.text)) >= TITLE_LETTERS]
    if not candidates:
        return []
    first = lines.index(max(candidates, key=lambda line: rounded(line.size)))
    return list(takewhile(lambda line: line in large, lines[first : first + TITLE_LINES]))


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
    """Return the title that a document's metadata tell, if the first page bears it; else ''."""
    told = readable(metadata)
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
    parts = re.split(r"\s*[,;·，、]\s*", text.strip().rstrip("."))
    return [part for part in parts if part][:MOST_KEYWORDS]


def doi_and_year(first_page: Sequence[str]) -> tuple[str, int | None]:
    """Return the DOI that the first page bears, and the year from a line that names the journal."""
    doi = next((found for text in first_page if (found := doi_in(text))), "")
    lines = [text for text in first_page if LINE_OF_JOURNAL.search(text)]
    years = [int(found) for text in lines for found in YEAR.findall(re.sub(r"10\.\d{4,}\S+", "", text))]
    return doi, years[0] if years else None
