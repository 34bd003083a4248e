"""The formats of documents, by the names of the API and by the endings of files: text, Markdown, Word.

Markdown is CommonMark, with the tables of GFM; text is escaped.
"""

import re
from collections.abc import Callable, Container
from dataclasses import dataclass
from pathlib import Path

from base.documents.blocks import Block, Document, Heading, Paragraph, Run
from base.documents.word import MEDIA_TYPE, as_word
from base.errors import InvalidCall

MARKUP = re.compile(r"([\\`*_\[\]<>|&~$#])")  # syntax of Markdown, or of HTML within it
# A line that starts like this would be a heading, a quotation or an item of a list.
LINE_START = re.compile(r"^(\s*)([-+=]|\d+(?=[.)]))")
ITEM = "- "


def as_text(document: Document) -> str:
    """Format a document; blank lines separate blocks that are not listed, tabs the cells of a table."""
    return _joined(document, _text, listed={"item", "reference"})


def as_markdown(document: Document) -> str:
    """Format a document; an empty line separates blocks other than items."""
    return _joined(document, _markdown, listed={"item"})


def _joined(document: Document, form: Callable[[Block], str], listed: Container[str]) -> str:
    """Join blocks by blank lines; the ones of listed kinds by line breaks."""
    text, after_listed = "", True
    for block in document:
        is_listed = isinstance(block, Paragraph) and block.kind in listed
        gap = "\n" if after_listed and is_listed else "\n\n"
        text, after_listed = f"{text}{gap if text else ''}{form(block)}", is_listed
    return text + "\n"


def _text(block: Block) -> str:
    if isinstance(block, Heading):
        return block.text
    if isinstance(block, Paragraph):
        return f"{ITEM}{block.text}" if block.kind == "item" else block.text
    return "\n".join("\t".join(row) for row in (block.header, *block.rows))


def _markdown(block: Block) -> str:
    if isinstance(block, Heading):
        return f"{'#' * block.level} {escaped(block.text)}"
    if isinstance(block, Paragraph):
        text = _escaped_start("".join(map(_run, block.runs)))
        return f"{ITEM}{text}" if block.kind == "item" else text
    rows = ["| " + " | ".join(map(escaped, row)) + " |" for row in (block.header, *block.rows)]
    return "\n".join([rows[0], "|" + " --- |" * len(block.header), *rows[1:]])


def escaped(text: str) -> str:
    """Escape the signs of Markdown and of HTML."""
    return MARKUP.sub(r"\\\1", text)


def _escaped_start(line: str) -> str:
    """Escape a sign at the start of a line; after a number it is the period."""
    found = LINE_START.match(line)
    if not found:
        return line
    place = found.end() if found[2].isdigit() else found.end(1)
    return f"{line[:place]}\\{line[place:]}"


def _run(run: Run) -> str:
    text, inner = escaped(run.text), escaped(run.text).strip()
    return text.replace(inner, f"*{inner}*", 1) if run.italic and inner else text


@dataclass(frozen=True, slots=True)
class DocumentFormat:
    """A format: its media type, the ending of its files, and the function that writes a document."""

    media_type: str
    extension: str
    encoded: Callable[[Document], bytes]


DOCUMENT_FORMATS = {
    "text": DocumentFormat("text/plain; charset=utf-8", ".txt", lambda document: as_text(document).encode()),
    "markdown": DocumentFormat(
        "text/markdown; charset=utf-8", ".md", lambda document: as_markdown(document).encode()
    ),
    "docx": DocumentFormat(MEDIA_TYPE, ".docx", as_word),
}


def format_of(path: Path) -> DocumentFormat:
    """Return the format by a file's ending; InvalidCall, with all endings, if there is none."""
    by_ending = {each.extension: each for each in DOCUMENT_FORMATS.values()}
    if found := by_ending.get(path.suffix.lower()):
        return found
    raise InvalidCall(f"a document is a file {', '.join(by_ending)}, not {path.name!r}")
