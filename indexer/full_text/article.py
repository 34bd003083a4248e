"""A paper out of the pages of a PDF, as a record in Paper's keys."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from indexer.cleaning import is_reference_heading
from indexer.full_text.abstracts import abstract_lines, headless_abstract, keyword_lines, text_begins
from indexer.full_text.front_matter import front_matter, keywords_in
from indexer.full_text.heading_numbers import number_of
from indexer.full_text.heading_words import KEYWORDS, is_abstract_heading, is_front_heading
from indexer.full_text.headings import is_known
from indexer.full_text.joining import Usage, join_lines, usage_of
from indexer.full_text.layout import regions_of
from indexer.full_text.margins import Page, without_margins
from indexer.full_text.placed import placed_lines, usual_size
from indexer.full_text.reference_fields import parse_references
from indexer.full_text.reference_list import entries_of, list_end
from indexer.full_text.sections import Section, paragraphs, sections_of
from indexer.full_text.title import title_page
from indexer.papers import language_of

ABSTRACT_CHARACTERS = 6_000
MOST_ABSTRACTS = 2


def article_of(pages: Sequence[Page], metadata: Mapping[str, str]) -> dict[str, Any]:
    """Return the record, without an id; what the pages do not tell is left out."""
    usual = usual_size([line for page in pages for line in page.fragments])
    first = title_page(pages)
    regions = [regions_of(fragments) for fragments in without_margins(pages, usual)]
    usage = usage_of([line for page in regions for region in page for line in region])
    lines = [line for region in regions_of(pages[first].fragments) for line in region]
    front = front_matter(pages, first, lines, usual, usage, metadata)
    taken = {(line.text, line.top) for line in front.title}
    placed = [
        item
        for number, page in enumerate(regions)
        for item in placed_lines(page, number)
        if number >= first and not (number == first and (item.line.text, item.line.top) in taken)
    ]
    sections = sections_of(placed, usage)
    record = front.fields | _texts(sections, usage, language_of(front.fields["title"]))
    return {key: value for key, value in record.items() if value}


def _texts(sections: Sequence[Section], usage: Usage, language: str) -> dict[str, Any]:
    """Return abstracts, keywords, body and references; covers above the first of them are dropped."""
    sections = _with_abstracts(sections, language)
    abstracts: list[str] = []
    keywords: list[str] = []
    body: list[str] = []
    references: list[str] = []
    first = next((number for number, section in enumerate(sections) if _begins_text(section)), 0)
    for section in sections[first:]:
        if is_reference_heading(section.heading):
            end = list_end(section.lines)
            entries = [join_lines(entry, usage) for entry in entries_of(section.lines[:end])]
            references += entries
            body += [section.heading, *entries, *paragraphs(section.lines[end:], usage)]
            continue
        if KEYWORDS.fullmatch(section.heading.strip(" :")):
            end = keyword_lines(section.lines)
            keywords += keywords_in(join_lines((item.line for item in section.lines[:end]), usage))
            body += paragraphs(section.lines[end:], usage)
            continue
        texts = paragraphs(section.lines, usage)
        if section.kind == "abstract" and len(abstracts) < MOST_ABSTRACTS:
            # Without a heading below it, the rest of the paper would be abstract.
            end = len(texts) if sum(map(len, texts)) <= ABSTRACT_CHARACTERS else 1
            abstracts.append(" ".join(texts[:end]))
            body += texts[end:]
        else:
            heading = section.heading
            body += [f"{'#' * (section.level + 1)} {heading}" if heading else "", *texts]
    abstract, abstract2 = _in_order(abstracts, language)
    return {
        "sections": [
            {"title": section.heading, "level": section.level}
            for section in sections
            if section.heading and not is_front_heading(section.heading)
        ],
        "abstract": abstract,
        "abstract2": abstract2,
        "keywords": keywords,
        "body": "\n\n".join(filter(None, body)),
        "reference_list": parse_references(references),
    }


def _begins_text(section: Section) -> bool:
    """Return whether a section is an abstract or a main part; covers and contents are neither."""
    if section.kind == "abstract":
        return True
    main = section.level == 1 and (is_known(section.heading) or number_of(section.heading) is not None)
    return main and not is_front_heading(section.heading)


def _with_abstracts(sections: Sequence[Section], language: str) -> list[Section]:
    """Mark the abstracts among sections; the lines behind an abstract become a section without a heading."""
    marked: list[Section] = []
    for section in sections:
        end = abstract_lines(section.lines) if is_abstract_heading(section.heading) else None
        if end is None:
            marked.append(section)
            continue
        begin = text_begins(section.lines[:end])
        marked.append(replace(section, lines=section.lines[begin:end], kind="abstract"))
        marked.append(Section("", lines=section.lines[end:]))
    if any(section.kind for section in marked):
        return marked
    for number, section in enumerate(marked):
        if number and (is_known(section.heading) or number_of(section.heading)):
            break
        if found := headless_abstract(section.lines, language):
            begin, end = found
            parts = section.lines[:begin], section.lines[begin:end], section.lines[end:]
            kinds = ("", "abstract", "")
            marked[number : number + 1] = [
                replace(section, heading=section.heading if lines is parts[0] else "", lines=lines, kind=kind)
                for lines, kind in zip(parts, kinds, strict=True)
            ]
            break
    return marked


def _in_order(abstracts: Sequence[str], language: str) -> tuple[str, str]:
    """Return the abstract in the title's language, then the one in the other language."""
    first = next((text for text in abstracts if language_of(text) == language), "".join(abstracts[:1]))
    second = next((text for text in abstracts if language_of(text) != language_of(first)), "")
    return first, second
