"""The CSL processor citeproc-py: items and a style to references and citations.

The processor reads a file of XML and keeps state in it, so each call opens its own copy, and calls in
several threads share nothing.
"""

import io
import re
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

from base.documents.blocks import Run
from base.errors import LibraryMissing
from base.extras import extra_remedy

# Marks around italic type while the processor joins texts; no text contains them.
BEGIN, END = "\ue000", "\ue001"
NO_MARKS = str.maketrans("", "", BEGIN + END)
DOUBLE_STOP = re.compile(rf"([?!])({END}?)[.,](?=[”\s]|$)")
LAST_COMMA = re.compile(r",”$")


def check_citeproc() -> None:
    """Raise `LibraryMissing` if the processor is not installed."""
    if find_spec("citeproc") is None:
        raise LibraryMissing(
            "citation styles require the library citeproc-py, which is not installed",
            remedy=extra_remedy("citing"),
        )


class Processor:
    """A style with the items of one list; items are named by their place in the list."""

    def __init__(self, csl: bytes, items: Sequence[Mapping[str, Any]]) -> None:
        """Open the style; raise `LibraryMissing` without the library."""
        check_citeproc()
        from citeproc import Citation, CitationItem, CitationStylesBibliography, CitationStylesStyle
        from citeproc.source.json import CiteProcJSON

        self._citation, self._item = Citation, CitationItem
        source = CiteProcJSON([{**item, "id": str(place)} for place, item in enumerate(items)])
        style = CitationStylesStyle(io.BytesIO(csl), validate=False)
        self._bibliography = CitationStylesBibliography(style, source, _formatter())
        for place in range(len(items)):
            self._registered([place])

    def references(self) -> list[tuple[Run, ...]]:
        """Return the entry of each item, in the order of the items."""
        return [_runs(_tidy(str(entry))) for entry in self._bibliography.bibliography()]

    def citation(self, places: Sequence[int]) -> str:
        """Return the citation of one or more items in the text, without types."""
        cited = self._bibliography.cite(self._registered(places), lambda _: None)
        return _tidy(str(cited)).translate(NO_MARKS)

    def _registered(self, places: Sequence[int]) -> Any:
        citation = self._citation([self._item(str(place)) for place in places])
        self._bibliography.register(citation)
        return citation


def _formatter() -> SimpleNamespace:
    """Return the types of the processor's output: only italic is kept."""
    others = ("Bold", "Light", "Underline", "Superscript", "Subscript", "SmallCaps")
    kept = dict.fromkeys(("Italic", "Oblique"), _Italic)
    return SimpleNamespace(preformat=str, **kept, **dict.fromkeys(others, str))


class _Italic(str):
    __slots__ = ()

    def __new__(cls, text: object) -> "_Italic":
        return super().__new__(cls, f"{BEGIN}{text}{END}")


def _tidy(text: str) -> str:
    """Drop a period or a comma after a title that ends in ? or !, and end a last quotation with a period."""
    return LAST_COMMA.sub(".”", DOUBLE_STOP.sub(r"\1\2", text))


def _runs(text: str) -> tuple[Run, ...]:
    """Split a text at the marks of italic type."""
    runs = []
    for number, piece in enumerate(re.split(f"[{BEGIN}{END}]", text)):
        if piece:
            runs.append(Run(piece, italic=number % 2 == 1))
    return tuple(runs)
