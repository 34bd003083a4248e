"""A paper out of the pages of a PDF, as a record in Paper's keys."""

from collections.abc import Mapping, Sequence
from typing import Any

from indexer.cleaning import heading_kind, is_reference_heading
from indexer.full_text.front_matter import (
    ABSTRACT,
    KEYWORDS,
    authors_told,
    doi_and_year,
    front_lines,
    keywords_in,
    title_lines,
    title_told,
    titles,
)
from indexer.full_text.joining import Usage, join_lines, usage_of
from indexer.full_text.layout import regions_of
from indexer.full_text.margins import Page, without_margins
from indexer.full_text.reference_fields import parse_references
from indexer.full_text.reference_list import entries_of
from indexer.full_text.sections import Section, paragraphs, placed_lines, sections_of, usual_size
from indexer.papers import language_of

ABSTRACT_CHARACTERS = 6_000
MOST_ABSTRACTS = 2


def article_of(pages: Sequence[Page], metadata: Mapping[str, str]) -> dict[str, Any]:
    """Return the record, without an id; what the pages do not tell is left out."""
    usual = usual_size([line for page in pages for line in page.fragments])
    regions = [regions_of(fragments) for fragments in without_margins(pages, usual)]
    lines = [line for page in regions for region in page for line in region]
    usage = usage_of(lines)
    head = title_lines([line for region in regions[0] for line in region], usual)
    title, title2 = titles(head, usage)
    page_text = "".join(line.text for region in regions[0] for line in region)
    title = title_told(metadata.get("Title", ""), page_text) or title
    doi, year = doi_and_year(front_lines(pages[0]))
    taken = set(map(id, head))
    placed = [item for page in regions for item in placed_lines(page) if id(item.line) not in taken]
    record = {
        "title": title,
        "title2": title2,
        **_texts(sections_of(placed, usage), usage, language_of(title)),
        "authors": authors_told(metadata.get("Author", ""), page_text),
        "doi": doi,
        "year": year,
    }
    return {key: value for key, value in record.items() if value}


def _texts(sections: Sequence[Section], usage: Usage, language: str) -> dict[str, Any]:
    """Return abstracts, keywords, body and references; what is above the first abstract is no text."""
    abstracts: list[str] = []
    keywords: list[str] = []
    body: list[str] = []
    references: list[str] = []
    first = next((number for number, section in enumerate(sections) if _is_abstract(section)), 0)
    for section in sections[first:]:
        if is_reference_heading(section.heading):
            entries = [join_lines(entry, usage) for entry in entries_of(section.lines)]
            references += entries
            body += [section.heading, *entries]
            continue
        texts = paragraphs(section.lines, usage)
        if KEYWORDS.fullmatch(section.heading):
            keywords += keywords_in("".join(texts[:1]))
            body += texts[1:]
        elif _is_abstract(section) and len(abstracts) < MOST_ABSTRACTS:
            # Where nothing is told apart after it, all that follows would be abstract.
            end = len(texts) if sum(map(len, texts)) <= ABSTRACT_CHARACTERS else 1
            abstracts.append(" ".join(texts[:end]))
            body += texts[end:]
        else:
            heading = section.heading
            body += [f"## {heading}" if heading and heading_kind(heading) is None else heading, *texts]
    abstract, abstract2 = _in_order(abstracts, language)
    return {
        "abstract": abstract,
        "abstract2": abstract2,
        "keywords": keywords,
        "body": "\n\n".join(filter(None, body)),
        "reference_list": parse_references(references),
    }


def _is_abstract(section: Section) -> bool:
    return ABSTRACT.fullmatch("".join(section.heading.split())) is not None


def _in_order(abstracts: Sequence[str], language: str) -> tuple[str, str]:
    """Return the abstract in the title's language, then the other."""
    first, second = (*abstracts, "", "")[:2]
    swapped = second and language_of(first) != language and language_of(second) == language
    return (second, first) if swapped else (first, second)
