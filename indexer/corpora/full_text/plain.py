"""Extraction of abstract, keywords, body and reference list from a text with headings."""

from typing import Any

from indexer.corpora.cleaning import HEADING, reference_lines, split_sections
from indexer.corpora.full_text.heading_words import KEYWORDS, is_abstract_heading
from indexer.corpora.full_text.lines.placed import together
from indexer.corpora.full_text.reference_fields import parse_references
from indexer.corpora.full_text.reference_list import entries_in
from indexer.corpora.full_text.sections import INLINE_HEADING
from indexer.corpora.full_text.title_page.front_matter import keywords_in


def record_of_text(text: str) -> dict[str, Any]:
    """Return a record in Paper's keys without id and title; fields not found in the text are omitted."""
    record: dict[str, Any] = {}
    body: list[str] = []
    lines: list[str] = []
    for line in text.splitlines():
        if not (found := INLINE_HEADING.fullmatch(line.strip())):
            lines.append(line)
        elif KEYWORDS.fullmatch(name := together(found["name"])):
            record.setdefault("keywords", keywords_in(found["text"]))
        else:
            lines += [f"## {name}", found["text"]]
    sections = split_sections("\n".join(lines))
    for section in sections:
        found = HEADING.fullmatch(section.heading)
        name = together(found["name"]) if found else ""
        if is_abstract_heading(name) and "abstract" not in record:
            record["abstract"] = section.text
        elif KEYWORDS.fullmatch(name) and "keywords" not in record:
            record["keywords"] = keywords_in(section.text)
        else:
            body.append("\n".join(filter(None, (section.heading, section.text))))
    record["body"] = "\n\n".join(body)
    record["reference_list"] = parse_references(entries_in(reference_lines(sections)))
    return {key: value for key, value in record.items() if value}
