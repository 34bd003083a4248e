"""The marks that the program sets behind a sentence, and texts in which nothing looks like them.

Citations stand in square brackets, checks are ✓ and ✗ or words in round brackets. A sentence that a paper
holds or a model wrote can have all of them in it: where a person reads it, its square brackets are round, its
check marks stars, and such words stand without brackets. JSON keeps the text as it is.
"""

import re

from base.terminal.output import visible
from generator.answers.citations import Check

# The word after a sentence; none after a supported one.
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
    """Return a text on one line, with nothing in it that could be taken for a citation or a check."""
    return SAID.sub(r"\1", visible(text.translate(UNMARKED)))


def cited(text: str, citations: str) -> str:
    """Return a quoted text, and behind it its citations in square brackets, where it has any."""
    return f"{quoted(text)} [{quoted(citations)}]" if citations else quoted(text)
