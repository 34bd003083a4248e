"""Repair of XML that is not well-formed because of single characters, as many repositories send it."""

import html
import re

DECLARED = re.compile(rb"""^\s*<\?xml[^>]*encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")
# Characters that XML 1.0 forbids (section 2.2), and references to them.
FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
REFERENCE = re.compile(r"&(?:#x([0-9A-Fa-f]{1,8})|#([0-9]{1,10})|([A-Za-z][A-Za-z0-9]{0,31}));|&")
PREDEFINED = frozenset({"amp", "lt", "gt", "quot", "apos"})


def repaired(content: bytes) -> bytes | None:
    """Return the document in UTF-8 without forbidden characters; None if it has none.

    Bytes that are invalid in the declared encoding become U+FFFD. Names of HTML characters (&nbsp;) are
    replaced, and an ampersand without a name is escaped.
    """
    declared = DECLARED.match(content)
    try:
        text = content.decode(declared[1].decode("ascii") if declared else "utf-8", "replace")
    except LookupError:
        text = content.decode("utf-8", "replace")
    better = REFERENCE.sub(_reference, FORBIDDEN.sub("", text))
    encoded = better.encode("utf-8", "replace")
    return encoded if encoded != content else None


def _reference(found: re.Match[str]) -> str:
    if found[1] or found[2]:
        code = int(found[1], 16) if found[1] else int(found[2])
        allowed = code <= 0x10FFFF and not FORBIDDEN.match(chr(code))  # noqa: PLR2004 - the last code point
        return found[0] if allowed else ""
    if found[3] in PREDEFINED:
        return found[0]
    character = html.unescape(found[0]) if found[3] else found[0]
    return html.escape(character, quote=False)
