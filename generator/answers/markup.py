"""Marks of Markdown that a model writes although the prompt forbids them (SHRAG, appendix A.2)."""

import re

# What opens an item of a list; a dash before a number is its sign.
LIST_SIGN = r"(?:[-–](?!\s*\d)|[—*•·▪◦‣●○□■◇◆▶▷※])"
BULLET = re.compile(rf"\A(?:(?:{LIST_SIGN}|#{{1,6}})\s+)+(?=\S)")
# A pair around words; an asterisk of a name or a formula (A*, C*-algebra, 3 * 4) is no such pair.
EMPHASIS = re.compile(
    r"(?<![^\s(\[\"'“‘「『])(\*{1,3}|_{2,3})(?=[^\s*_])([^*]{1,300}?)(?<=[^\s*_])\1(?![A-Za-z0-9*_])"
)


def without_markup(text: str) -> str:
    """Return a sentence or a title without bullets, heading marks and emphasis; hyphens stay."""
    return EMPHASIS.sub(r"\2", BULLET.sub("", text))
