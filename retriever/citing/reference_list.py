"""The reference list of some papers in a style, as a document too, and the citations of papers in a text."""

import io
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from string import ascii_lowercase
from types import SimpleNamespace
from typing import Any

from base.documents.blocks import Document, Paragraph, Run
from base.errors import LibraryMissing
from base.extras import extra_remedy
from base.letters import HANGUL
from retriever.citing.styles import CitationStyle, style_named
from retriever.reference import Item, Name, Record, csl_item, last_name

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


UNUSED = frozenset({"abstract", "keyword", "id", "custom"})  # fields that no style prints
QUOTATION = re.compile('["“]([^"“”]*)["”]')
INITIALS = re.compile("[A-Z]{2,3}")  # EM, without periods
NOT_SORTED = re.compile(r"^[^\w]+")


@dataclass(frozen=True, slots=True)
class CitedPaper:
    """The entry of a paper in a reference list."""

    id: str
    runs: tuple[Run, ...]

    @property
    def text(self) -> str:
        """The entry as plain text."""
        return "".join(run.text for run in self.runs)


@dataclass(frozen=True, slots=True)
class ReferenceList:
    """Entries in the order of the style, and the citation of each requested group of papers."""

    entries: tuple[CitedPaper, ...]
    citations: tuple[str, ...]


def reference_list(style: str, items: Iterable[Item], groups: Iterable[Sequence[str]] = ()) -> ReferenceList:
    """Format references and citations.

    Args:
        style: the name of a style.
        items: the papers (`csl_item`); a numbered style numbers them in this order.
        groups: ids of papers that are cited together; an unknown id is left out.

    Papers of an author-date style are sorted; in the Korean style, papers in Hangul come first. Papers with
    the same citation get a letter after the year, or in MLA their title.

    Raises:
        BadFilter: no style has that name.
        LibraryMissing: the CSL processor is not installed.
    """
    chosen = style_named(style)
    papers = {item["id"]: _prepared(item, chosen) for item in items}
    if chosen.ambiguous:  # not numbered
        papers = _sorted(papers, chosen)
    prepared = list(papers.values())
    processor = Processor(chosen.csl(), prepared)
    if chosen.ambiguous and _distinguish(processor, prepared, chosen.ambiguous):
        processor = Processor(chosen.csl(), prepared)
    places = {paper_id: place for place, paper_id in enumerate(papers)}
    cited = [list(dict.fromkeys(places[name] for name in group if name in places)) for group in groups]
    return ReferenceList(
        tuple(map(CitedPaper, places, processor.references())),
        tuple(processor.citation(group) if group else "" for group in cited),
    )


def entries_of(made: ReferenceList) -> tuple[Paragraph, ...]:
    """Return the entries of a reference list as paragraphs."""
    return tuple(Paragraph(entry.runs, "reference") for entry in made.entries)


def list_document(style: str, records: Iterable[Record]) -> Document:
    """Return the reference list of papers' records, without a heading; raises as `reference_list`."""
    return entries_of(reference_list(style, map(csl_item, records)))


def _prepared(item: Item, style: CitationStyle) -> Item:
    """Prepare the item of a paper for the processor, whose output depends on these changes.

    Names in Hangul are whole. Titles of unknown languages get a language, or they would be capitalised as
    English ones.
    """
    made = {key: value for key, value in item.items() if key not in UNUSED}
    made.setdefault("language", "und")
    title = made.get("title", "")
    title = QUOTATION.sub(r"‘\1’", title) if style.quotes_titles else title
    made["title"] = title or item["id"]
    if "page" in made:
        made["page"] = style.pages(made["page"])
    if "author" in made:
        made["author"] = [_cited_name(name) for name in made["author"]]
    return {
        key: value.translate(NO_MARKS) if isinstance(value, str) else value for key, value in made.items()
    }


def _cited_name(name: Name) -> Name:
    """Return a name in Hangul as a whole; separate initials, of which the processor takes EM for one name."""
    if HANGUL.match(last_name(name)):
        return {"literal": name.get("literal") or f"{name['family']}{name.get('given', '')}"}
    given = name.get("given", "")
    return {**name, "given": ". ".join([*given, ""]).strip()} if INITIALS.fullmatch(given) else name


def _sorted(papers: Mapping[str, Item], style: CitationStyle) -> dict[str, Item]:
    """Sort papers by their entries, without quotation marks."""
    entries = Processor(style.csl(), list(papers.values())).references()
    texts = ("".join(run.text for run in runs) for runs in entries)
    keys = dict(zip(papers, (NOT_SORTED.sub("", text).casefold() for text in texts), strict=True))
    hangul_first = style.name == "korean"
    order = sorted(papers, key=lambda name: (hangul_first and not HANGUL.match(keys[name]), keys[name]))
    return {name: papers[name] for name in order}


def _distinguish(processor: Processor, items: Sequence[dict[str, Any]], variable: str) -> bool:
    """Distinguish items with the same citation; True if there are any."""
    alike: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for place, item in enumerate(items):
        alike[processor.citation([place])].append(item)
    ambiguous = [group for group in alike.values() if len(group) > 1]
    for group in ambiguous:
        for number, item in enumerate(group):
            item[variable] = item["title"] if variable == "title-short" else _letters(number)
    return bool(ambiguous)


def _letters(number: int) -> str:
    """Return the letters of a number from 0: a, b, c; after z aa, ab."""
    more, last = divmod(number, len(ascii_lowercase))
    return (_letters(more - 1) if more else "") + ascii_lowercase[last]
