"""A document as Markdown (CommonMark, with the tables of GFM); text is escaped."""

import re
from collections.abc import Iterator

from base.documents.blocks import Block, Document, Heading, Paragraph, Run

MARKUP = re.compile(r"([\\`*_\[\]<>|&~$#])")  # syntax of Markdown, or of HTML within it
# A line that starts like this would be a heading, a quotation or an item of a list.
LINE_START = re.compile(r"^(\s*)([-+=]|\d+(?=[.)]))")
ITEM = "- "


def as_markdown(document: Document) -> str:
    """Format a document; an empty line separates blocks other than items."""
    lines: list[str] = []
    before: Block | None = None
    for block in document.blocks:
        if before is not None and not (_is_item(before) and _is_item(block)):
            lines.append("")
        lines += _lines(block)
        before = block
    return "\n".join(lines) + "\n"


def _is_item(block: Block) -> bool:
    return isinstance(block, Paragraph) and block.kind == "item"


def _lines(block: Block) -> Iterator[str]:
    if isinstance(block, Heading):
        yield f"{'#' * block.level} {escaped(block.text)}"
    elif isinstance(block, Paragraph):
        text = _escaped_start("".join(map(_run, block.runs)))
        yield f"{ITEM}{text}" if block.kind == "item" else text
    else:
        yield _row(block.header)
        yield "|" + " --- |" * len(block.header)
        yield from map(_row, block.rows)


def escaped(text: str) -> str:
    """Escape the signs of Markdown and of HTML."""
    return MARKUP.sub(r"\\\1", text)


def _escaped_start(line: str) -> str:
    """Escape a sign at the start of a line; after a number it is the period."""
    found = LINE_START.match(line)
    if not found:
        return line
    if found[2].isdigit():
        return f"{line[: found.end()]}\\{line[found.end() :]}"
    return f"{found[1]}\\{line[found.end(1) :]}"


def _run(run: Run) -> str:
    text = escaped(run.text)
    if not run.italic or not text.strip():
        return text
    inner = text.strip()
    begin = text.index(inner)
    return f"{text[:begin]}*{inner}*{text[begin + len(inner) :]}"


def _row(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(map(escaped, cells)) + " |"
