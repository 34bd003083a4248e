"""Names of common parts of papers, in both languages."""

import re

KEYWORD_HEADINGS = r"key\s?words?(?: and phrases)?|index terms|주제어|핵심어|중심어|키워드|색인어|주요어"
KEYWORDS = re.compile(KEYWORD_HEADINGS, re.IGNORECASE)
# Without white space and brackets.
ABSTRACT = re.compile(
    r"(?:abstract|summary|(?:국문|영문|한글|영어|논문)?(?:초록|요약|요지|개요)|추상적인)(?:\(?abstract\)?)?",
    re.IGNORECASE,
)
# Headings of abstracts, but also of final parts.
SUMMARY = re.compile(r"summary|(?:논문)?(?:요약|요지|개요)", re.IGNORECASE)
OPENING = re.compile(
    r"introduction|background|motivation|overview|서론|머리말|들어가(?:며|는말)|(?:연구의?)?배경|이론적배경",
    re.IGNORECASE,
)
BRACKETS = re.compile(r"[\s‹›<>〈〉《》\[\]【】〔〕:.·|-]+")


def is_abstract_heading(text: str) -> bool:
    """Check whether a heading introduces an abstract: 요 약, 국문초록, ‹국문초록 ›."""
    return ABSTRACT.fullmatch(BRACKETS.sub("", text)) is not None


def is_summary_heading(text: str) -> bool:
    """Check whether the heading of an abstract may also be that of a final part: Summary, 요 약."""
    return SUMMARY.fullmatch(BRACKETS.sub("", text)) is not None


def is_opening_heading(text: str) -> bool:
    """Check whether a heading without its number introduces the first part of a paper."""
    return OPENING.fullmatch(BRACKETS.sub("", text)) is not None


CONTENTS = re.compile(
    r"(?:table\s*of\s*)?contents|list\s*of\s*(?:tables|figures)|(?:표|그림)?\s*목\s*차", re.IGNORECASE
)


def is_front_heading(text: str) -> bool:
    """Check whether a heading introduces an abstract, keywords, or a table of contents."""
    words = BRACKETS.sub("", text)
    return (
        is_abstract_heading(text)
        or KEYWORDS.fullmatch(text.strip(" :")) is not None
        or CONTENTS.fullmatch(words) is not None
    )
