"""The citation styles: one row of a table and one CSL file each.

The files in `csl/` are this project's own, limited to papers. Official styles of the CSL project do not
give correct references with citeproc-py 0.11: it repeats the title of a paper without authors, writes the
period behind the closing quotation mark, and cuts 1-10 to 1-0.

Two rules precede the processor. Where a style requires it, the last page of a range has fewer digits: 101-118
is 101-18. In headline style the processor leaves hyphenated words and words after a bracket unchanged: all
parts of a hyphenated word are capitalised, except articles, conjunctions and prepositions (Chicago Manual of
Style).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from typing import Literal

from retriever.errors import BadFilter

RANGE = re.compile(r"(\d+)-(\d+)")
TWO_DIGITS = 2
HUNDRED, TEN = 100, 10
HYPHENATED = re.compile(r"(?<![\w-])[a-z]+(?:-[a-z]+)+(?![\w-])")
AFTER_BRACKET = re.compile("(?<=[‘“(\\[])[a-z]")
SMALL = frozenset("a an and as at but by for in nor of on or per the to via yet".split())


def chicago_range(pages: str) -> str:
    """Shorten as the Chicago Manual of Style: 71-72, 100-104, 101-8, 321-28, 1496-500."""
    if not (found := RANGE.fullmatch(pages)):
        return pages
    first = int(found[1])
    if first < HUNDRED or first % HUNDRED == 0:
        return pages
    return shortened_range(pages, 1 if first % HUNDRED < TEN else TWO_DIGITS)


def shortened_range(pages: str, least: int) -> str:
    """Drop the digits of the last page that agree with the first one, and keep at least some."""
    found = RANGE.fullmatch(pages)
    if not found or len(found[1]) != len(found[2]):
        return pages
    first, last = found[1], found[2]
    same = next((place for place, digit in enumerate(first) if digit != last[place]), len(first))
    return f"{first}-{last[min(same, max(0, len(last) - least)) :]}"


minimal_range = partial(shortened_range, least=1)  # 101-8, 101-18 (Citing Medicine)
two_digit_range = partial(shortened_range, least=TWO_DIGITS)  # 101-08, 101-18, 1496-505 (MLA Handbook)


def headline_parts(title: str) -> str:
    """Capitalise the parts of hyphenated words, and words after an opening bracket or quotation mark."""
    return AFTER_BRACKET.sub(lambda found: found[0].upper(), HYPHENATED.sub(_capitalised, title))


def _capitalised(found: re.Match[str]) -> str:
    first, *others = found[0].split("-")
    return "-".join([first.capitalize(), *(part if part in SMALL else part.capitalize() for part in others)])


@dataclass(frozen=True, slots=True)
class CitationStyle:
    """A style: its CSL file, and the steps that are done before and after its processor.

    `ambiguous` is the variable that distinguishes papers with the same citation: a letter after the year,
    or the title. In numbered styles there is none.
    """

    name: str
    ambiguous: Literal["year-suffix", "title-short"] | None
    pages: Callable[[str], str]
    quotes_titles: bool  # quotation marks within a title become single ones
    headlines: bool = False  # English titles are in headline style

    def csl(self) -> bytes:
        """Return the style in CSL."""
        return (files(__package__) / "csl" / f"{self.name}.csl").read_bytes()


STYLES = {
    style.name: style
    for style in (
        CitationStyle("apa", "year-suffix", str, quotes_titles=False),
        CitationStyle("chicago", "year-suffix", chicago_range, quotes_titles=True, headlines=True),
        CitationStyle("ieee", None, str, quotes_titles=True),
        CitationStyle("korean", "year-suffix", str, quotes_titles=False),
        CitationStyle("mla", "title-short", two_digit_range, quotes_titles=True, headlines=True),
        CitationStyle("vancouver", None, minimal_range, quotes_titles=False),
    )
}


def style_names() -> tuple[str, ...]:
    """Return the names of all styles."""
    return tuple(STYLES)


def style_named(name: str) -> CitationStyle:
    """Return a style; BadFilter, with all names, if none has that name."""
    if name in STYLES:
        return STYLES[name]
    raise BadFilter(f"no citation style {name!r}; there are {', '.join(STYLES)}")
