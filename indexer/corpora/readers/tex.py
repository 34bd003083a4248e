r"""Text of TeX as it occurs in BibTeX: accents, special letters, symbols, mathematics.

Commands without a counterpart in Unicode are dropped, and their arguments are kept. The characters of
commands are pylatexenc's; its own conversion takes twenty times as long and leaves indices (CO_2).
"""

import re
import unicodedata
from functools import cache

TOKEN = re.compile(
    r"\\(?P<accent>[\"'`^~=.])[ ]*"
    r"|\\(?P<word>[A-Za-z]+)\*?[ ]*"
    r"|\\(?P<sign>[^A-Za-z])"
    r"|(?P<brace>[{}])"
    r"|(?P<math>\$+)"
    r"|(?P<script>[_^])"
    r"|(?P<dashes>-{2,3})"
    r"|(?P<quotes>``|'')"
    r"|(?P<tie>~)"
    r"|(?P<text>[^\\{}$_^~`'-]+|.)",
    re.DOTALL,
)
# Combining characters of accents in text and mathematics.
ACCENTS = dict(
    zip(
        "\" ' ` ^ ~ = . H c d b k r u v G h f t U textcommabelow textogonekcentered hat tilde bar vec dot "
        "ddot acute grave check breve mathring".split(),
        "\u0308\u0301\u0300\u0302\u0303\u0304\u0307\u030b\u0327\u0323\u0331\u0328\u030a\u0306\u030c\u030f\u0309"
        "\u0311\u0361\u030e\u0326\u0328\u0302\u0303\u0304\u20d7\u0307\u0308\u0301\u0300\u030c\u0306\u030a",
        strict=True,
    )
)
DOTLESS = {"ı": "i", "ȷ": "j"}
# Commands that pylatexenc's table lacks or prints otherwise, and their characters, in pairs.
FURTHER = r"""
SS ẞ S § P ¶ copyright © pounds £ euro € texteuro € ddag ‡ dag † slash / textbraceleft { textbraceright }
textunderscore _ textbar | textless < textgreater > textquotedbl " degree ° sqrt √ mathsemicolon ; neg ¬
epsilon ε phi φ leqslant ≤ geqslant ≥ bullet • lbrace { rbrace } textdegree ° to →
LaTeX LaTeX TeX TeX BibTeX BibTeX textasciicircum ^ textmu μ ne ≠ prime ′
"""
SPACES = frozenset({"quad", "qquad", "space", "newline", "par", "linebreak"})
SPACE_SIGNS = frozenset(" ,;:\\\n\t")
NO_SIGNS = frozenset("-/!@()[]")  # hyphenation, corrections, delimiters of mathematics
DASHES = {"--": "–", "---": "—"}
QUOTES = {"``": "“", "''": "”"}
WHITE_SPACE = re.compile(r"\s+")


def text_of(tex: str) -> str:
    """Return the text on one line, with the characters that TeX prints for -- and ``."""
    if not any(sign in tex for sign in "\\{}$~_^-`'"):
        return WHITE_SPACE.sub(" ", tex).strip()
    written: list[str] = []
    accent = ""
    in_math = is_accented = False
    for found in TOKEN.finditer(tex):
        kind, token = found.lastgroup, found[0]
        if kind == "accent" or (kind == "word" and found["word"] in ACCENTS):
            # Of stacked accents, the inner one is closer to the letter.
            accent = ACCENTS[found["accent"] or found["word"]] + accent
            is_accented = True
            continue
        if kind == "math":
            in_math = not in_math
        character = _character(kind or "", token, found, in_math=in_math)
        if accent and character:
            character = DOTLESS.get(character[0], character[0]) + accent + character[1:]
            accent = ""
        written.append(character)
    text = WHITE_SPACE.sub(" ", "".join(written)).strip()
    return unicodedata.normalize("NFC", text) if is_accented else text


def _character(kind: str, token: str, found: re.Match[str], *, in_math: bool) -> str:
    """Return the characters of a token."""
    if kind == "word":
        space = " " if in_math and token.endswith(" ") else ""
        return (" " if found["word"] in SPACES else _symbols().get(found["word"], "")) + space
    if kind == "sign":
        sign = found["sign"]
        return " " if sign in SPACE_SIGNS else "" if sign in NO_SIGNS else sign
    if kind in {"brace", "math"}:
        return ""
    if kind == "script":
        return "" if in_math else token
    if kind == "tie":
        return " "
    return DASHES.get(token) or QUOTES.get(token) or token


@cache
def _symbols() -> dict[str, str]:
    """Return the characters of commands."""
    from pylatexenc.latex2text import get_default_latex_context_db

    texts = {spec.macroname: spec.simplify_repl for spec in get_default_latex_context_db().iter_macro_specs()}
    printed = {name: text for name, text in texts.items() if isinstance(text, str) and not {*"%<"} & {*text}}
    further = FURTHER.split()
    return printed | dict(zip(further[::2], further[1::2], strict=True)) | {"today": ""}
