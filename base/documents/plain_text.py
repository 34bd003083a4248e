"""A document as plain text."""

from base.documents.blocks import Block, Document, Heading, Paragraph

ITEM = "- "
TAB = "\t"


def as_text(document: Document) -> str:
    """Format a document; blank lines separate blocks that are not listed, tabs the cells of a table."""
    text = ""
    before: Block | None = None
    for block in document.blocks:
        if before is not None:
            text += "\n" if _is_listed(before) and _is_listed(block) else "\n\n"
        text += _text(block)
        before = block
    return text + "\n"


def _is_listed(block: Block) -> bool:
    return isinstance(block, Paragraph) and block.kind != "text"


def _text(block: Block) -> str:
    if isinstance(block, Heading):
        return block.text
    if isinstance(block, Paragraph):
        return f"{ITEM}{block.text}" if block.kind == "item" else block.text
    return "\n".join(TAB.join(row) for row in (block.header, *block.rows))
