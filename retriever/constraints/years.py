"""Ranges of years in a question: since 2015, the last five years, 2010년 이후; and years that it excludes.

Other years are no ranges: the 1998 World Cup, after 2000 cycles, 2008년 금융위기. "Excluding studies before
2010" and "but not since 2015" ask for the other years.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from base.patterns import lazy_regex
from retriever.constraints.exclusions import Exclusion
from retriever.constraints.publication_years import are_of_papers

EARLIEST = 1950  # earlier years belong to the subject: nobody searches for papers of that time
RECENT = 2000  # a range that ends earlier is mostly history
YEAR = r"(?:19|20)\d\d"
COUNTS = {
    word: number for number, word in enumerate("one two three four five six seven eight nine ten".split(), 1)
} | {
    "twenty": 20,
    "couple of": 2,
    "한": 1,
    "두": 2,
    "세": 3,
    "삼": 3,
    "오": 5,
    "다섯": 5,
    "십": 10,
    "이십": 20,
}
ENGLISH_COUNT = r"(?:\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|twenty|couple of)"
# The text after a year: the end of a clause, or a word that starts another part of it. Before a noun the year
# is a number.
FOLLOWED = (
    r"\b(?=\s*(?:$|[,;:.?!)\]]|[-–—]\s)|\s+(?:in|on|of|about|for|with|by|to|from|at|that|which|who|how|what|why"
    r"|where|when|and|or|but|the|a|an|is|are|was|were|has|have|had|do|does|did|can|could|into|concerning|regarding"
    r"|using|only|as|found|finds?|shows?|showed|shown|reports?|reported|suggests?|suggested|says?|said|stud(?:y|ies"
    r"|ied)|examin\w+|describ\w+|discuss\w*|propos\w+|deal\w*|address\w*|published|written)\b)"
)
NO_NUMBER = r"\b(?!\s+(?:(?-i:[A-Z])|cycles?\b|times\b|hours?\b|h\b|m\b|rpm\b))"
CUE = lazy_regex(r"\d|\b(?:last|past|recent|previous)\b|최근|지난|근래", re.IGNORECASE)
NOW = r"(?:now|today|date|the present)"
# Numbers to add to the first and the last year of a pattern.
ENGLISH = {
    rf"\bsince (?:the year )?(?P<first>{YEAR}){NO_NUMBER}": (0, 0),
    rf"\bfrom (?:the year )?(?P<first>{YEAR}) (?:on|onwards?|(?:until|to) {NOW})\b": (0, 0),
    rf"\bafter (?:the year )?(?P<first>{YEAR}){FOLLOWED}": (1, 0),
    rf"\bbefore (?:the year )?(?P<last>{YEAR}){FOLLOWED}": (0, -1),
    rf"\b(?:until|till|up to|no later than) (?:the year )?(?P<last>{YEAR}){FOLLOWED}": (0, 0),
    rf"\bbetween (?P<first>{YEAR}) and (?P<last>{YEAR}){FOLLOWED}": (0, 0),
    rf"\bfrom (?P<first>{YEAR}) (?:to|until|till|through) (?P<last>{YEAR}){FOLLOWED}": (0, 0),
    rf"\b(?:since|from|in|during|of|published) (?P<first>{YEAR})\s?[-–~]\s?(?P<last>{YEAR}){FOLLOWED}": (
        0,
        0,
    ),
    r"\bsince the (?:early |mid-?|late )?(?P<first>(?:19|20)\d0)s\b": (0, 0),
    r"\bafter the (?P<first>(?:19|20)\d0)s\b": (10, 0),
    r"\bbefore the (?P<last>(?:19|20)\d0)s\b": (0, -1),
    r"\b(?:in|during|throughout|from) the (?P<first>(?P<last>(?:19|20)\d0))s\b": (0, 9),
}
EXCLUDED = r"[은는을를](?=\s*(?:제외|빼))"
KOREAN = {
    rf"(?P<first>{YEAR})년?\s*(?:부터|에서|과|와)\s*(?P<last>{YEAR})년?\s*(?:까지|사이)(?:에|의)?": (0, 0),
    rf"(?P<first>{YEAR})년?\s*[~∼〜–-]\s*(?P<last>{YEAR})년(?!대)(?:까지|사이|도)?(?:에|의)?": (0, 0),
    rf"(?P<first>{YEAR})년(?:도)?\s*(?:이후|부터|이래)(?:에|의|로|에는|{EXCLUDED})?(?!\w)": (0, 0),
    rf"(?P<last>{YEAR})년(?:도)?\s*(?:이전|까지)(?:에|의|에는|{EXCLUDED})?(?!\w)"
    r"(?!\s*(?:계획|사업|기관|대상))": (0, 0),
    r"(?P<first>(?:19|20)\d0)년대\s*(?:이후|부터|이래)(?:에|의|로)?(?!\w)": (0, 0),
    r"(?P<last>(?:19|20)\d0)년대\s*(?:까지)(?:에|의)?(?!\w)": (0, 9),
    r"(?P<last>(?:19|20)\d0)년대\s*(?:이전)(?:에|의)?(?!\w)": (0, -1),
    r"(?P<first>(?P<last>(?:19|20)\d0))년대(?:에|의|에는)?(?!\w)": (0, 9),
}
NAMED = {lazy_regex(pattern, re.IGNORECASE): moved for pattern, moved in ENGLISH.items()} | {
    lazy_regex(rf"(?<![\w.]){pattern}"): moved for pattern, moved in KOREAN.items()
}
DECADE = r"(?:19|20)\d0"
# Decades that are named one after the other are one range.
RUNS = (
    lazy_regex(
        rf"\b(?:in|during|throughout|from|between) the {DECADE}s"
        rf"(?:\s?(?:,|~|[-–]|,?\s?\b(?:and|or|to|until|through)\b)\s?(?:in )?(?:the )?{DECADE}s)+\b",
        re.IGNORECASE,
    ),
    lazy_regex(
        rf"(?<![\w.]){DECADE}(?:년대)?(?:\s?(?:[,·~∼〜–-]|와|과|나|및|또는|혹은|그리고|부터|에서)\s?{DECADE}(?:년대)?)+(?<=년대)"
        r"(?:까지)?(?:에|의|에는)?(?!\w)"
    ),
)
UNTIL = lazy_regex(r"until|till|up to|no later|까지", re.IGNORECASE)
# "The last ten years of life" are another matter.
COUNTED = (
    lazy_regex(
        r"\b(?:(?:in|over|during|within|from|of|for) )?(?:the )?(?:last|past|(?:most )?recent|previous)"
        rf" (?:(?P<count>{ENGLISH_COUNT}) )?(?P<unit>years|decades?)\b(?! of)",
        re.IGNORECASE,
    ),
    lazy_regex(
        r"(?<!\w)(?:최근|지난|근래)\s*(?P<count>\d{1,2}|한|두|세|삼|오|다섯|십|이십)\s*여?\s*"
        r"(?P<unit>년|개년)\s*(?:간|동안|이내|내|사이)?(?:에|의)?(?!\w)"
    ),
)
# Words for papers, and the small words around them.
PAPERS = (
    r"(?:\b(?:any|all|an?|the|old|older|early|earlier|in|of|by|from|just|only|simply|papers?|stud(?:y|ies)|research"
    r"|articles?|literature|publications?|ones|those|anything|everything|that|which|were|was|are|is|published"
    r"|written|conducted|dated)\b"
    r"|(?:발표|출판|게재|간행|수행)(?:된|한)|(?:나온|쓰인|쓴|이전|이후|이래|논문|연구|문헌|자료|보고|것)"
    r"(?:들|의|에|은|는|을|를)*)"
)
ONLY_PAPERS = lazy_regex(rf"(?:\s|{PAPERS})*", re.IGNORECASE)
NOT = lazy_regex(
    r"(?:\b(?:but\s+)?not\s+(?:(?:published|written|dated|from)\s+)?"
    r"|(?P<kept>(?:not|n['’]t|never|without)\s+)?\b(?:excluding|exclude|omitting|omit)\s+"
    rf"(?:{PAPERS}\s+){{0,6}})\Z",
    re.IGNORECASE,
)
BEFORE = 80  # characters before years in which "not" is looked for


@dataclass(frozen=True, slots=True)
class YearRange:
    """Years that the question requires, bounds included; null is open.

    `start` and `end` are its position in the question. A range that runs backwards (between 2022 and 2019)
    has its first year after its last.
    """

    first: int | None
    last: int | None
    text: str = ""
    start: int = 0
    end: int = 0

    def holds(self, year: int) -> bool:
        """Check whether a year is in the range."""
        return (self.first is None or year >= self.first) and (self.last is None or year <= self.last)


def find_years(text: str, this_year: int) -> list[YearRange]:
    """Find the ranges of years in a composed question, in its order."""
    found: list[YearRange] = []
    if not CUE.search(text):
        return found
    for years in sorted(_ranges(text, this_year), key=lambda each: (each.start, -each.end)):
        if not found or years.start >= found[-1].end:
            found.append(years)
    return found


def are_compared(ranges: Sequence[YearRange], this_year: int) -> bool:
    """Check whether no year satisfies all ranges, so that they are a comparison and no constraint."""
    first = max((years.first for years in ranges if years.first), default=0)
    last = min((years.last for years in ranges if years.last), default=this_year)
    return first > last


def asks_for_papers(years: YearRange, text: str) -> bool:
    """Check whether a question means years of publication; other years are part of its subject."""
    is_old = years.last is not None and years.last < RECENT
    return are_of_papers(text, years.start, years.end, is_old=is_old)


def _ranges(text: str, this_year: int) -> Iterator[YearRange]:
    for pattern, (later, moved) in NAMED.items():
        for match in pattern.finditer(text):
            first, last = (_year(match, bound) for bound in ("first", "last"))
            if any(year and not EARLIEST <= year <= this_year for year in (first, last)):
                continue
            yield _made(first and first + later, last and last + moved, match)
    for pattern in RUNS:
        for match in pattern.finditer(text):
            decades = [int(decade) for decade in re.findall(DECADE, match[0])]
            if min(decades) >= EARLIEST and max(decades) <= this_year:
                yield _made(min(decades), max(decades) + 9, match)
    for pattern in COUNTED:
        for match in pattern.finditer(text):
            if match["count"] or match["unit"] == "decade":
                count = match["count"] or "1"
                number = COUNTS.get(count.lower()) or int(count)
                years = number * (10 if match["unit"].startswith("decade") else 1)
                if years:  # none in "the last 0 years"
                    yield _made(this_year - years, None, match)


def _made(first: int | None, last: int | None, match: re.Match[str]) -> YearRange:
    text = match[0].strip()
    return YearRange(first, last, text, match.start(), match.start() + len(text))


def _year(match: re.Match[str], bound: str) -> int | None:
    return int(match[bound]) if match.groupdict().get(bound) else None


def unwanted_years(
    text: str, years: Sequence[YearRange], exclusions: Sequence[Exclusion], *, of_papers: bool = False
) -> tuple[list[YearRange], list[Exclusion]]:
    """Return the wanted years of publication, and the exclusions apart from years.

    Years of a subject are dropped, unless all years are `of_papers`. An open range that is excluded, by words
    for papers or by "not", asks for the years outside of it. A closed range is dropped, since the years
    outside of it are no range; so are the years of excluded papers on a subject.
    """
    wanted: list[YearRange] = []
    left = list(exclusions)
    for asked in years:
        excluding = next((exclusion for exclusion in exclusions if _belongs(text, asked, exclusion)), None)
        negation = NOT.search(text, max(0, asked.start - BEFORE), asked.start)
        if excluding is None and negation is None:
            if of_papers or asks_for_papers(asked, text):
                wanted.append(asked)
        elif negation and excluding is None:
            # "Not until 2015" is an idiom for an event; papers that are "not excluded" are not preferred.
            if not UNTIL.search(asked.text) and not negation["kept"]:
                wanted += _complement(text, asked, negation.start(), asked.end)
        elif excluding and ONLY_PAPERS.fullmatch(_beside(text, asked, excluding)):
            start, end = min(asked.start, excluding.start), max(asked.end, excluding.end)
            if others := _complement(text, asked, start, end):
                wanted += others
                left = [exclusion for exclusion in left if exclusion is not excluding]
    return wanted, left


def _belongs(text: str, years: YearRange, exclusion: Exclusion) -> bool:
    """Check whether years belong to an exclusion."""
    if years.start < exclusion.end and exclusion.start < years.end:
        return True
    gap = text[min(years.end, exclusion.end) : max(years.start, exclusion.start)]
    if not ONLY_PAPERS.fullmatch(gap):
        return False
    described = years.end <= exclusion.start and (gap.strip() or years.text.endswith("의"))
    return bool(described or ONLY_PAPERS.fullmatch(_beside(text, years, exclusion)))


def _beside(text: str, years: YearRange, exclusion: Exclusion) -> str:
    """Return the excluded words without their operator and the years."""
    before = text[exclusion.start : min(years.start, exclusion.end)]
    behind = text[max(years.end, exclusion.start) : exclusion.end]
    return f"{before} {behind}".replace(exclusion.operator, "", 1)


def _complement(text: str, years: YearRange, start: int, end: int) -> list[YearRange]:
    """Return the years outside an open range, with the span of the words; none for a closed range."""
    if years.first is not None and years.last is None:
        return [YearRange(None, years.first - 1, text[start:end], start, end)]
    if years.last is not None and years.first is None:
        return [YearRange(years.last + 1, None, text[start:end], start, end)]
    return []
