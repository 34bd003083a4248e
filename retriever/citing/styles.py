"""The citation styles: one row of a table and one CSL file each.

The files in `csl/` are this project's own, limited to papers. Official styles of the CSL project do not
give correct references with citeproc-py 0.11: it repeats the title of a paper without authors, writes the
period behind the closing quotation mark, and cuts 1-10 to 1-0.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal

from retriever.citing import page_ranges
from retriever.errors import BadFilter


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

    @property
    def is_numbered(self) -> bool:
        """Whether citations are numbers, and the list is in the order of the citations."""
        return self.ambiguous is None

    def csl(self) -> bytes:
        """Return the style in CSL."""
        return (files(__package__) / "csl" / f"{self.name}.csl").read_bytes()


STYLES = {
    style.name: style
    for style in (
        CitationStyle("apa", "year-suffix", page_ranges.full, quotes_titles=False),
        CitationStyle("chicago", "year-suffix", page_ranges.chicago, quotes_titles=True, headlines=True),
        CitationStyle("ieee", None, page_ranges.full, quotes_titles=True),
        CitationStyle("korean", "year-suffix", page_ranges.full, quotes_titles=False),
        CitationStyle("mla", "title-short", page_ranges.two_digits, quotes_titles=True, headlines=True),
        CitationStyle("vancouver", None, page_ranges.minimal, quotes_titles=False),
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
