"""Accepted strings: short texts by topic, one of which a correct answer contains.

The files have JSON lines {"query_id": "Q1", "answers": ["37%", "37 %"]}; other keys are ignored.

Answers and strings are compared by their numbers, words and percent signs, in NFKC and lowercase and without
thousands separators: `8.5` is not in 18.5 or 8.57. Korean words take particles and are spaced in several
ways, so each syllable counts as a word.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import Annotated

from pydantic import Field

from eval.collection import QueryLine, Text, read_query_lines
from eval.files import Source

THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
TOKEN = re.compile(r"\d+(?:\.\d+)*|%|[가-힣]|[^\W\d_가-힣]+")


class _Line(QueryLine):
    answers: Annotated[list[Text], Field(min_length=1)]


def read_accepted(source: Source) -> dict[str, list[str]]:
    """Read accepted strings by query_id; raises as `read_query_lines`."""
    lines = read_query_lines(source, _Line, "accepted strings")
    return {query_id: line.answers for query_id, line in lines.items()}


def contains_accepted(answer: str, accepted: Iterable[str]) -> bool:
    """Check whether an answer contains one of the accepted strings."""
    text = compared_form(answer)
    return any(form in text for form in map(compared_form, accepted) if form.strip())


def compared_form(text: str) -> str:
    """Return the form in which answers and accepted strings are compared, with a space at both ends."""
    text = THOUSANDS.sub("", unicodedata.normalize("NFKC", text).casefold())
    return f" {' '.join(TOKEN.findall(text))} "
