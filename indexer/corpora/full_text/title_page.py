"""Front matter of a paper: title, authors, year, DOI and arXiv number, as its first pages print them."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import takewhile
from typing import Any

from base.patterns import lazy_regex
from indexer.corpora.cleaning import heading_kind, is_reference_heading
from indexer.corpora.full_text.headings import is_known, together
from indexer.corpora.full_text.joining import Usage, join_lines, letters_of, readable
from indexer.corpora.full_text.layout import LARGER, MARGIN, Line, is_outer, lines_of, rows_of
from indexer.corpora.full_text.pages import RAISED, Fragment, Page
from indexer.corpora.full_text.references import doi_in
from indexer.corpora.names.korean import split_korean
from indexer.corpora.names.latin import PARTICLES
from indexer.corpora.names.organizations import is_organization
from indexer.corpora.papers import language_of

TITLE_LETTERS = 5
TITLE_LINES = 6
SAME_SIZE = 0.06
MOST_COVERS = 4  # pages before the title page
MOST_AUTHORS = 100
# Two of these phrases identify a cover page of a library or publisher.
COVER = lazy_regex(
    r"저작자표시|이용허락규약|저작권법에 따른|creativecommons\.org/licenses|not-for-profit service that helps scholars"
    r"|terms & conditions of (?:use|access)|stable url:|author profiles|archive ouverte pluridisciplinaire"
    r"|multi-disciplinary open access|view the article online for updates|citation for published version",
    re.IGNORECASE,
)
NO_TITLE = lazy_regex(
    r".*(?:학\s*사|석\s*사|박\s*사)\s*학\s*위\s*(?:청\s*구\s*)?논\s*문|졸\s*업\s*논\s*문|.*학회\s*논문지.*|\d+호?"
    r"|(?:master|doctor|bachelor)['’]?s?\s.*thesis|.*\bthesis for\b.*|technical report.*"
    r"|(?:original |review |research )?(?:article|paper)s?(?:\s+open(?: access)?)?|open access"
    r"|.{0,20}\b(?:journal|proceedings|transactions|annals) (?:of|on) .*|.*\b(?:vol\.|no\.\s*\d|(?:doi|issn)(?![a-z])).*",
    re.IGNORECASE,
)
SEPARATOR = lazy_regex(r"\s*(?:[,;·ㆍ•|&，、*†‡∗§¶\x00]|(?<![\w-])and(?![\w-])|(?<=\s)및(?=\s))\s*", re.IGNORECASE)
LABEL = lazy_regex(r"^\s*(?:by|authors?|저\s*자|글쓴이|성\s*명|이름|written by|발표자?)\s*[:：]?\s+", re.IGNORECASE)
NOTE = lazy_regex(rf"\([^()]*\)|\[[^\[\]]*\]|{RAISED}[^{RAISED}]*{RAISED}")
DEGREE = lazy_regex(r"(?:ph\.?\s?d|m\.?\s?[ds]c?|b\.?\s?sc|jr|sr|i{2,3}|(?:senior |student )?member|fellow|ieee|acm)\.?", re.IGNORECASE)
TRANSCRIBED = lazy_regex(r"(?P<name>[가-힣]{2,6})\s*\((?P<latin>[^()]+)\)")
# Whole words of other capitalised rows: subjects, places, kinds of papers; organizations have their own list.
NO_NAME = lazy_regex(
    r"\b(?:(?:universi|institut|depart|laborator|facult)\w*|research|sciences?|engineering|technology|computer|mathematics|physics|statistics|economics|article|paper|abstract"
    r"|introduction|keywords|received|thesis|editor|member|student|professor|supervisor|copyright|access|version|review|report"
    r"|learning|intelligence|analysis|united|kingdom|korea|china|japan|usa|germany|canada|india|in|on|with|an?|to)\b",
    re.IGNORECASE,
)
NO_KOREAN_NAME = lazy_regex(r".*(?:교수|전공|논문|학위|석사|박사|학사|과정|저자|제출|심사|서론|결론|본론|요약|초록|목차|참고|소개|이용|개발|설계)|서울|한국|정보|전자|전기|경제|경영")
EDGES = " .,:*†‡∗§¶#+_~^-–—✉⋆★☆○°"
YEAR = lazy_regex(r"(?<![\d.,/-])(?:1[89]|20)\d\d(?![\d/-]|[.,]\d)")
PAGES = lazy_regex(r"(?:\bpp?\.\s*|(?<=[\d)])\s*:\s*)\d+(?:\s*[-–—]\s*\d+)?", re.IGNORECASE)
ARXIV = lazy_regex(r"arXiv:\s*(?P<id>\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?", re.IGNORECASE)
ARXIV_DATE = lazy_regex(r"\[[\w.-]+\]\s*\d{1,2}\s+[A-Z][a-z]{2}\s+((?:19|20)\d\d)")
MONTH = r"(?:(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*|spring|summer|autumn|fall|winter)\.?"
DATE = lazy_regex(
    rf"(?:.{{0,40}}[,:]\s*)?(?:(?:\d{{1,2}}\s+)?{MONTH}\s*[\d\s–-]*(?:st|nd|rd|th)?\s*,?\s*(?:19|20)\d\d\.?(?:\s*[•,;].{{0,60}})?"
    r"|(?:19|20)\d\d\s*년(?:도)?[\s\d월일]*|(?:19|20)\d\d(?:\s*[.\-]\s*\d{1,2}){0,2}\.?)",
    re.IGNORECASE,
)
ISSUE = lazy_regex(
    r"\bvol(?:ume|\.)?\s*\d|\bno\.\s*\d|\bissue\b|\bpp?\.\s*\d|proceedings|conference|symposium|workshop|\bjournal\b|transactions"
    r"|copyright|©|\(c\)|published|\(\d{4}\)\s*\d+\s*:|학술\s*(?:대회|발표)|논문집|논문지|\d+\s*권|preprint submitted|communications of",
    re.IGNORECASE,
)
THESIS = lazy_regex(r"졸업\s*논문|학위\s*논문|에\s*제출|source\s*:", re.IGNORECASE)
VENUE = lazy_regex(r"(?<![A-Za-z])[A-Z]{3,10}\s*(?:(?P<year>(?:19|20)\d\d)|[’'‘](?P<short>\d\d))(?!\d)")
HISTORY = lazy_regex(r"received|accepted|revised|(?<!preprint )submitted|접수|심사|수정|게재\s*확정|투고|downloaded|accessed", re.IGNORECASE)
PUBLISHED = lazy_regex(r"(?:published|online|게재).{0,40}?((?:19|20)\d\d)", re.IGNORECASE)
COPYRIGHT = lazy_regex(r"copyright|©|published|permission|[A-Z]{3,}\s*['’]\d\d|proceedings|\bvol", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The fields of a record, and the lines of the title."""

    fields: dict[str, Any]
    title: Sequence[Line]


def title_page(pages: Sequence[Page]) -> int:
    """Return the number of the title page, after covers and blank pages."""
    for number, page in enumerate(pages[: MOST_COVERS + 1]):
        text = " ".join(fragment.text for fragment in page.fragments)
        if sum(map(str.isalpha, text)) > 2 * TITLE_LETTERS and len(set(COVER.findall(text))) < 2:
            return number
    return 0


def front_matter(
    pages: Sequence[Page], number: int, usual: float, usage: Usage, metadata: Mapping[str, str]
) -> FrontMatter:
    """Parse the title page, the page `number` of a document; `usual` is the size of its text."""
    page = pages[number]
    lines = lines_of(page.fragments)
    head = _title_lines(lines, usual, metadata.get("Title", ""))
    below = max((line.part.bottom for line in head), default=0.0)
    end = min((line.part.top for line in lines if line.part.top > below and _begins_text(line)), default=page.height)
    between = [line for line in lines if below <= line.part.top and line.part.bottom < end]
    korean = language_of(head[0].text) == "ko" if head else False
    second = [line for line in head if korean and language_of(line.text) == "en"]
    languages = [language_of(line.text) for line in head]
    last = len(head) - languages[::-1].index("ko") if korean else languages.index("ko") if "ko" in languages else len(head)
    second = head[last:] or _second_title(between, usual, "en" if korean else "ko")
    title, title2 = _once(join_lines(head[:last], usage)), _once(join_lines(second, usage))
    names = [part for part in page.fragments if head and below - 1 < (part.top + part.bottom) / 2 < end]
    above_list = list(takewhile(lambda line: not is_reference_heading(together(line.text)), lines))
    margins = [
        *(line.text for line in lines if line.part.top > (1 - MARGIN) * page.height),
        *(part.text for after in pages[number + 1 : number + 2] for part in after.fragments if is_outer(part, after)),
    ]
    top = [
        *(line.text for cover in pages[:number] for line in lines_of(cover.fragments)),
        *(line.text for line in lines if line.part.bottom < end),
    ]
    notes = [line.text for line in above_list if line.part.size < usual or COPYRIGHT.search(line.text)]
    stamps = " ".join(text for first in pages[: number + 1] for text in first.turned)
    doi_lines = [*top, *(line.text for line in above_list if re.search(r"doi\b", line.text, re.IGNORECASE)), *margins, stamps]
    fields = {
        "title": title,
        "title2": title2,
        "authors": authors_of(names, language_of(title), metadata.get("Author", ""), page),
        "doi": next((found for text in doi_lines if (found := doi_in(text))), ""),
        "arxiv": _arxiv_of([*top, *margins], stamps),
        "year": year_of([top, margins, filter(COPYRIGHT.search, notes)], stamps),
    }
    return FrontMatter(fields, [*head, *second])


def _begins_text(line: Line) -> bool:
    """Check for a heading or a line of a paragraph."""
    text, words = together(line.text), line.text.split()
    front = re.match(r"(?:abstract|초\s*록|요\s*약)\s*[.:—–-]", text, re.IGNORECASE)
    return is_known(text) or front is not None or (len(text) > 60 and sum(map(str.islower, words)) > len(words) / 2)


def _title_lines(lines: Sequence[Line], usual: float, metadata: str) -> list[Line]:
    """Return the lines of the title: those of the metadata, the largest, or else those above the names."""
    if told := _matching_metadata(lines, letters_of(readable(metadata))):
        return told
    large = [line for line in lines if line.size > LARGER * usual and _may_be_title(line)]
    if not large:
        return _above_names(lines)
    begin = lines.index(max(large, key=lambda line: line.size))
    title = [lines[begin]]
    for line in lines[begin + 1 : begin + TITLE_LINES]:
        if not _is_continued(title[-1], line):
            break
        title.append(line)
    return title


def _is_continued(last: Line, line: Line) -> bool:
    near = line.part.top - last.part.top < 2.6 * last.part.size
    same = abs(line.part.size - last.part.size) <= SAME_SIZE * last.part.size
    return near and same and not is_known(together(line.text))


def _second_title(lines: Sequence[Line], usual: float, language: str) -> list[Line]:
    """Return the first large lines in another language than the title; names may precede them."""
    found: list[Line] = []
    for line in lines:
        if found and not _is_continued(found[-1], line):
            break
        large = line.size > LARGER * usual and language_of(line.text) == language and _may_be_title(line)
        if found or (large and not names_in(line.text)):
            found.append(line)
    return found[:TITLE_LINES]


def _may_be_title(line: Line) -> bool:
    text = together(line.text)
    letters = sum(map(str.isalpha, text))
    return "@" not in text and letters >= TITLE_LETTERS and not heading_kind(text) and not NO_TITLE.fullmatch(text)


def _above_names(lines: Sequence[Line]) -> list[Line]:
    """Return the lines above the author names, if all text has one size (OCR)."""
    half = max((line.part.bottom for line in lines), default=0.0) / 2
    place = next((n for n, line in enumerate(lines) if n and line.part.top < half and names_in(line.part.text)), 0)
    title = list(lines[place - 1 : place]) if place else []
    for line in reversed(lines[: max(0, place - 1)]):
        if len(title) == TITLE_LINES or not _is_continued(line, title[0]):
            break
        title.insert(0, line)
    return title if sum(map(str.isalpha, "".join(line.text for line in title))) >= TITLE_LETTERS else []


def _matching_metadata(lines: Sequence[Line], told: str) -> list[Line]:
    """Return the lines with the letters of the title in a document's metadata, [] if there are none."""
    for begin in range(len(lines) if len(told) >= TITLE_LETTERS else 0):
        text = ""
        for end, line in enumerate(lines[begin : begin + TITLE_LINES], begin + 1):
            text += letters_of(line.text)
            if text == told:
                return list(lines[begin:end])
            if not told.startswith(text):
                break
    return []


def _once(title: str) -> str:
    """Remove the repetition of a title that is drawn twice, one over the other."""
    middle = len(title) // 2
    for place in (middle, middle + 1):
        if len(title) > 2 * TITLE_LETTERS and letters_of(title[:place]) == letters_of(title[place:]):
            return title[:place].strip()
    return title.strip(" *†‡∗")


def authors_of(fragments: Sequence[Fragment], language: str, metadata: str, page: Page) -> list[str]:
    """Return the author names in fragments below a title, in its language if there are any.

    `metadata` contains the document's author field, used if no row contains names and each is on the page.
    """
    rows = [(max(row, key=lambda part: part.size), *_names_of_row(row)) for row in rows_of(fragments)]
    for korean in (language == "ko", language != "ko"):
        found = [row for row in rows if row[1] and ("가" <= row[1][0][0] <= "힣") == korean]
        names = [
            name
            for part, names, only in found
            if _is_same_style(part, found[0][0]) and only == found[0][2]
            for name in names
        ]
        if names:
            return list(dict.fromkeys(names))[:MOST_AUTHORS]
    told = [part for part in re.split(r"\s*[;,·]\s*(?:and\s+)?|\s+and\s+", readable(metadata)) if part]
    printed = letters_of("".join(part.text for part in page.fragments))
    return told[:MOST_AUTHORS] if all(names_in(part) and letters_of(part) in printed for part in told) else []


def _names_of_row(row: Sequence[Fragment]) -> tuple[list[str], bool]:
    """Return the names in the cells of a row, and whether it has nothing else."""
    cells, right = [""], row[0].left
    size = max(part.size for part in row)
    for part in row:
        gap = part.left - right
        raised = f"{RAISED}{part.text}{RAISED}" if part.size < 0.85 * size else part.text
        if gap > 1.5 * size:
            cells.append(raised)
        else:
            cells[-1] += raised if gap < size / 10 else f" {raised}"
        right = part.right
    if cells[0].startswith(RAISED):
        return [], False  # an institution behind its mark
    found = [_split_names(cell) for cell in cells]
    if not any(names for names, _ in found):
        found = [_split_names(" ".join(cells))]
    return [name for names, _ in found for name in names], all(only for _, only in found)


def _is_same_style(part: Fragment, first: Fragment) -> bool:
    return part.weight == first.weight and abs(part.size - first.size) <= SAME_SIZE * first.size


def names_in(text: str) -> list[str]:
    """Return the names in a text of names only, optionally with an institution behind them; otherwise []."""
    return _split_names(text)[0]


def _split_names(text: str) -> tuple[list[str], bool]:
    """Return the names in a text, and whether it has nothing else."""
    text = LABEL.sub("", text.strip()[:1000])
    foreign = {found["name"] for found in TRANSCRIBED.finditer(text) if _is_latin_name(found["latin"])}
    names: list[str] = []
    for part in SEPARATOR.split(NOTE.sub("\x00", text)):
        name = together(readable(part).lstrip(EDGES).rstrip(EDGES + "0123456789")).strip(EDGES)
        name = re.sub(r"^([가-힣])\s([가-힣]{2})$", r"\1\2", name)
        if len(name) < 2 or not any(map(str.isalpha, name)) or DEGREE.fullmatch(name):
            continue
        words = name.split()
        if len(words) > 1 and all(map(_is_korean_name, words)):
            names += words
        elif name in foreign or _is_korean_name(name) or _is_latin_name(name):
            names.append(name)
        else:
            return (names if is_organization(name) or NO_NAME.search(name) else []), False
    marked = NOTE.search(text) or re.search(r"[*†‡∗\d]", text)
    return (names if len(names) > 1 or marked or any(len(name) > 2 for name in names) else []), True


def _is_korean_name(name: str) -> bool:
    split = split_korean(name) if " " not in name else None
    plausible = len(name) <= 3 or (split is not None and len(split.family) > 1)
    return split is not None and plausible and not is_organization(name) and not NO_KOREAN_NAME.match(name)


def _is_latin_name(name: str) -> bool:
    words = name.replace(".", ". ").split()
    if not 1 < len(words) <= 5 or NO_NAME.search(name) or is_organization(name):
        return False
    if not all(word in PARTICLES or re.fullmatch(r"[^\W\d_a-z][^\W\d_'’˘´`¨ˇ-]*[\w'’˘´`¨ˇ-]*\.?", word) for word in words):
        return False
    return sum(len(word.strip(".")) > 1 for word in words) >= (1 if "." in name else 2)


def year_of(places: Sequence[Iterable[str]], stamps: str) -> int | None:
    """Return the year of publication, of the issue or on the cover; else the year of the stamp of arXiv.

    `places` are lines of the first pages; earlier places win, as footnotes name other publications. Years
    later than the next one are ignored.
    """
    latest = datetime.now(UTC).year + 1
    years: dict[tuple[int, int], Counter[int]] = {}
    for place, lines in enumerate(places):
        for text in lines:
            for weight, year in _dated(" ".join(text.split()), latest) if len(text) <= 200 else ():
                years.setdefault((weight, -place), Counter())[year] += 1
    if years:
        return years[max(years)].most_common(1)[0][0]
    stamp = ARXIV_DATE.search(stamps)
    return int(stamp[1]) if stamp else None


def _dated(text: str, latest: int) -> Iterator[tuple[int, int]]:
    """Yield the year of publication in a line, with a weight."""
    if ARXIV.search(text):
        return
    text = re.sub(r"10\.\d{4,}/\S+|https?://\S+", "", text)
    years = [year for year in map(int, YEAR.findall(PAGES.sub("", text))) if year <= latest]
    published = PUBLISHED.search(text)
    if published and int(published[1]) <= latest:
        yield 4, int(published[1])
    elif years and THESIS.search(text) and not HISTORY.search(text.replace("제출", "")):
        yield 5, years[0]
    elif HISTORY.search(text):
        return
    elif years and ISSUE.search(text):
        bracketed = [year for year in years if f"({year})" in text]
        yield 4, (bracketed or years)[-1]
    elif years and DATE.fullmatch(text):
        yield 3, years[0]
    elif found := VENUE.search(text):
        short = int(found["short"] or 0)
        year = int(found["year"] or (2000 if short < 50 else 1900) + short)
        if year <= latest:
            yield 2, year


def _arxiv_of(lines: Iterable[str], stamps: str) -> str:
    """Return the arXiv number of the stamp at the page's edge, or at the start of a line."""
    found = ARXIV.search(stamps) or next(filter(None, (ARXIV.match(text.strip()) for text in lines)), None)
    return found["id"] if found else ""
