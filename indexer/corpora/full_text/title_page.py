"""Front matter of a paper: title, authors, year, DOI and arXiv number, as its first pages print them."""

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import UTC, datetime
from itertools import takewhile
from typing import Any

from base.patterns import lazy_regex
from indexer.corpora.full_text.joining import join_lines, letters_of, readable
from indexer.corpora.full_text.layout import LARGER, Line, is_outer, lines_of, rows_of
from indexer.corpora.full_text.pages import RAISED, Fragment, Page
from indexer.corpora.full_text.references import doi_in
from indexer.corpora.headings import kind_of, together
from indexer.corpora.names import PARTICLES, is_organization, split_korean
from indexer.corpora.normal_forms import ARXIV_ID
from indexer.corpora.papers import language_of

TITLE_LETTERS = 5
TITLE_LINES = 6
SAME_SIZE = 0.06
MOST_COVERS = 4  # pages before the title page
MOST_AUTHORS = 100
MOST_WORDS = 5  # of a name
TEXT_CHARACTERS = 60  # minimal characters of a line of running text
LINE_CHARACTERS = 200  # maximal characters of a line with a date
# Two of these phrases identify a cover page of a library or publisher.
COVER = lazy_regex(
    r"저작자표시|이용허락규약|저작권법에 따른|creativecommons\.org/licenses|jstor is a not-for-profit"
    r"|stable url:|terms & conditions of (?:use|access)|open access archive|citation for published version",
    re.IGNORECASE,
)
# Between names: signs, "and", notes in brackets and raised marks.
SEPARATOR = lazy_regex(
    rf"\s*(?:\([^()]*\)|\[[^\[\]]*\]|{RAISED}[^{RAISED}]*{RAISED}|[,;·ㆍ•|&，、*†‡∗§¶]|\b(?:and|by)\b|\b및\b"
    r"|\b(?:ph\.? ?d|m\.? ?sc|ieee|acm|jr|sr)\b)\s*",
    re.IGNORECASE,
)
TRANSCRIBED = lazy_regex(r"([가-힣]{2,6})\s*\([A-Z][^()]*\)")
NAME_WORD = lazy_regex(r"[^\W\d_a-z가-힣][\w'’˘´`¨ˇ-]*\.?")
# Words of other capitalised rows. Organizations have their own list.
NO_NAME = lazy_regex(
    r"\b(?:(?:universi|institut|depart|laborator|facult)\w*|research|sciences?|engineering|technology|computer"
    r"|physics|mathematics|statistics|economics|article|paper|abstract|introduction|keywords|received|thesis"
    r"|member|student|professor|copyright|access|version|review|report|learning|intelligence|analysis|security"
    r"|united|kingdom|korea|china|japan|usa|germany|canada|india)\b|^an?\s",
    re.IGNORECASE,
)
EDGES = " .,:*†‡∗§¶#+_~^-–—✉⋆★☆○°"
YEAR = r"(?:1[89]|20)\d\d"
YEARS = lazy_regex(rf"(?<![\d.,/-]){YEAR}(?![\d/-]|[.,]\d)")
# Lines that date a publication, the surest first.
PUBLISHED = lazy_regex(
    r"\b(?:vol(?:ume|\.)?|no\.|pp?\.)\s*\d|proceedings|conference|symposium|workshop|journal|©|\(c\)|copyright"
    r"|transactions|source\s*:|preprint submitted|학술\s*(?:대회|발표)|논문[집지]"
    r"|(?:졸업|학위)\s*논문|\d+\s*권",
    re.IGNORECASE,
)
DATE = lazy_regex(
    rf"(?:.{{0,40}}[,:]\s*)?(?:[\d\s]*[a-z]{{3,9}}\.?[\d\s–-]*,?\s*{YEAR}\.?(?:\s*[•,;].*)?"
    rf"|{YEAR}\s*년도?[\s\d월일]*|{YEAR}(?:\s*[.-]\s*\d{{1,2}}){{0,2}}\.?)$",
    re.IGNORECASE,
)
CONFERENCE = lazy_regex(rf"(?<![A-Za-z])[A-Z]{{3,10}}\s*(?:[’'‘](?P<short>\d\d)|{YEAR})(?!\d)")
NOTICE = lazy_regex(r"copyright|©|published|permission|proceedings|\bvol", re.IGNORECASE)
STAMP = lazy_regex(
    rf"arXiv:\s*(?P<id>[\w./-]+)(?:.*\[[\w.-]+\]\s*\d{{1,2}}\s+[A-Z][a-z]{{2}}\s+(?P<year>{YEAR}))?"
)


def title_page(pages: Sequence[Page]) -> int:
    """Return the number of the title page, after covers and blank pages."""
    for number, page in enumerate(pages[: MOST_COVERS + 1]):
        text = " ".join(part.text for part in page.fragments)
        if sum(map(str.isalpha, text)) > 2 * TITLE_LETTERS and len(set(COVER.findall(text))) <= 1:
            return number
    return 0


def front_matter(
    page: Page, usual: float, words: Set[str], metadata: Mapping[str, str]
) -> tuple[dict[str, Any], list[Line]]:
    """Return the fields of the title page, and the lines of the title."""
    lines = lines_of(page.fragments)
    head = _title_lines(lines, usual, letters_of(readable(metadata.get("Title", ""))))
    below = max((line.part.bottom for line in head), default=0.0)
    end = min(
        (line.part.top for line in lines if line.part.top > below and _begins_text(line)), default=page.height
    )
    languages = [language_of(line.text) for line in head]
    # Words in another script may be on a line of their own within the title.
    last = max((n for n, each in enumerate(languages, 1) if each in (languages[0], "other")), default=0)
    title = _once(join_lines(head[:last], words))
    second = head[last:] or [
        line
        for line in lines
        if head and below <= line.part.top < end and line.size > LARGER * usual
        if {language_of(line.text), languages[0]} == {"ko", "en"} and not names_in(line.text)
    ]
    margins = [line.text for line in lines_of([part for part in page.fragments if is_outer(part, page)])]
    top = [line.text for line in lines if line.part.bottom < end]
    texts = [line.text for line in takewhile(lambda line: kind_of(line.text) != "references", lines)]
    dois = (*top, *(text for text in texts if "doi" in text.casefold()), *margins, page.turned)
    names = [part for part in page.fragments if head and below - 1 < (part.top + part.bottom) / 2 < end]
    return {
        "title": title,
        "title2": _once(join_lines(second[:TITLE_LINES], words)),
        "authors": _authors(names, language_of(title)),
        "doi": next(filter(None, map(doi_in, dois)), ""),
        "arxiv": arxiv_in(page.turned),
        "year": year_of([*top, *margins, *filter(NOTICE.search, texts)], page.turned),
    }, [*head, *second[:TITLE_LINES]]


def arxiv_in(text: str) -> str:
    """Return the number after "arXiv:", without its version; "" without one."""
    stamp = STAMP.search(text)
    number = ARXIV_ID.fullmatch(f"arXiv:{stamp['id']}") if stamp else None
    return number["id"] if number else ""


def _begins_text(line: Line) -> bool:
    """Check for a heading or a line of a paragraph."""
    text, words = together(line.text), line.text.split()
    is_running = len(text) > TEXT_CHARACTERS and sum(map(str.islower, words)) > len(words) / 2
    return is_running or kind_of(text) is not None


def _title_lines(lines: Sequence[Line], usual: float, expected: str) -> list[Line]:
    """Return the lines of the title: with the letters of the metadata, the largest, or those above names."""
    for begin in range(len(lines) if len(expected) >= TITLE_LETTERS else 0):
        texts = [letters_of(line.text) for line in lines[begin : begin + TITLE_LINES]]
        for count in range(1, len(texts) + 1):
            if "".join(texts[:count]) == expected:
                return list(lines[begin : begin + count])
    large = [line for line in lines if line.size > LARGER * usual and _may_be_title(line)]
    if large:
        begin = lines.index(max(large, key=lambda line: line.size))
        following = lines[begin + 1 : begin + TITLE_LINES]
        return [lines[begin], *takewhile(lambda line: _is_like(line, lines[begin]), following)]
    # All text has one size (OCR).
    named = next((number for number, line in enumerate(lines) if names_in(line.text)), 0)
    above = lines[max(named - TITLE_LINES, 0) : named][::-1]
    title = list(takewhile(lambda line: _is_like(line, above[0]), above))[::-1]
    return title if any(map(_may_be_title, title)) else []


def _is_like(line: Line, other: Line) -> bool:
    same = abs(line.part.size - other.part.size) <= SAME_SIZE * other.part.size
    return same and kind_of(line.text) is None


def _may_be_title(line: Line) -> bool:
    return sum(map(str.isalpha, line.text)) >= TITLE_LETTERS


def _once(title: str) -> str:
    """Remove the repetition of a title that is drawn twice, one over the other."""
    middle = len(title) // 2
    for place in (middle, middle + 1):
        if letters_of(title) and letters_of(title[:place]) == letters_of(title[place:]):
            return title[:place].strip()
    return title.strip(" *†‡∗")


def _authors(fragments: Sequence[Fragment], language: str) -> list[str]:
    """Return the author names in fragments below a title, in its language."""
    rows = [(names, alone) for names, alone in map(_names_of_row, rows_of(fragments)) if names]
    found = [(names, alone) for names, alone in rows if ("가" <= names[0][0] <= "힣") == (language == "ko")]
    names = [name for names, alone in found if alone == found[0][1] for name in names]
    return list(dict.fromkeys(names))[:MOST_AUTHORS]


def _names_of_row(row: Sequence[Fragment]) -> tuple[list[str], bool]:
    """Return the names in the cells of a row, and whether it has nothing else."""
    cells, right = [""], row[0].left
    size = max(part.size for part in row)
    for part in row:
        gap, right = part.left - right, part.right
        text = f"{RAISED}{part.text}{RAISED}" if part.size < 0.85 * size else part.text
        if gap > 1.5 * size:
            cells.append(text)
        else:
            cells[-1] += " " * (gap > size / 10) + text
    found = [_split_names(cell) for cell in cells]
    found = found if any(names for names, _ in found) else [_split_names(" ".join(cells))]
    return [name for names, _ in found for name in names], all(only for _, only in found)


def names_in(text: str) -> list[str]:
    """Return the names in a text of names only, optionally with an institution behind them; otherwise []."""
    return _split_names(text)[0]


def _split_names(text: str) -> tuple[list[str], bool]:
    """Return the names in a text, and whether it has nothing else."""
    text = text.strip()[:1000]
    foreign = TRANSCRIBED.findall(text)
    names: list[str] = []
    for part in SEPARATOR.split(text):
        name = together(readable(part).lstrip(EDGES).rstrip(EDGES + "0123456789"))
        name = name.replace(" ", "", 1) if re.fullmatch("[가-힣] [가-힣]{2}", name) else name
        if len(name) <= 1:
            continue
        if all(map(_is_korean_name, name.split())):
            names += name.split()
        elif name in foreign or _is_latin_name(name):
            names.append(name)
        else:
            return (names if is_organization(name) or NO_NAME.search(name) else []), False
    return names, True


def _is_korean_name(name: str) -> bool:
    split = split_korean(name)
    return split is not None and len(name) <= 2 + len(split.family) and not is_organization(name)


def _is_latin_name(name: str) -> bool:
    words = name.replace(".", ". ").split()
    if not 1 < len(words) <= MOST_WORDS or NO_NAME.search(name) or is_organization(name):
        return False
    return all(word in PARTICLES or NAME_WORD.fullmatch(word) for word in words)


def year_of(texts: Iterable[str], stamp: str) -> int | None:
    """Return the year of publication, of the issue or on the cover; else the year of the stamp of arXiv.

    `texts` are lines of the first pages, those of the head first. Years later than the next one are ignored.
    """
    latest = datetime.now(UTC).year + 1
    lines = [" ".join(text.split()) for text in texts if len(text) <= LINE_CHARACTERS]
    for is_dated in (PUBLISHED.search, DATE.match, CONFERENCE.search):
        for text in (text for text in lines if not STAMP.search(text)):
            found = is_dated(text)
            if found and (short := found.groupdict().get("short")):
                return int(short) + (2000 if short < "50" else 1900)
            if found and (years := [year for year in map(int, YEARS.findall(text)) if year <= latest]):
                return years[-1]
    found = STAMP.search(stamp)
    return int(found["year"]) if found and found["year"] else None
