"""Accepted strings: short texts by topic, one of which a correct answer contains.

The files have JSON lines {"query_id": "Q1", "answers": ["37%", "37 %"]}; other keys are ignored.

Answers and strings are compared in one form: NFKC, lowercase, numbers without thousands separators, and no
punctuation except the decimal point and the percent sign of a number. A string that starts or ends with a
digit or a letter other than Hangul matches only where the number or word does: `8.5` is not in 18.5 or 8.57.
Korean words take particles and are spaced in several ways, so a word in Hangul may continue, and spaces
between its syllables do not count.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Annotated

from pydantic import Field

from eval.collection import QueryLine, Text, read_query_lines
from eval.files import Source

THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
BEFORE_PERCENT = re.compile(r"(?<=\d)\s+(?=%)")
PUNCTUATION = re.compile(r"(?<!\d)[.%]|\.(?!\d)|[^\w\s.%]|_")
BETWEEN_SYLLABLES = re.compile("(?<=[가-힣]) ?(?=[가-힣])")
LETTER = "[^\\W\\d_가-힣]"


class _Line(QueryLine):
    answers: Annotated[list[Text], Field(min_length=1)]


def read_accepted(source: Source) -> dict[str, list[str]]:
    """Read accepted strings by query_id; raises as `read_query_lines`."""
    lines = read_query_lines(source, _Line, "accepted strings")
    return {query_id: line.answers for query_id, line in lines.items()}


def contains_accepted(answer: str, accepted: Iterable[str]) -> bool:
    """Check whether an answer contains one of the accepted strings."""
    text = compared_form(answer)
    return any(_pattern(string).search(text) is not None for string in accepted)


def compared_form(text: str) -> str:
    """Return the form in which answers and accepted strings are compared."""
    text = unicodedata.normalize("NFKC", text).casefold()
    text = BEFORE_PERCENT.sub("", THOUSANDS.sub("", text))
    return " ".join(PUNCTUATION.sub(" ", text).split())


@lru_cache(maxsize=4096)
def _pattern(string: str) -> re.Pattern[str]:
    form = compared_form(string)
    if not form:
        return re.compile(r"(?!)")  # matches nothing
    written = r"\s?".join(re.escape(part) for part in BETWEEN_SYLLABLES.split(form))
    before = r"(?<!\d)(?<!\d\.)" if form[0].isdecimal() else _unless_letter("(?<!", form[0])
    behind = r"(?!\.?\d)" if form[-1].isdecimal() else _unless_letter("(?!", form[-1])
    return re.compile(f"{before}{written}{behind}")


def _unless_letter(assertion: str, end: str) -> str:
    return f"{assertion}{LETTER})" if re.fullmatch(LETTER, end) else ""
