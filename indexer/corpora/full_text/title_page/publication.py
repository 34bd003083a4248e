"""Year, DOI and arXiv number of a paper, from its first pages."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from base.patterns import lazy_regex
from indexer.corpora.full_text.reference_fields import doi_in

LINE_CHARACTERS = 200
YEAR = lazy_regex(r"(?<![\d.,/-])(?:1[89]|20)\d\d(?![\d/-]|[.,]\d)")
YEAR_IN_BRACKETS = lazy_regex(r"\(((?:1[89]|20)\d\d)\)")
# pp. 1899-1910; 12:1899; 12(3): 1899–1910
PAGES = lazy_regex(r"(?:\bpp?\.\s*|(?<=[\d)])\s*:\s*)\d+(?:\s*[-–—]\s*\d+)?", re.IGNORECASE)
ARXIV = lazy_regex(r"arXiv:\s*(?P<id>\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?", re.IGNORECASE)
ARXIV_DATE = lazy_regex(r"\[[\w.-]+\]\s*\d{1,2}\s+[A-Z][a-z]{2}\s+((?:19|20)\d\d)")
MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?"
    r"|dec(?:ember)?|spring|summer|autumn|fall|winter)\.?"
)
THESIS = lazy_regex(r"졸업\s*논문|학위\s*논문|에\s*제출", re.IGNORECASE)
DATE = lazy_regex(
    r"(?:.{0,40}[,:]\s*)?(?:"
    rf"(?:\d{{1,2}}\s+)?{MONTH}\s*(?:\d{{1,2}}(?:st|nd|rd|th)?(?:\s*[-–]\s*\d{{1,2}})?)?"
    r"\s*,?\s*(?:19|20)\d\d\.?(?:\s*[•,;].{0,60})?"
    r"|(?:19|20)\d\d\s*년(?:도)?\s*(?:\d{1,2}\s*월)?(?:\s*\d{1,2}\s*일)?"
    r"|(?:19|20)\d\d(?:\s*[.\-]\s*\d{1,2}){0,2}\.?)",
    re.IGNORECASE,
)
ISSUE = lazy_regex(
    r"\bvol(?:ume|\.)?\s*\d|\bno\.\s*\d|\bissue\b|\bpp?\.\s*\d|proceedings|conference|symposium|workshop|\bjournal\b"
    r"|transactions|copyright|©|\(c\)|published|\(\d{4}\)\s*\d+\s*:|학술\s*(?:대회|발표)|논문집|논문지|제\s*\d+\s*권|\d+\s*권\s*\d*\s*호?"
    rf"|to appear|preprint submitted|dated:|communications of|{MONTH}\s+(?:19|20)\d\d,?\s+vol",
    re.IGNORECASE,
)
VENUE = lazy_regex(r"(?<![A-Za-z])[A-Z]{3,10}\s*(?:(?P<year>(?:19|20)\d\d)|[’'‘](?P<short>\d\d))(?!\d)")
HISTORY = lazy_regex(
    r"received|accepted|revised|(?<!preprint )submitted|접수|심사|수정|게재\s*확정|투고|downloaded|accessed",
    re.IGNORECASE,
)
PUBLISHED = lazy_regex(r"(?:published|online|게재).{0,40}?((?:19|20)\d\d)", re.IGNORECASE)
CENTURY = 50  # '08 is 2008, '75 is 1975
SOURCE = lazy_regex(r"source\s*:", re.IGNORECASE)


def year_of(places: Sequence[Iterable[str]], stamps: str) -> int | None:
    """Return the year of publication, of the issue or on the cover; else the year of the stamp of arXiv.

    `places` are lines of the first pages; earlier places win, as footnotes name other publications. Years
    later than the next one are ignored.
    """
    latest = datetime.now(UTC).year + 1
    years: dict[tuple[int, int], Counter[int]] = {}
    for place, lines in enumerate(places):
        for text in lines:
            if len(text) <= LINE_CHARACTERS:
                for weight, year in _years_in(" ".join(text.split()), latest):
                    years.setdefault((weight, -place), Counter())[year] += 1
    if years:
        return years[max(years)].most_common(1)[0][0]
    stamp = ARXIV_DATE.search(stamps)
    return int(stamp[1]) if stamp else None


def _years_in(text: str, latest: int) -> list[tuple[int, int]]:
    """Return the years of publication in a line, up to `latest`, with their weights."""
    return [(weight, year) for weight, year in _dated(text, latest) if year <= latest]


def _dated(text: str, latest: int) -> list[tuple[int, int]]:
    if ARXIV.search(text):
        return []
    if found := PUBLISHED.search(text):
        return [(4, int(found[1]))]
    if HISTORY.search(text):
        return []
    text = re.sub(r"10\.\d{4,}/\S+|https?://\S+", "", text)
    found_years = _numbers(YEAR, text, latest)
    if found_years and (THESIS.search(text) or SOURCE.match(text)):
        return [(5, found_years[0])]
    if found_years and ISSUE.search(text):
        issue = _numbers(YEAR_IN_BRACKETS, text, latest) or _numbers(YEAR, PAGES.sub("", text), latest)
        return [(4, issue[-1])] if issue else []
    if DATE.fullmatch(text) and found_years:
        return [(3, found_years[0])]
    if found := VENUE.search(text):
        short = found["short"]
        year = int(found["year"]) if found["year"] else (2000 if int(short) < CENTURY else 1900) + int(short)
        return [(2, year)]
    return []


def _numbers(pattern: re.Pattern[str], text: str, latest: int) -> list[int]:
    return [year for year in map(int, pattern.findall(text)) if year <= latest]


def doi_of(lines: Iterable[str]) -> str:
    """Return the first DOI."""
    return next((found for text in lines if (found := doi_in(text))), "")


def arxiv_of(lines: Sequence[str], stamps: str) -> str:
    """Return the arXiv number of the stamp at the page's edge, or of a line with nothing else."""
    if found := ARXIV.search(stamps):
        return found["id"]
    matches = (ARXIV.match(text.strip()) for text in lines)
    return next((found["id"] for found in matches if found), "")
