"""Front matter of a paper: title, authors, year, DOI and arXiv number, as its first pages print them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import takewhile
from typing import Any

from base.patterns import lazy_regex
from indexer.corpora.cleaning import is_reference_heading
from indexer.corpora.full_text.headings import is_known, together
from indexer.corpora.full_text.joining import Usage, join_lines, letters_of, readable
from indexer.corpora.full_text.layout import LARGER, Line, is_outer, lines_of, rows_of
from indexer.corpora.full_text.pages import RAISED, Fragment, Page
from indexer.corpora.full_text.references import doi_in
from indexer.corpora.names.author_name import PARTICLES, is_organization, split_korean
from indexer.corpora.papers import language_of

TITLE_LETTERS = 5
TITLE_LINES = 6
SAME_SIZE = 0.06
MOST_COVERS = 4  # pages before the title page
MOST_AUTHORS = 100
MOST_WORDS = 5  # of a name
FULL_NAME = 3  # syllables of most Korean names; shorter ones may be words
TEXT_CHARACTERS = 60  # minimal characters of a line of running text
LINE_CHARACTERS = 200  # maximal characters of a line with a date
CENTURY = 50  # '08 is 2008, '75 is 1975
# Two of these phrases identify a cover page of a library or publisher.
COVER = lazy_regex(
    r"저작자표시|이용허락규약|저작권법에 따른|creativecommons\.org/licenses|jstor is a not-for-profit"
    r"|stable url:"
    r"|terms & conditions of (?:use|access)|author profiles|open access archive"
    r"|citation for published version",
    re.IGNORECASE,
)
NO_TITLE = lazy_regex(
    r".*학\s*위\s*(?:청\s*구\s*)?논\s*문|졸\s*업\s*논\s*문|.*학회\s*논문지.*|\d+호?|technical report.*"
    r"|open access"
    r"|.*['’]s? thesis|.*\bthesis for\b.*|(?:original |review |research )?(?:article"
    r"|paper)s?(?: open(?: access)?)?"
    r"|.{0,20}\b(?:journal|proceedings|transactions|annals) (?:of|on) .*|.*\b(?:vol\.|no\.\s*\d|doi\b"
    r"|issn\b).*",
    re.IGNORECASE,
)
SEPARATOR = lazy_regex(
    r"\s*(?:[,;·ㆍ•|&，、*†‡∗§¶\x00]|(?<![\w-])and(?![\w-])|(?<=\s)및(?=\s))\s*", re.IGNORECASE
)
LABEL = lazy_regex(
    r"(?:by|authors?|저\s*자|글쓴이|성\s*명|이름|written by|발표자?)\s*[:：]?\s+", re.IGNORECASE
)
NOTE = lazy_regex(rf"\([^()]*\)|\[[^\[\]]*\]|{RAISED}[^{RAISED}]*{RAISED}")
DEGREE = lazy_regex(
    r"(?:ph\.? ?d|m\.? ?[ds]c?|b\.? ?sc|[js]r|i{2,3}|(?:\w+ )?member|fellow|ieee|acm)\.?", re.IGNORECASE
)
TRANSCRIBED = lazy_regex(r"([가-힣]{2,6})\s*\(([^()]+)\)")
NAME_WORD = lazy_regex(r"[^\W\d_a-z가-힣][\w'’˘´`¨ˇ-]*\.?")
# Whole words of other capitalised rows: Masterson and Press are names. Organizations have their own list.
NO_NAME = lazy_regex(
    r"\b(?:(?:universi|institut|depart|laborator|facult)\w*|research|sciences?|engineering|technology"
    r"|computer|physics"
    r"|mathematics|statistics|economics|article|paper|abstract|introduction|keywords|received|thesis"
    r"|editor|member|student"
    r"|professor|supervisor|copyright|access|version|review|report|learning|intelligence|analysis|security"
    r"|computing"
    r"|united|kingdom|korea|china|japan|usa|germany|canada|india)\b|^an?\s",
    re.IGNORECASE,
)
NO_KOREAN_NAME = lazy_regex(
    r".*(?:교수|전공|논문|학위|석사|박사|학사|과정|저자|제출|심사|[서결본]론|요약|초록|목차|참고|소개|이용"
    r"|개발|설계)"
    r"|서울|한국|정보|전자|전기|경제|경영"
)
EDGES = " .,:*†‡∗§¶#+_~^-–—✉⋆★☆○°"
YEAR = r"(?:1[89]|20)\d\d"
MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|spring|summer|autumn|fall|winter)[a-z]*\.?"
# Lines that date a publication, the surest first.
DATED = (
    lazy_regex(r"졸업\s*논문|학위\s*논문|에\s*제출|source\s*:", re.IGNORECASE),
    lazy_regex(rf"(?:published|online|게재).{{0,40}}?(?P<year>{YEAR})", re.IGNORECASE),
    lazy_regex(
        r"\bvol(?:ume|\.)?\s*\d|\bno\.\s*\d|\bissue\b|\bpp?\.\s*\d|proceedings|conference|symposium"
        r"|workshop|journal|©|\(c\)"
        r"|transactions|copyright|\(\d{4}\)\s*\d+\s*:|학술\s*(?:대회|발표)|논문[집지]|\d+\s*권"
        r"|preprint submitted|communications of",
        re.IGNORECASE,
    ),
    lazy_regex(
        rf"^(?:.{{0,40}}[,:]\s*)?(?:[\d\s]*{MONTH}[\d\s–-]*(?:st|nd|rd|th)?\s*,?\s*{YEAR}\.?(?:\s*[•,;].*)?"
        rf"|{YEAR}\s*년도?[\s\d월일]*|{YEAR}(?:\s*[.-]\s*\d{{1,2}}){{0,2}}\.?)$",
        re.IGNORECASE,
    ),
    lazy_regex(r"(?<![A-Za-z])[A-Z]{3,10}\s*(?:[’'‘](?P<short>\d\d)|(?:19|20)\d\d)(?!\d)"),
)
NO_YEAR = lazy_regex(
    r"10\.\d{4,}/\S+|https?://\S+|(?:\bpp?\.\s*|(?<=[\d)])\s*:\s*)\d+(?:\s*[-–—]\s*\d+)?", re.IGNORECASE
)
HISTORY = lazy_regex(
    r"received|accepted|revised|(?<!preprint )submitted|접수|심사|수정|투고|downloaded|accessed",
    re.IGNORECASE,
)
COPYRIGHT = lazy_regex(
    r"copyright|©|published|permission|[A-Z]{3,}\s*['’]\d\d|proceedings|\bvol", re.IGNORECASE
)
ARXIV = lazy_regex(r"arXiv:\s*(?P<id>\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?", re.IGNORECASE)
ARXIV_DATE = lazy_regex(rf"\[[\w.-]+\]\s*\d{{1,2}}\s+[A-Z][a-z]{{2}}\s+({YEAR})")


def title_page(pages: Sequence[Page]) -> int:
    """Return the number of the title page, after covers and blank pages."""
    for number, page in enumerate(pages[: MOST_COVERS + 1]):
        text = " ".join(part.text for part in page.fragments)
        if sum(map(str.isalpha, text)) > 2 * TITLE_LETTERS and len(set(COVER.findall(text))) <= 1:
            return number
    return 0


def front_matter(
    pages: Sequence[Page], number: int, usual: float, usage: Usage, metadata: Mapping[str, str]
) -> tuple[dict[str, Any], list[Line]]:
    """Return the fields of the title page, the page `number`, and the lines of the title."""
    page = pages[number]
    lines = lines_of(page.fragments)
    head = _title_lines(lines, usual, letters_of(readable(metadata.get("Title", ""))))
    below = max((line.part.bottom for line in head), default=0.0)
    end = min(
        (line.part.top for line in lines if line.part.top > below and _begins_text(line)), default=page.height
    )
    languages = [language_of(line.text) for line in head]
    same = [n for n, language in enumerate(languages, 1) if language in (languages[0], "other")]
    last = max(same, default=0)  # a line before may be in another script
    second = head[last:] or [
        line
        for line in lines
        if head and below <= line.part.top and line.part.bottom < end and line.size > LARGER * usual
        if {language_of(line.text), languages[0]} == {"ko", "en"}
        and _may_be_title(line)
        and not names_in(line.text)
    ]
    title = _once(join_lines(head[:last], usage))
    names = [part for part in page.fragments if head and below - 1 < (part.top + part.bottom) / 2 < end]
    above_list = list(takewhile(lambda line: not is_reference_heading(together(line.text)), lines))
    top = [line.text for cover in pages[:number] for line in lines_of(cover.fragments)]
    top += [line.text for line in lines if line.part.bottom < end]
    near = pages[number : number + 2]
    margins = [
        line.text
        for page in near
        for line in lines_of([part for part in page.fragments if is_outer(part, page)])
    ]
    stamps = " ".join(first.turned for first in pages[: number + 1])
    doi_lines = [
        *top,
        *(line.text for line in above_list if re.search(r"doi\b", line.text, re.IGNORECASE)),
        *margins,
    ]
    arxiv = ARXIV.search(stamps) or next(filter(None, (ARXIV.match(text) for text in [*top, *margins])), None)
    notes = [line.text for line in above_list if COPYRIGHT.search(line.text)]
    return {
        "title": title,
        "title2": _once(join_lines(second[:TITLE_LINES], usage)),
        "authors": authors_of(names, language_of(title)),
        "doi": next((found for text in [*doi_lines, stamps] if (found := doi_in(text))), ""),
        "arxiv": arxiv["id"] if arxiv else "",
        "year": year_of([*top, *margins, *notes], stamps),
    }, [*head, *second[:TITLE_LINES]]


def _begins_text(line: Line) -> bool:
    """Check for a heading or a line of a paragraph."""
    text, words = together(line.text), line.text.split()
    is_running = len(text) > TEXT_CHARACTERS and sum(map(str.islower, words)) > len(words) / 2
    return is_known(text) or is_running


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
    else:  # all text has one size (OCR)
        half = max((line.part.bottom for line in lines), default=0.0) / 2
        named = next(
            (n for n, line in enumerate(lines) if line.part.top < half and names_in(line.part.text)), 0
        )
        begin = max(named - 1, 0)
        while begin > 0 and named - begin < TITLE_LINES and _is_continued(lines[begin - 1], lines[begin]):
            begin -= 1
        large = list(lines[begin:named])
        return large if sum(map(str.isalpha, "".join(line.text for line in large))) >= TITLE_LETTERS else []
    title = [lines[begin]]
    for line in lines[begin + 1 : begin + TITLE_LINES]:
        if not _is_continued(title[-1], line):
            break
        title.append(line)
    return title


def _is_continued(last: Line, line: Line) -> bool:
    same = abs(line.part.size - last.part.size) <= SAME_SIZE * last.part.size
    return same and not is_known(together(line.text))


def _may_be_title(line: Line) -> bool:
    text = together(line.text)
    letters = sum(map(str.isalpha, text))
    return "@" not in text and letters >= TITLE_LETTERS and not NO_TITLE.fullmatch(text)


def _once(title: str) -> str:
    """Remove the repetition of a title that is drawn twice, one over the other."""
    middle = len(title) // 2
    for place in (middle, middle + 1):
        if len(title) > 2 * TITLE_LETTERS and letters_of(title[:place]) == letters_of(title[place:]):
            return title[:place].strip()
    return title.strip(" *†‡∗")


def authors_of(fragments: Sequence[Fragment], language: str) -> list[str]:
    """Return the author names in fragments below a title, in its language if there are any."""
    rows = [(names, alone) for names, alone in map(_names_of_row, rows_of(fragments)) if names]
    for korean in (language == "ko", language != "ko"):
        found = [(names, alone) for names, alone in rows if ("가" <= names[0][0] <= "힣") == korean]
        if names := [name for names, alone in found if alone == found[0][1] for name in names]:
            return list(dict.fromkeys(names))[:MOST_AUTHORS]
    return []


def _names_of_row(row: Sequence[Fragment]) -> tuple[list[str], bool]:
    """Return the names in the cells of a row, and whether it has nothing else."""
    cells, right = [""], row[0].left
    size = max(part.size for part in row)
    for part in row:
        gap = part.left - right
        text = f"{RAISED}{part.text}{RAISED}" if part.size < 0.85 * size else part.text
        cells[-1:] = (
            [cells[-1], text] if gap > 1.5 * size else [f"{cells[-1]}{' ' * (gap > size / 10)}{text}"]
        )
        right = part.right
    if cells[0].startswith(RAISED):
        return [], False  # an institution behind its mark
    found = [_split_names(cell) for cell in cells]
    found = found if any(names for names, _ in found) else [_split_names(" ".join(cells))]
    return [name for names, _ in found for name in names], all(only for _, only in found)


def names_in(text: str) -> list[str]:
    """Return the names in a text of names only, optionally with an institution behind them; otherwise []."""
    return _split_names(text)[0]


def _split_names(text: str) -> tuple[list[str], bool]:
    """Return the names in a text, and whether it has nothing else."""
    text = text.strip()[:1000]
    text = text[label.end() :] if (label := LABEL.match(text)) else text
    foreign = {name for name, latin in TRANSCRIBED.findall(text) if _is_latin_name(latin)}
    names: list[str] = []
    for part in SEPARATOR.split(NOTE.sub("\x00", text)):
        name = together(readable(part).lstrip(EDGES).rstrip(EDGES + "0123456789"))
        name = re.sub(r"^([가-힣]) ([가-힣]{2})$", r"\1\2", name)
        words = name.split()
        if len(name) <= 1 or not any(map(str.isalpha, name)) or DEGREE.fullmatch(name):
            continue
        if all(map(_is_korean_name, words)):
            names += words
        elif name in foreign or _is_latin_name(name):
            names.append(name)
        else:
            return (names if is_organization(name) or NO_NAME.search(name) else []), False
    likely = (
        len(names) > 1
        or NOTE.search(text)
        or re.search(r"[*†‡∗\d]", text)
        or any(len(name) >= FULL_NAME for name in names)
    )
    return (names if likely else []), True


def _is_korean_name(name: str) -> bool:
    split = split_korean(name)
    plausible = split is not None and (len(name) <= FULL_NAME or len(split.family) > 1)
    return plausible and not is_organization(name) and not NO_KOREAN_NAME.match(name)


def _is_latin_name(name: str) -> bool:
    words = name.replace(".", ". ").split()
    if not 1 < len(words) <= MOST_WORDS or NO_NAME.search(name) or is_organization(name):
        return False
    full = sum(len(word.strip(".")) > 1 for word in words)
    return full >= (1 if "." in name else 2) and all(
        word in PARTICLES or NAME_WORD.fullmatch(word) for word in words
    )


def year_of(texts: Iterable[str], stamps: str) -> int | None:
    """Return the year of publication, of the issue or on the cover; else the year of the stamp of arXiv.

    `texts` are lines of the first pages, those of the head first. Years later than the next one are ignored.
    """
    latest = datetime.now(UTC).year + 1
    lines = [
        NO_YEAR.sub("", " ".join(text.split()))
        for text in texts
        if len(text) <= LINE_CHARACTERS and not ARXIV.search(text)
    ]
    for kind in DATED:
        for text in lines:
            if not (found := kind.search(text)) or (HISTORY.search(text) and kind is not DATED[1]):
                continue
            if short := found.groupdict().get("short"):
                return (2000 if int(short) < CENTURY else 1900) + int(short)
            years = re.findall(
                rf"(?<![\d.,/-]){YEAR}(?![\d/-]|[.,]\d)", found.groupdict().get("year") or text
            )
            if years := [year for year in map(int, years) if year <= latest]:
                return years[-1]
    stamp = ARXIV_DATE.search(stamps)
    return int(stamp[1]) if stamp else None
