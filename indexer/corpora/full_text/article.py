"""Extraction of a record in Paper's keys from the pages of a PDF."""

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

from base.patterns import lazy_regex
from indexer.corpora.full_text.joining import join_lines, words_of
from indexer.corpora.full_text.layout import Line, lines_of, usual_size, without_margins
from indexer.corpora.full_text.outline import headings_of
from indexer.corpora.full_text.pages import Page
from indexer.corpora.full_text.references import EntryLine, entry_spans, parse_references
from indexer.corpora.full_text.title_page import front_matter, title_page
from indexer.corpora.headings import inline_heading, kind_of, together
from indexer.corpora.papers import language_of

MOST_KEYWORDS = 30
KEYWORD_CHARACTERS = 5_000
FAR = 1.6  # distance of blocks, in usual line distances
WIDE = 1.35  # line distance at the start of a paragraph, relative to the usual one
INDENTED = 0.6  # in line heights
SAME_SIZE = 0.12  # sizes of lines after OCR vary slightly
RUNNING_LETTERS = 120  # of a block of running text
HEADLESS_LETTERS = 240  # of an abstract without a heading
FEWEST_ENTRIES = 3  # lines of a reference list, before text that may end it
SENTENCE_END = lazy_regex(r"[.?!:;。다]['\"”’)\]]*$")
ABSTRACT_END = lazy_regex(
    r"\W*(?:key\s?words?|index terms|주제어|핵심\s?(?:어|단어)|중심어|키워드|색인어|주요어)(?:\W|$)"
    r"|categories and subject|general terms|ccs concepts|©|copyright",
    re.IGNORECASE,
)
AFTER_LIST = lazy_regex(
    r"e-?mail\s*:|(?:author )?(?:affiliations?|biograph(?:y|ies))\s*:?$|(?:manuscript )?received\b"
    r"|저자\s*소개|corresponding author|department of\b(?!.*(?:19|20)\d\d)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Section:
    """A heading ('' before the first one), its level from 1, and the lines below it.

    `is_abstract`: the lines are an abstract.
    """

    heading: str = ""
    level: int = 1
    lines: list[Line] = field(default_factory=list)
    is_abstract: bool = False


def article_of(pages: Sequence[Page], metadata: Mapping[str, str]) -> dict[str, Any]:
    """Return the record without an id; fields not found on the pages are omitted."""
    usual, first = usual_size(pages), title_page(pages)
    kept = without_margins(pages, usual)
    lines = [
        line for number, page in enumerate(kept[first:], first) for line in lines_of(page.fragments, number)
    ]
    words = words_of([line.part for line in lines])
    fields, title = front_matter(pages[first], usual, words, metadata)
    taken = {(line.part.text, line.part.top) for line in title}
    lines = [line for line in lines if line.page > first or (line.part.text, line.part.top) not in taken]
    sections = _with_abstracts(_sections_of(lines, usual, words))
    record = fields | _texts(sections, words, language_of(fields["title"]))
    return {key: value for key, value in record.items() if value}


def keywords_in(text: str) -> list[str]:
    """Split a list of keywords."""
    parts = re.split(r"[,;·，、]", text[:KEYWORD_CHARACTERS].strip().rstrip("."))
    return [part.strip() for part in parts if part.strip()][:MOST_KEYWORDS]


def _sections_of(lines: Sequence[Line], usual: float, words: Set[str]) -> list[Section]:
    """Split the lines of a paper at its headings."""
    headings = {heading.first: heading for heading in headings_of(lines, usual)}
    sections = [Section()]
    last = -1
    for index, line in enumerate(lines):
        if index <= last:
            continue
        if found := inline_heading(line.text):
            part = replace(line.part, text=found[1])
            sections.append(Section(found[0], 1, [replace(line, part=part, text=part.text)]))
        elif heading := headings.get(index):
            last = heading.last
            sections.append(Section(together(join_lines(lines[index : last + 1], words)), heading.level))
        else:
            sections[-1].lines.append(line)
    return sections


def _with_abstracts(sections: Sequence[Section]) -> list[Section]:
    """Mark the abstracts; lines around an abstract become sections without a heading."""
    abstracts = [
        _abstract_lines(part.lines) if kind_of(part.heading) == "abstract" else [] for part in sections
    ]
    if not any(abstracts) and len(sections) > 1:  # the first long block above the headings
        blocks = _blocks(sections[0].lines)
        abstracts[0] = next((block for block in blocks if _letters(block) >= HEADLESS_LETTERS), [])
    marked: list[Section] = []
    for section, lines in zip(sections, abstracts, strict=True):
        if not lines:
            marked.append(section)
            continue
        begin = section.lines.index(lines[0])
        before, after = section.lines[:begin], section.lines[begin + len(lines) :]
        marked += [Section(lines=before)] if before else []
        marked += [replace(section, lines=lines, is_abstract=True), Section(lines=after)]
    return marked


def _abstract_lines(lines: Sequence[Line]) -> list[Line]:
    """Return the lines of an abstract below its heading; a repeated title or name may precede them."""
    ends = (number for number, line in enumerate(lines) if ABSTRACT_END.match(together(line.text)))
    lines = lines[: next(ends, len(lines))]
    if 2 * sum(line.text[-1:].isdecimal() for line in lines) > len(lines):
        return []  # a table of contents
    blocks = _blocks(lines)
    running = (n for n, block in enumerate(blocks) if _letters(block) >= RUNNING_LETTERS)
    return [line for block in blocks[next(running, 0) :] for line in block]


def _blocks(lines: Sequence[Line]) -> list[list[Line]]:
    """Split lines into blocks at gaps and changes of size."""
    blocks: list[list[Line]] = []
    for line in lines:
        last = blocks[-1][-1].part if blocks else None
        similar = last is not None and abs(line.part.size - last.size) < SAME_SIZE * line.part.size
        if not similar or (line.above is last and line.gap > FAR):
            blocks.append([])
        blocks[-1].append(line)
    return blocks


def _letters(lines: Sequence[Line]) -> int:
    return sum(map(str.isalpha, "".join(line.text for line in lines)))


def _texts(sections: Sequence[Section], words: Set[str], language: str) -> dict[str, Any]:
    """Return abstracts, keywords, body and references, without the lines above them on the title page."""
    abstracts: dict[str, tuple[Section, str]] = {}  # the first of each language
    for section in sections:
        if section.is_abstract:
            text = " ".join(_paragraphs(section.lines, words))
            abstracts.setdefault(language_of(text), (section, text))
    chosen = [abstracts[each] for each in sorted(abstracts, key=lambda each: each != language)][:2]
    left_out = [section for section, _ in chosen] + ([sections[0]] if _is_front(sections) else [])
    keywords: list[str] = []
    body: list[str] = []
    references: list[str] = []
    for section in sections:
        lines, kind = section.lines, kind_of(section.heading)
        if any(section is each for each in left_out):
            continue
        if kind == "references":
            ends = (n for n, line in enumerate(lines) if n >= FEWEST_ENTRIES and AFTER_LIST.match(line.text))
            end = next(ends, len(lines))
            entries = [join_lines(entry, words) for entry in _entries_of(lines[:end])]
            references += entries
            body += [section.heading, *entries]
            lines = lines[end:]
        elif kind == "keywords" and lines:
            block, *_ = _blocks(lines)
            keywords += keywords_in(join_lines(block, words))
            lines = lines[len(block) :]
        elif section.heading:
            body.append(f"{'#' * (section.level + 1)} {section.heading}")
        body += _paragraphs(lines, words)
    front = ("abstract", "keywords", "contents")
    headings = [part for part in sections if part.heading and kind_of(part.heading) not in front]
    return {
        **dict(zip(("abstract", "abstract2"), (text for _, text in chosen), strict=False)),
        "sections": [{"title": section.heading, "level": section.level} for section in headings],
        "keywords": keywords,
        "body": "\n\n".join(filter(None, body)),
        "reference_list": parse_references(references),
    }


def _is_front(sections: Sequence[Section]) -> bool:
    """Check whether all lines above the first heading are on the page of the next lines: names, addresses."""
    first, *others = sections
    following = [line for part in others for line in part.lines][:1]
    return (
        bool(others) and not first.is_abstract and len({line.page for line in first.lines + following}) == 1
    )


def _paragraphs(lines: Iterable[Line], words: Set[str]) -> list[str]:
    """Join the lines of a section into paragraphs, also across columns."""
    groups: list[list[Line]] = []
    for line in lines:
        if not groups or _begins_paragraph(line, groups[-1][-1]):
            groups.append([])
        groups[-1].append(line)
    return [text for group in groups if (text := join_lines(group, words))]


def _begins_paragraph(line: Line, last: Line) -> bool:
    is_apart = line.above is last.part and (last.is_short or line.gap > WIDE)
    return (is_apart or line.indent > INDENTED) and SENTENCE_END.search(last.text) is not None


def _entries_of(lines: Sequence[Line]) -> list[Sequence[Line]]:
    """Split the lines of a reference list into entries."""
    gaps = sorted(line.part.top - line.above.top for line in lines if line.above)
    usual = gaps[len(gaps) // 4] if gaps else 0.0
    seen = [
        EntryLine(
            line.text,
            indented=line.indent > INDENTED,
            apart=line.above is not None and line.part.top - line.above.top > WIDE * usual,
            first=line.above is None,
        )
        for line in lines
    ]
    return [lines[begin:end] for begin, end in entry_spans(seen)]
