"""Marks of citations and checks after a sentence, and removal of lookalikes from quoted text.

Citations are in square brackets; checks are ✓ and ✗, or words in round brackets. Text of papers and models
may contain the same signs. In text for people, square brackets become round, check marks become stars, and
check words lose their brackets. JSON keeps the text unchanged.
"""

import re

from base.terminal.output import visible
from generator.answers.citations import Check

# Check words after a sentence; supported sentences have none.
CHECK_WORDS: dict[str, dict[Check, str]] = {
    "ko": {
        "unsupported": "근거 없음",
        "not checkable": "확인 불가",
        "excluded": "제외 대상",
        "quoted": "인용",
    },
    "en": {
        "unsupported": "unsupported",
        "not checkable": "not checkable",
        "excluded": "excluded",
        "quoted": "quoted",
    },
}
BRACKETS = {**dict.fromkeys("[［⁅〔【⟦", "("), **dict.fromkeys("]］⁆〕】⟧", ")")}
CHECKS = dict.fromkeys("√✓✔✗✘⊘☑☒✅❌❎🗸🗴🗵🗶🗹", "*")
UNMARKED = str.maketrans(BRACKETS | CHECKS)
SAID = re.compile(
    r"(?:[(（]\s*)+(supported|{})(?:\s*[)）])+".format(
        "|".join(word for words in CHECK_WORDS.values() for word in words.values())
    ),
    re.IGNORECASE,
)


def quoted(text: str) -> str:
    """Return a text on one line without anything that looks like a citation or a check."""
    return SAID.sub(r"\1", visible(text.translate(UNMARKED)))


def cited(text: str, citations: str) -> str:
    """Return a quoted text, followed by its citations in square brackets if any."""
    return f"{quoted(text)} [{quoted(citations)}]" if citations else quoted(text)
