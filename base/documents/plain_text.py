"""A document as plain text."""

from base.documents.blocks import Block, Document, Heading, Paragraph

ITEM = "- "
TAB = "\t"


def as_text(document: Document) -> str:
    """Format a document; a blank line separates blocks other than items, tabs separate the cells of a table."""
    text = ""
    before: Block | None = None
    for block in document.blocks:
        if before is not None:
            alike = (
                isinstance(before, Paragraph) and isinstance(block, Paragraph) and before.kind == block.kind
            )
            text += "\n" if alike and block.kind != "text" else "\n\n"
        text += _text(block)
        before = block
    return text + "\n"


def _are_items(*blocks: Block) -> bool:
    return all(isinstance(block, Paragraph) and block.kind == "item" for block in blocks)


def _text(block: Block) -> str:
    if isinstance(block, Heading):
        return block.text
    if isinstance(block, Paragraph):
        return f"{ITEM}{block.text}" if block.kind == "item" else block.text
    return "\n".join(TAB.join(row) for row in (block.header, *block.rows))
