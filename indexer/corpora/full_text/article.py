"""Extraction of a record in Paper's keys from the pages of a PDF."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from indexer.corpora.cleaning import is_reference_heading, kind_by_words
from indexer.corpora.full_text.abstracts import abstract_lines, headless_abstract, keyword_lines, text_begins
from indexer.corpora.full_text.heading_sequence import name_of, number_of
from indexer.corpora.full_text.heading_words import (
    KEYWORDS,
    is_abstract_heading,
    is_front_heading,
    is_opening_heading,
    is_summary_heading,
)
from indexer.corpora.full_text.headings import is_known
from indexer.corpora.full_text.lines.joining import Usage, join_lines, usage_of
from indexer.corpora.full_text.lines.layout import regions_of
from indexer.corpora.full_text.lines.margins import Page, without_margins
from indexer.corpora.full_text.lines.placed import placed_lines, usual_size
from indexer.corpora.full_text.reference_fields import parse_references
from indexer.corpora.full_text.reference_list import entries_of, list_end
from indexer.corpora.full_text.sections import Section, paragraphs, sections_of
from indexer.corpora.full_text.title_page.front_matter import front_matter, keywords_in
from indexer.corpora.full_text.title_page.title import title_page
from indexer.corpora.papers import language_of

ABSTRACT_CHARACTERS = 6_000
MAIN_KINDS = ("kept", "to the end")  # of headings, by their words


def article_of(pages: Sequence[Page], metadata: Mapping[str, str]) -> dict[str, Any]:
    """Return the record without an id; fields not found on the pages are omitted."""
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
    """Return abstracts, keywords, body and references, without cover pages."""
    sections = _with_abstracts(sections, language)
    found = {
        number: _split_abstract(section, usage)
        for number, section in enumerate(sections)
        if section.kind == "abstract"
    }
    chosen = _chosen({number: abstract for number, (abstract, _) in found.items()}, language)
    first = _first_of_text(sections)
    keywords: list[str] = []
    body: list[str] = []
    references: list[str] = []
    for number, section in enumerate(sections[first:], first):
        if is_reference_heading(section.heading):
            end = list_end(section.lines)
            entries = [join_lines(entry, usage) for entry in entries_of(section.lines[:end])]
            references += entries
            body += [section.heading, *entries, *paragraphs(section.lines[end:], usage)]
        elif KEYWORDS.fullmatch(section.heading.strip(" :")):
            end = keyword_lines(section.lines)
            keywords += keywords_in(join_lines((item.line for item in section.lines[:end]), usage))
            body += paragraphs(section.lines[end:], usage)
        elif number in chosen:
            body += found[number][1]
        else:
            heading = section.heading
            body += [f"{'#' * (section.level + 1)} {heading}" if heading else ""]
            body += paragraphs(section.lines, usage)
    abstract, abstract2 = ([found[number][0] for number in chosen] + ["", ""])[:2]
    return {
        "sections": [
            {"title": section.heading, "level": section.level}
            for section in sections
            if section.kind == "summary" or (section.heading and not is_front_heading(section.heading))
        ],
        "abstract": abstract,
        "abstract2": abstract2,
        "keywords": keywords,
        "body": "\n\n".join(filter(None, body)),
        "reference_list": parse_references(references),
    }


def _first_of_text(sections: Sequence[Section]) -> int:
    """Return the index of the first abstract or opening part, 0 without one or after a main part."""
    first = next((number for number, section in enumerate(sections) if _begins_text(section)), 0)
    return 0 if any(map(_is_main_part, sections[:first])) else first


def _begins_text(section: Section) -> bool:
    number = number_of(section.heading)
    opening = is_opening_heading(name_of(section.heading)) or (number is not None and number[1] == 1)
    return section.kind == "abstract" or (
        section.level == 1 and opening and not is_front_heading(section.heading)
    )


def _is_main_part(section: Section) -> bool:
    known = kind_by_words(name_of(section.heading)) in MAIN_KINDS or number_of(section.heading) is not None
    return section.level == 1 and known and not is_front_heading(section.heading)


def _with_abstracts(sections: Sequence[Section], language: str) -> list[Section]:
    """Mark the abstracts among sections; lines after an abstract become a section without a heading.

    A summary in the title's language after a main part belongs to the text.
    """
    marked: list[Section] = []
    behind_main_part = False
    for section in sections:
        behind_main_part = behind_main_part or _is_main_part(section)
        end = abstract_lines(section.lines) if is_abstract_heading(section.heading) else None
        if end is None:
            marked.append(section)
            continue
        if behind_main_part and is_summary_heading(section.heading):
            text = " ".join(item.line.text for item in section.lines)
            if language_of(text) == language:
                marked.append(replace(section, kind="summary"))
                continue
        begin = text_begins(section.lines[:end])
        marked.append(replace(section, lines=section.lines[begin:end], kind="abstract"))
        marked.append(Section("", lines=section.lines[end:]))
    if any(section.kind == "abstract" for section in marked):
        return marked
    return _with_headless_abstract(marked, language)


def _with_headless_abstract(sections: Sequence[Section], language: str) -> list[Section]:
    for number, section in enumerate(sections):
        if number and (is_known(section.heading) or number_of(section.heading)):
            break
        if found := headless_abstract(section.lines, language):
            begin, end = found
            parts = [
                replace(section, lines=section.lines[:begin]),
                Section("", section.level, section.lines[begin:end], "abstract"),
                Section("", section.level, section.lines[end:]),
            ]
            return [*sections[:number], *parts, *sections[number + 1 :]]
    return list(sections)


def _split_abstract(section: Section, usage: Usage) -> tuple[str, list[str]]:
    """Return an abstract and the following paragraphs.

    If no heading follows an abstract, its section extends to the end of the paper.
    """
    texts = paragraphs(section.lines, usage)
    end = len(texts) if sum(map(len, texts)) <= ABSTRACT_CHARACTERS else 1
    return " ".join(texts[:end]), texts[end:]


def _chosen(abstracts: Mapping[int, str], language: str) -> list[int]:
    """Return the keys of the abstracts in the title's language and in the other language."""
    languages = {number: language_of(text) for number, text in abstracts.items() if text}
    first = next((number for number, found in languages.items() if found == language), None)
    first = next(iter(languages), None) if first is None else first
    if first is None:
        return []
    others = [number for number, found in languages.items() if found != languages[first]]
    return [first, *others[:1]]
