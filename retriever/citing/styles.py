"""The citation styles: one row of a table and one CSL file each.

The files in `csl/` are this project's own, limited to papers. Official styles of the CSL project do not
give correct references with citeproc-py 0.11: it repeats the title of a paper without authors, writes the
period behind the closing quotation mark, and cuts 1-10 to 1-0.

One rule precedes the processor: where a style requires it, the last page of a range has fewer digits, so that
101-118 is 101-18.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from typing import Literal

from retriever.errors import BadFilter

RANGE = re.compile(r"(\d+)-(\d+)")


def shortened_range(pages: str, least: int) -> str:
    """Drop the digits of the last page that agree with the first one, and keep at least some."""
    found = RANGE.fullmatch(pages)
    if not found or len(found[1]) != len(found[2]):
        return pages
    first, last = found[1], found[2]
    same = next((place for place, digit in enumerate(first) if digit != last[place]), len(first))
    return f"{first}-{last[min(same, max(0, len(last) - least)) :]}"


def chicago_range(pages: str) -> str:
    """Shorten as the Chicago Manual of Style: 71-72, 100-104, 101-8, 321-28, 1496-500."""
    found = RANGE.fullmatch(pages)
    beyond_hundreds = int(found[1]) % 100 if found else 0
    if not found or int(found[1]) < 100 or not beyond_hundreds:  # noqa: PLR2004 - the rule's own number
        return pages
    return shortened_range(pages, 1 if beyond_hundreds < 10 else 2)  # noqa: PLR2004


minimal_range = partial(shortened_range, least=1)  # 101-8, 101-18 (Citing Medicine)
two_digit_range = partial(shortened_range, least=2)  # 101-08, 101-18, 1496-505 (MLA Handbook)


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

    def csl(self) -> bytes:
        """Return the style in CSL."""
        return (files(__package__) / "csl" / f"{self.name}.csl").read_bytes()


STYLES = {
    style.name: style
    for style in (
        CitationStyle("apa", "year-suffix", str, quotes_titles=False),
        CitationStyle("chicago", "year-suffix", chicago_range, quotes_titles=True),
        CitationStyle("ieee", None, str, quotes_titles=True),
        CitationStyle("korean", "year-suffix", str, quotes_titles=False),
        CitationStyle("mla", "title-short", two_digit_range, quotes_titles=True),
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
