"""An answer that is still being written: what of its JSON can be read already."""

from typing import Any

from pydantic_core import from_json

from generator.answers import SECTIONS


def readable(text: str) -> str:
    """Return title and sentences of an answer that is cut off anywhere, a line each; "" before any."""
    begin = text.find("{")
    try:
        read: Any = from_json(text[begin:], allow_partial="trailing-strings") if begin >= 0 else {}
    except ValueError:
        read = {}
    if not isinstance(read, dict):
        return ""
    sections = [read.get(section) for section in SECTIONS]
    listed = [sentence for section in sections if isinstance(section, list) for sentence in section]
    texts = [read.get("title"), *(each.get("text") for each in listed if isinstance(each, dict))]
    return "\n".join(line for line in texts if isinstance(line, str) and line)
