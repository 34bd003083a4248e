"""Markup in titles, abstracts, names and keywords of all formats: HTML, JATS, MathML and entities.

Publishers put it into every format, also escaped once or twice, and with or without a namespace.
"""

import html
import re

# Only known names and attributes with values: "p <0.05" and "a <b and c> d" are text.
ATTRIBUTES = r"""(?:\s++[\w:.-]++\s*+=\s*+(?:"[^"<>]*+"|'[^'<>]*+'|[^\s"'<>]++))*+\s*+"""
TAG = re.compile(
    rf"<(?P<end>/?+)(?P<prefix>[a-z]{{1,8}}:)?+(?P<name>[a-z][a-z0-9-]*+){ATTRIBUTES}/?+>|<!--|-->",
    re.IGNORECASE,
)
INLINE = frozenset(
    "a abbr b big cite code em font i mark q s small span strike strong sub sup tt u var bold italic "
    "monospace underline sc scp ext-link xref uri inline-formula tex-math alternatives named-content "
    "styled-content math mi mn mo ms mtext mrow mfrac msub msup msubsup msqrt mroot munder mover "
    "munderover mprescripts mspace mstyle mfenced mtable mtr mtd mpadded mphantom menclose "
    "mmultiscripts none semantics".split()
)
BLOCKS = frozenset(
    "blockquote br center dd div dl dt h1 h2 h3 h4 h5 h6 hr img li ol p pre table tbody td th thead tr ul "
    "disp-formula disp-quote break".split()
)
# Elements that repeat a formula in MathML, and comments.
REPEATED = frozenset({"annotation", "annotation-xml", "<!--"})
FORMULA = re.compile(r"\$\$?(.*?)\$\$?", re.DOTALL)  # Springer writes a whole TeX document around it
NAMESPACES = frozenset({"jats:", "mml:", "m:"})
PREFIXED_BLOCKS = BLOCKS | frozenset("title sec list list-item label abstract caption def-list".split())
# A semicolon is required: "?a=1&section=2" is an address.
ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
MOST_ESCAPES = 3
SPACES = re.compile(r"\s+")


def without_markup(text: str) -> str:
    """Return the text on one line, without tags (also escaped ones) and with entities resolved."""
    for _ in range(MOST_ESCAPES):
        if "<" in text:
            text = _without_tags(text)
        if "&" not in text:
            break
        text = ENTITY.sub(lambda found: html.unescape(found[0]), text)
    else:
        text = _without_tags(text)
    return SPACES.sub(" ", text).strip()


def _without_tags(text: str) -> str:
    has_math = "/math>" in text or ":math>" in text
    pieces: list[str] = []
    begun: dict[str, int] = {}  # places in `pieces` of elements that are dropped at their end
    place = 0
    for found in TAG.finditer(text):
        pieces.append(text[place : found.start()])
        place = found.end()
        name = (found["name"] or found[0]).lower()
        if name == "-->":
            if "<!--" in begun:
                del pieces[begun.pop("<!--") :]
            else:
                pieces.append(found[0])
        elif name in REPEATED or name == "tex-math":
            if not found["end"]:
                begun.setdefault(name, len(pieces))
            elif name in begun:
                start = begun.pop(name)
                kept = "" if has_math or name in REPEATED else _formula("".join(pieces[start:]))
                pieces[start:] = [kept]
        else:
            pieces.append(_replacement(found[0], (found["prefix"] or "").lower(), name))
    return "".join((*pieces, text[place:]))


def _formula(tex: str) -> str:
    found = FORMULA.search(tex)
    return found[1] if found else tex


def _replacement(tag: str, prefix: str, name: str) -> str:
    if prefix in NAMESPACES:
        return " " if name in PREFIXED_BLOCKS else ""
    if not prefix and name in BLOCKS:
        return " "
    return "" if not prefix and name in INLINE else tag
