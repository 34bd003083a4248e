"""The kind of answer that a question asks for, if its wording shows it: a year or date, a number."""

import re
from collections.abc import Iterable, Mapping
from typing import Literal

Kind = Literal["date", "number"]

# The first that fits: "몇 년" asks for a date, "몇" for any number.
ASKED: Mapping[Kind, re.Pattern[str]] = {
    "date": re.compile(
        r"^when\b|\b(?:what|which) (?:year|date|day|month|century)\b"
        r"|언제|몇\s*(?:년|월|세기)|년도|연도|며칠|날짜",
        re.IGNORECASE,
    ),
    "number": re.compile(
        r"\bhow (?:many|much|long|old|large|big|tall|far|fast|high|deep|wide|heavy|often|hot|cold)\b"
        r"|\bpercentage\b|몇|얼마",
        re.IGNORECASE,
    ),
}
# Tokens of these kinds in an index: years, centuries; numerals and the stems of English number words.
TOKENS: Mapping[Kind, re.Pattern[str]] = {
    "date": re.compile(r"[1-9]\d{2}|1\d{3}|20\d\d|centuri|세기"),
    "number": re.compile(
        r".*\d.*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelv|(?:thir|four|fif|six|seven"
        r"|eigh|nine)teen|twenti|thirti|forti|fifti|hundr|thousand|million|billion|dozen"
    ),
}


def asked_kind(question: str) -> Kind | None:
    """Return the kind of answer that a question asks for; None if its wording does not show it."""
    return next((kind for kind, wording in ASKED.items() if wording.search(question)), None)


def tokens_of_kind(kind: Kind, tokens: Iterable[str]) -> set[str]:
    """Return the analysed tokens that are, or are part of, an answer of the kind."""
    return {token for token in tokens if TOKENS[kind].fullmatch(token)}
