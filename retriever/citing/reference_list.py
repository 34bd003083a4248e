"""The reference list of some papers in a style, as a document too, and the citations of papers in a text."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Any

from base.documents.blocks import Document, Paragraph, Run
from base.letters import HANGUL
from retriever.citing.processor import NO_MARKS, Processor, csl_item
from retriever.citing.styles import CitationStyle, headline_parts, style_named
from retriever.reference import Reference, reference_of

UNUSED = frozenset({"abstract", "keyword", "id"})  # fields that no style prints
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


def reference_list(
    style: str, references: Iterable[Reference], groups: Iterable[Sequence[str]] = ()
) -> ReferenceList:
    """Format references and citations.

    Args:
        style: the name of a style.
        references: the papers; a numbered style numbers them in this order.
        groups: ids of papers that are cited together; an unknown id is left out.

    Papers of an author-date style are sorted; in the Korean style, papers in Hangul come first. Papers with
    the same citation get a letter after the year, or in MLA their title.

    Raises:
        BadFilter: no style has that name.
        LibraryMissing: the CSL processor is not installed.
    """
    chosen = style_named(style)
    papers = list({reference.id: reference for reference in references}.values())
    if not chosen.is_numbered:
        papers = _sorted(papers, chosen)
    items = [_item(reference, chosen) for reference in papers]
    processor = Processor(chosen.csl(), items)
    if chosen.ambiguous and _distinguish(processor, items, chosen.ambiguous):
        processor = Processor(chosen.csl(), items)
    places = {reference.id: place for place, reference in enumerate(papers)}
    cited = [list(dict.fromkeys(places[name] for name in group if name in places)) for group in groups]
    return ReferenceList(
        tuple(map(CitedPaper, places, processor.references())),
        tuple(processor.citation(group) if group else "" for group in cited),
    )


def entries_of(made: ReferenceList) -> tuple[Paragraph, ...]:
    """Return the entries of a reference list as paragraphs."""
    return tuple(Paragraph(entry.runs, "reference") for entry in made.entries)


def list_document(style: str, records: Iterable[Mapping[str, Any]]) -> Document:
    """Return the reference list of papers' records, without a heading; raises as `reference_list`."""
    references = list(map(reference_of, records))
    korean = sum(reference.language == "ko" for reference in references)
    entries = entries_of(reference_list(style, references))
    return Document(entries, "ko" if 2 * korean > len(references) else "en")


def _item(reference: Reference, style: CitationStyle) -> dict[str, Any]:
    """Make the item of a paper for the processor, whose output depends on these changes.

    Names in Hangul are whole. Titles of unknown languages get a language, or they would be capitalised as
    English ones.
    """
    item = {key: value for key, value in csl_item(reference).items() if key not in UNUSED}
    item["language"] = reference.language or "und"
    item["title"] = _title(reference, style) or reference.id
    if reference.pages:
        item["page"] = style.pages(reference.pages)
    if reference.authors:
        item["author"] = [
            {"literal": author.natural} if author.is_korean else _with_initials(name)
            for author, name in zip(reference.authors, item["author"], strict=True)
        ]
    return {
        key: value.translate(NO_MARKS) if isinstance(value, str) else value for key, value in item.items()
    }


def _title(reference: Reference, style: CitationStyle) -> str:
    title = QUOTATION.sub(r"‘\1’", reference.title) if style.quotes_titles else reference.title
    return headline_parts(title) if style.headlines and reference.language == "en" else title


def _with_initials(name: dict[str, str]) -> dict[str, str]:
    """Separate initials, which the processor would take for one name: EM is E. M."""
    given = name.get("given", "")
    return {**name, "given": ". ".join([*given, ""]).strip()} if INITIALS.fullmatch(given) else name


def _sorted(papers: Sequence[Reference], style: CitationStyle) -> list[Reference]:
    """Sort papers by their entries, without quotation marks."""
    entries = Processor(style.csl(), [_item(reference, style) for reference in papers]).references()
    texts = ["".join(run.text for run in runs) for runs in entries]
    keys = [NOT_SORTED.sub("", text).casefold() for text in texts]
    hangul_first = style.name == "korean"
    order = sorted(
        range(len(papers)), key=lambda place: (hangul_first and not HANGUL.match(keys[place]), keys[place])
    )
    return [papers[place] for place in order]


def _distinguish(processor: Processor, items: Sequence[dict[str, Any]], variable: str) -> bool:
    """Distinguish items with the same citation; True if there are any."""
    alike: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for place, item in enumerate(items):
        alike[processor.citation([place])].append(item)
    ambiguous = [group for group in alike.values() if len(group) > 1]
    for group in ambiguous:
        for number, item in enumerate(group):
            item[variable] = item["title"] if variable == "title-short" else _letter(number)
    return bool(ambiguous)


def _letter(number: int) -> str:
    """Return the letter of a number from 0: a, b, c; after z aa, ab."""
    letters = ""
    number += 1
    while number:
        number, digit = divmod(number - 1, len(ascii_lowercase))
        letters = ascii_lowercase[digit] + letters
    return letters
