"""Years that a question excludes: "excluding studies before 2010", "but not since 2015"."""

import re
from collections.abc import Sequence

from retriever.constraints.exclusions import Exclusion
from retriever.constraints.years import UNTIL, YearRange, asks_for_papers

# Words for papers, and the small words around them.
PAPERS = (
    r"(?:\b(?:any|all|an?|the|old|older|early|earlier|in|of|by|from|just|only|simply|papers?|stud(?:y|ies)|research"
    r"|articles?|literature|publications?|ones|those|anything|everything|that|which|were|was|are|is|published"
    r"|written|conducted|dated)\b"
    r"|(?:발표|출판|게재|간행|수행)(?:된|한)|(?:나온|쓰인|쓴|이전|이후|이래|논문|연구|문헌|자료|보고|것)"
    r"(?:들|의|에|은|는|을|를)*)"
)
ONLY_PAPERS = re.compile(rf"(?:\s|{PAPERS})*", re.IGNORECASE)
NOT = re.compile(
    r"(?:\b(?:but\s+)?not\s+(?:(?:published|written|dated|from)\s+)?"
    r"|(?P<kept>(?:not|n['’]t|never|without)\s+)?\b(?:excluding|exclude|omitting|omit)\s+"
    rf"(?:{PAPERS}\s+){{0,6}})\Z",
    re.IGNORECASE,
)
BEFORE = 80  # characters before years in which "not" is looked for


def unwanted_years(
    text: str, years: Sequence[YearRange], exclusions: Sequence[Exclusion], *, of_papers: bool = False
) -> tuple[list[YearRange], list[Exclusion]]:
    """Return the wanted years of publication, and the exclusions apart from years.

    Years of a subject are dropped, unless all years are `of_papers`. Excluded papers of an open range, and
    "not" before one, ask for the other years. Of a closed range, and of papers about something, the years are
    dropped: no range says them.
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
    """Return the other years of an open range, with the place of all that says so; none of a closed one."""
    if years.first is not None and years.last is None:
        return [YearRange(None, years.first - 1, text[start:end], start, end)]
    if years.last is not None and years.first is None:
        return [YearRange(years.last + 1, None, text[start:end], start, end)]
    return []
