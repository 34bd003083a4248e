"""Extraction of abstract, keywords, body and reference list from a text with headings."""

import unicodedata
from typing import Any

from indexer.corpora.cleaning import HEADING, reference_lines, split_sections
from indexer.corpora.full_text.article import INLINE_HEADING, keywords_in
from indexer.corpora.full_text.headings import is_abstract_heading, is_keyword_heading, together
from indexer.corpora.full_text.references import entries_in, parse_references


def record_of_text(text: str) -> dict[str, Any]:
    """Return a record in Paper's keys without id and title; fields not found in the text are omitted."""
    record: dict[str, Any] = {}
    body: list[str] = []
    lines: list[str] = []
    for line in unicodedata.normalize("NFC", text).splitlines():
        if not (found := INLINE_HEADING.fullmatch(line.strip())):
            lines.append(line)
        elif is_keyword_heading(name := together(found["name"])):
            record.setdefault("keywords", keywords_in(found["text"]))
        else:
            lines += [f"## {name}", found["text"]]
    sections = split_sections("\n".join(lines))
    for section in sections:
        heading = HEADING.fullmatch(section.heading)
        name = together(heading["name"]) if heading else ""
        if is_abstract_heading(name) and "abstract" not in record:
            record["abstract"] = section.text
        elif is_keyword_heading(name) and "keywords" not in record:
            record["keywords"] = keywords_in(section.text)
        else:
            body.append("\n".join(filter(None, (section.heading, section.text))))
    record["body"] = "\n\n".join(body)
    record["reference_list"] = parse_references(entries_in(reference_lines(sections)))
    return {key: value for key, value in record.items() if value}
