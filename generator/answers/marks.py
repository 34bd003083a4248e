"""Marks in the text of answers: citations and checks are added, lookalikes and Markdown are removed.

Citations are in square brackets; checks are ✓ and ✗, or words in round brackets. Text of papers and models
may contain the same signs. In text for people, square brackets become round, check marks become stars, and
check words lose their brackets. JSON keeps the text unchanged.
"""

import re

from base.terminal.output import visible
from generator.checking.check import Check

# Check words after a sentence; supported sentences have none.
CHECK_WORDS: dict[str, dict[Check, str]] = {
    "ko": {
        "unsupported": "근거 없음",
        "not checked": "확인 안 함",
        "excluded": "제외 대상",
        "quoted": "인용",
    },
    "en": {
        "unsupported": "unsupported",
        "not checked": "not checked",
        "excluded": "excluded",
        "quoted": "quoted",
    },
}
BRACKETS = {**dict.fromkeys("[［⁅〔【⟦", "("), **dict.fromkeys("]］⁆〕】⟧", ")")}
CHECKS = dict.fromkeys("√✓✔✗✘⊘☑☒✅❌❎🗸🗴🗵🗶🗹", "*")
UNMARKED = str.maketrans(BRACKETS | CHECKS)
CHECK_WORD = re.compile(
    r"(?:[(（]\s*)+(supported|{})(?:\s*[)）])+".format(
        "|".join(word for words in CHECK_WORDS.values() for word in words.values())
    ),
    re.IGNORECASE,
)
# Start of a list item; a dash before a number is a minus sign.
LIST_SIGN = r"(?:[-–](?!\s*\d)|[—*•·▪◦‣●○□■◇◆▶▷※])"
BULLET = re.compile(rf"\A(?:(?:{LIST_SIGN}|#{{1,6}})\s+)+(?=\S)")
# A pair of marks around words; asterisks in names and formulas (A*, C*-algebra, 3 * 4) do not match.
EMPHASIS = re.compile(
    r"(?<![^\s(\[\"'“‘「『])(\*{1,3}|_{2,3})(?=[^\s*_])([^*]{1,300}?)(?<=[^\s*_])\1(?![A-Za-z0-9*_])"
)


def quoted(text: str) -> str:
    """Return a text on one line without anything that looks like a citation or a check."""
    return CHECK_WORD.sub(r"\1", visible(text.translate(UNMARKED)))


def cited(text: str, citations: str) -> str:
    """Return a quoted text, followed by its citations in square brackets if any."""
    return f"{quoted(text)} [{quoted(citations)}]" if citations else quoted(text)


def without_markup(text: str) -> str:
    """Return a sentence or a title without Markdown, which models write although the prompt forbids it.

    Bullets, heading marks and emphasis are removed (SHRAG, appendix A.2); hyphens stay.
    """
    return EMPHASIS.sub(r"\2", BULLET.sub("", text))
