"""Headline style in words that the CSL processor leaves unchanged.

These are hyphenated words and words after a bracket. All parts of a hyphenated word are capitalised, except
articles, conjunctions and prepositions (Chicago Manual of Style). Words with a capital are unchanged.
"""

import re

HYPHENATED = re.compile(r"(?<![\w-])[a-z]+(?:-[a-z]+)+(?![\w-])")
AFTER_BRACKET = re.compile("(?<=[‘“(\\[])[a-z]")
SMALL = frozenset("a an and as at but by for in nor of on or per the to via yet".split())


def headline_parts(title: str) -> str:
    """Capitalise the parts of hyphenated words, and words after an opening bracket or quotation mark."""
    return AFTER_BRACKET.sub(lambda found: found[0].upper(), HYPHENATED.sub(_capitalised, title))


def _capitalised(found: re.Match[str]) -> str:
    first, *others = found[0].split("-")
    return "-".join([first.capitalize(), *(part if part in SMALL else part.capitalize() for part in others)])
