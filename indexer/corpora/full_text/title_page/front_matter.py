"""The front matter of a paper: title, authors, keywords, year, DOI, arXiv number."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from indexer.corpora.cleaning import is_reference_heading
from indexer.corpora.full_text.headings import is_known
from indexer.corpora.full_text.lines.joining import Usage, join_lines
from indexer.corpora.full_text.lines.layout import Line, lines_of
from indexer.corpora.full_text.lines.margins import MARGIN, Page
from indexer.corpora.full_text.lines.placed import together
from indexer.corpora.full_text.sections import INLINE_HEADING
from indexer.corpora.full_text.title_page.authors import authors_of
from indexer.corpora.full_text.title_page.publication import arxiv_of, doi_of, year_of
from indexer.corpora.full_text.title_page.title import title_in_other_language, title_lines, titles
from indexer.corpora.papers import language_of

MOST_KEYWORDS = 30
KEYWORD_CHARACTERS = 5_000
SMALL = 0.93  # maximal size of footnotes relative to the text, in the lower half
NOTES = 0.55
NAMES_DOI = re.compile(r"doi\.org/|\bdoi\s*:", re.IGNORECASE)
COPYRIGHT = re.compile(
    r"copyright|©|published|permission|[A-Z]{3,}\s*['’]\d\d|proceedings|\bvol", re.IGNORECASE
)
TEXT_CHARACTERS = 60  # minimal characters of a line of running text


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The fields of a record, and the lines of the title."""

    fields: dict[str, Any]
    title: Sequence[Line]


def front_matter(
    pages: Sequence[Page],
    number: int,
    lines: Sequence[Line],
    usual: float,
    usage: Usage,
    metadata: Mapping[str, str],
) -> FrontMatter:
    """Parse the title page, the page `number` of a document; `lines` are its lines in reading order."""
    page = pages[number]
    head = title_lines(lines, usual, metadata.get("Title", ""))
    title, title2 = titles(head, usage)
    below = max((line.bottom for line in head), default=0.0)
    end = _end_of_front(lines, below, page)
    if head and not title2:
        between = [line for line in lines if below <= line.top and line.bottom < end]
        second = title_in_other_language(head, between, usual)
        title2 = join_lines(second, usage)
        head = [*head, *second]
    names = [line for line in page.fragments if head and below - 1 < line.middle < end]
    above_list = takewhile(lambda line: not is_reference_heading(together(line.text)), lines)
    top = [
        *(line.text for cover in pages[:number] for line in lines_of(cover.fragments)),
        *(line.text for line in lines if line.bottom < end),
        *(line.text for line in above_list if NAMES_DOI.search(line.text)),
    ]
    foot = [
        *(line.text for line in [*lines, *page.fragments] if line.top > (1 - MARGIN) * page.height),
        *(line.text for following in pages[number + 1 : number + 2] for line in _in_margins(following)),
    ]
    notes = [
        line.text
        for line in lines
        if line.top > NOTES * page.height and (line.size < SMALL * usual or "©" in line.text)
    ]
    stamps = " ".join(text for first in pages[: number + 1] for text in first.turned)
    page_text = "".join(line.text for line in page.fragments)
    fields = {
        "title": title,
        "title2": title2,
        "authors": authors_of(names, language_of(title), metadata.get("Author", ""), page_text),
        "doi": doi_of([*top, *foot, *notes, stamps]),
        "arxiv": arxiv_of([*top, *foot], stamps),
        "year": year_of([top, foot, filter(COPYRIGHT.search, notes)], stamps),
    }
    return FrontMatter(fields, head)


def _in_margins(page: Page) -> list[Line]:
    foot = (1 - MARGIN) * page.height
    return lines_of(
        [line for line in page.fragments if line.bottom < MARGIN * page.height or line.top > foot]
    )


def _end_of_front(lines: Sequence[Line], below: float, page: Page) -> float:
    """Return the start of the text: its first heading, or the first lines of a paragraph."""
    ends = [line.top for line in lines if line.top > below and _begins_text(line)]
    return min(ends, default=page.height)


def _begins_text(line: Line) -> bool:
    text = together(line.text)
    if is_known(text) or INLINE_HEADING.fullmatch(text):
        return True
    words = text.split()
    return len(text) > TEXT_CHARACTERS and sum(word.islower() for word in words) > len(words) / 2


def keywords_in(text: str) -> list[str]:
    """Split a list of keywords."""
    parts = re.split(r"[,;·，、]", text[:KEYWORD_CHARACTERS].strip().rstrip("."))
    return [part.strip() for part in parts if part.strip()][:MOST_KEYWORDS]
