"""Page ranges with fewer digits in the last page, as styles require: 101-118 is 101-18."""

import re

RANGE = re.compile(r"(\d+)-(\d+)")
TWO_DIGITS = 2
HUNDRED, TEN = 100, 10


def full(pages: str) -> str:
    """Return the pages unchanged."""
    return pages


def minimal(pages: str) -> str:
    """Keep only the digits that change: 101-8, 101-18 (Citing Medicine)."""
    return _shortened(pages, 1)


def two_digits(pages: str) -> str:
    """Keep two digits, or more if they change: 101-08, 101-18, 1496-505 (MLA Handbook)."""
    return _shortened(pages, TWO_DIGITS)


def chicago(pages: str) -> str:
    """Shorten as the Chicago Manual of Style: 71-72, 100-104, 101-8, 321-28, 1496-500."""
    if not (found := RANGE.fullmatch(pages)):
        return pages
    first = int(found[1])
    if first < HUNDRED or first % HUNDRED == 0:
        return pages
    return _shortened(pages, 1 if first % HUNDRED < TEN else TWO_DIGITS)


def _shortened(pages: str, least: int) -> str:
    """Drop the digits of the last page that agree with the first one, and keep at least some."""
    found = RANGE.fullmatch(pages)
    if not found or len(found[1]) != len(found[2]):
        return pages
    first, last = found[1], found[2]
    same = next((place for place, digit in enumerate(first) if digit != last[place]), len(first))
    return f"{first}-{last[min(same, max(0, len(last) - least)) :]}"
