"""HTML built from elements; this file alone escapes their text."""

from collections.abc import Iterable
from html import escape
from typing import TypeAlias

VOID = {"br", "hr", "input", "link", "meta"}


class Markup(str):
    """HTML that is inserted into a page without escaping."""

    __slots__ = ()


Content: TypeAlias = "str | Iterable[str]"


def html(*contents: Content) -> Markup:
    """Join contents: markup unchanged, any other text escaped."""
    pieces: list[str] = []
    for content in contents:
        if isinstance(content, Markup):
            pieces.append(content)
        elif isinstance(content, str):
            pieces.append(escape(content))
        else:
            pieces.append(html(*content))
    return Markup("".join(pieces))


def element(tag: str, attributes: dict[str, str] | None = None, *contents: Content) -> Markup:
    """Create an element; attributes without a value are left out."""
    written = "".join(f' {name}="{escape(value)}"' for name, value in (attributes or {}).items() if value)
    return Markup(f"<{tag}{written}>" if tag in VOID else f"<{tag}{written}>{html(*contents)}</{tag}>")
