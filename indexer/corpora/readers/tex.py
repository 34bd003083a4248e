r"""Text of TeX as it occurs in BibTeX: accents, special letters, symbols, mathematics.

Commands without a counterpart in Unicode are dropped, and their arguments are kept. The commands come from
LaTeX2e (`encguide`, "LaTeX font encodings"), and from mathematics in titles and abstracts.
"""

import re
import unicodedata

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
# Combining characters of accents.
ACCENTS = dict(zip("\"'`^~=.", "\u0308\u0301\u0300\u0302\u0303\u0304\u0307", strict=True)) | dict(
    zip("HcdbkruvG", "\u030b\u0327\u0323\u0331\u0328\u030a\u0306\u030c\u030f", strict=True)
)
DOTLESS = {"ı": "i", "ȷ": "j"}
# Commands and their characters, in pairs.
TABLE = r"""
o ø O Ø l ł L Ł i ı j ȷ ae æ AE Æ oe œ OE Œ aa å AA Å ss ß SS ẞ dh ð DH Ð th þ TH Þ dj đ DJ Đ ng ŋ NG Ŋ
S § P ¶ copyright © pounds £ euro € dag † ddag ‡ ldots … dots … cdots ⋯ slash / backslash \ lbrace { rbrace }
textbackslash \ textbraceleft { textbraceright } textasciitilde ~ textasciicircum ^ textunderscore _
textdollar $ textbar | textless < textgreater > textquotesingle ' textquoteleft ‘ textquoteright ’
textquotedblleft “ textquotedblright ” textendash – textemdash — textregistered ® texttrademark ™
textdegree ° textmu μ textellipsis …
alpha α beta β gamma γ delta δ epsilon ε varepsilon ε zeta ζ eta η theta θ iota ι kappa κ lambda λ mu μ nu ν
xi ξ pi π rho ρ sigma σ tau τ upsilon υ phi φ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ
Xi Ξ Pi Π Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω
times × cdot · pm ± mp ∓ div ÷ le ≤ leq ≤ ge ≥ geq ≥ ne ≠ neq ≠ approx ≈ sim ∼ simeq ≃ equiv ≡ propto ∝
infty ∞ partial ∂ nabla ∇ degree ° circ ∘ prime ′ in ∈ cup ∪ cap ∩ subset ⊂ forall ∀ exists ∃ to →
rightarrow → leftarrow ← leftrightarrow ↔ ll ≪ gg ≫ ell ℓ hbar ℏ sum ∑ prod ∏ int ∫ sqrt √
"""
WORDS = dict(zip(TABLE.split()[::2], TABLE.split()[1::2], strict=True))
SPACES = frozenset({"quad", "qquad", "space", "newline", "par", "linebreak"})
SPACE_SIGNS = frozenset(" ,;:\\\n\t")
NO_SIGNS = frozenset("-/!@()[]")  # hyphenation, corrections, delimiters of mathematics
DASHES = {"--": "–", "---": "—"}
QUOTES = {"``": "“", "''": "”"}
WHITE_SPACE = re.compile(r"\s+")


def text_of(tex: str, *, ligatures: bool = True) -> str:
    """Return the text on one line; `ligatures` replaces -- and `` by the characters that TeX prints."""
    if not any(sign in tex for sign in "\\{}$~_^-`'"):
        return WHITE_SPACE.sub(" ", tex).strip()
    written: list[str] = []
    accent = ""
    in_math = is_accented = False
    for found in TOKEN.finditer(tex):
        kind, token = found.lastgroup, found[0]
        if kind == "accent" or (kind == "word" and found["word"] in ACCENTS):
            accent = ACCENTS[found["accent"] or found["word"]]
            is_accented = True
            continue
        if kind == "math":
            in_math = not in_math
        character = _character(kind or "", token, found, in_math=in_math, ligatures=ligatures)
        if accent and character:
            character = DOTLESS.get(character[0], character[0]) + accent + character[1:]
            accent = ""
        written.append(character)
    text = WHITE_SPACE.sub(" ", "".join(written)).strip()
    return unicodedata.normalize("NFC", text) if is_accented else text


def _character(kind: str, token: str, found: re.Match[str], *, in_math: bool, ligatures: bool) -> str:
    """Return the characters of a token."""
    if kind == "word":
        space = " " if in_math and token.endswith(" ") else ""
        return WORDS.get(found["word"], " " if found["word"] in SPACES else "") + space
    if kind == "sign":
        sign = found["sign"]
        return " " if sign in SPACE_SIGNS else "" if sign in NO_SIGNS else sign
    if kind in {"brace", "math"}:
        return ""
    if kind == "script":
        return "" if in_math else token
    if kind == "tie":
        return " "
    if ligatures:
        return DASHES.get(token) or QUOTES.get(token) or token
    return token
