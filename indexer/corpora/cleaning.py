"""Cleaning of full text: removes reference lists, acknowledgements, appendices and URLs.

The rules follow paper-qa's preprocessing (section 1.I). They apply to `body`, never to an abstract.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from base.patterns import lazy_regex
from indexer.corpora.headings import Kind, heading_text, kind_of, line_kind

URL_MARK = "[URL]"
# Up to the last character that is not punctuation: a full stop after an address ends the sentence.
URL = lazy_regex(r"(?:https?://|ftp://|www\.)[!#-;=?-~]*[A-Za-z0-9/=&_~#%+-]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Section:
    """A heading as written ('' before the first one), and the text below it."""

    heading: str
    text: str


def clean_body(text: str) -> str:
    """Drop sections that are not part of the argument, and replace every address by `[URL]`.

    A dropped section ends at the next heading of a kept one. References end only at a heading known by its
    words, as their entries are numbered like headings. An appendix extends to the end of the text.
    """
    kept: list[str] = []
    last: Kind = "kept"
    for section in split_sections(text):
        last = _kind_after(last, section.heading)
        if last not in ("dropped", "references", "appendix"):
            kept.append("\n".join(filter(None, (section.heading, section.text))))
    return URL.sub(URL_MARK, "\n\n".join(filter(None, kept)))


def split_sections(text: str) -> list[Section]:
    """Split the composed text at headings: separate lines with known words, a number, or a `#` mark."""
    found: list[tuple[str, list[str]]] = [("", [])]
    for line in unicodedata.normalize("NFC", text).splitlines():
        if line_kind(line) is None:
            found[-1][1].append(line)
        else:
            found.append((line.strip(), []))
    sections = (Section(heading, "\n".join(lines).strip()) for heading, lines in found)
    return [section for section in sections if section.heading or section.text]


def reference_lines(sections: Iterable[Section]) -> list[str]:
    """Return the lines of all reference lists in the sections of a text, without headings."""
    lines: list[str] = []
    last: Kind = "kept"
    for section in sections:
        last = _kind_after(last, section.heading)
        if last == "references":
            # Apparent headings in a reference list are entries.
            lines += [] if kind_of(heading_text(section.heading)) else [section.heading]
            lines += section.text.splitlines()
    return lines


def _kind_after(last: Kind, heading: str) -> Kind:
    """Return the kind of the section under `heading`, given the kind of the previous one."""
    known = kind_of(heading_text(heading))
    if last == "appendix" or (last == "references" and known is None):
        return last
    return known or "kept"
