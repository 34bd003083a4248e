"""The reference list of some papers in a style, as a document too, and the citations of papers in a text."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Any

from base.documents.blocks import Document, Paragraph, Run
from base.letters import HANGUL
from retriever.citing.processor import NO_MARKS, Processor
from retriever.citing.styles import CitationStyle, headline_parts, style_named
from retriever.reference import Item, Name, Record, csl_item, is_hangul

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
    if not chosen.is_numbered:
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
    items = list(map(csl_item, records))
    korean = sum(item.get("language") == "ko" for item in items)
    return Document(entries_of(reference_list(style, items)), "ko" if 2 * korean > len(items) else "en")


def _prepared(item: Item, style: CitationStyle) -> Item:
    """Prepare the item of a paper for the processor, whose output depends on these changes.

    Names in Hangul are whole. Titles of unknown languages get a language, or they would be capitalised as
    English ones.
    """
    made = {key: value for key, value in item.items() if key not in UNUSED}
    language = made.setdefault("language", "und")
    title = made.get("title", "")
    title = QUOTATION.sub(r"‘\1’", title) if style.quotes_titles else title
    made["title"] = (headline_parts(title) if style.headlines and language == "en" else title) or item["id"]
    if "page" in made:
        made["page"] = style.pages(made["page"])
    if "author" in made:
        made["author"] = [_cited_name(name) for name in made["author"]]
    return {
        key: value.translate(NO_MARKS) if isinstance(value, str) else value for key, value in made.items()
    }


def _cited_name(name: Name) -> Name:
    """Return a name in Hangul as a whole; separate initials, of which the processor takes EM for one name."""
    if is_hangul(name):
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
