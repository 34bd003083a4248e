"""Removal of Markdown that a model writes although the prompt forbids it (SHRAG, appendix A.2)."""

import re

# Start of a list item; a dash before a number is a minus sign.
LIST_SIGN = r"(?:[-–](?!\s*\d)|[—*•·▪◦‣●○□■◇◆▶▷※])"
BULLET = re.compile(rf"\A(?:(?:{LIST_SIGN}|#{{1,6}})\s+)+(?=\S)")
# A pair of marks around words; asterisks in names and formulas (A*, C*-algebra, 3 * 4) do not match.
EMPHASIS = re.compile(
    r"(?<![^\s(\[\"'“‘「『])(\*{1,3}|_{2,3})(?=[^\s*_])([^*]{1,300}?)(?<=[^\s*_])\1(?![A-Za-z0-9*_])"
)


def without_markup(text: str) -> str:
    """Return a sentence or a title without bullets, heading marks and emphasis; hyphens stay."""
    return EMPHASIS.sub(r"\2", BULLET.sub("", text))
