"""Scholarly words for a question's everyday words: children for kids, 체중 감량 for 살빼기.

The words come from a list of this project (`plain_words.tsv`). A question's word is looked up as it is
written, without a plural s, and without spaces. Each of its equivalents is searched for in both languages, as
far as the index's glossary knows it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from indexer.analysis import Token
from retriever.keywords import pattern_of, translations
from retriever.synonyms import Equivalent, Expansion

if TYPE_CHECKING:
    from retriever.index import SearchIndex

FILE = Path(__file__).with_suffix(".tsv")
LONGEST = 4  # tokens of an everyday word
ENDING = re.compile("[가-힣]{0,2}")  # no token: 기 of 살빼기
MOST_EQUIVALENTS = 12  # of one word, in both languages


@cache
def plain_words() -> Mapping[str, tuple[str, ...]]:
    """Return the equivalents of each everyday word."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    pairs = (line.split("\t") for line in lines if line and not line.startswith("#"))
    return {plain: tuple(others.split(", ")) for plain, others in pairs}


def plain_word_expansions(index: "SearchIndex", text: str, tokens: Sequence[Token]) -> Iterator[Expansion]:
    """Yield the equivalents of the everyday words in a text; of words that overlap, those of the longer.

    Args:
        index: whose analyzer and glossary are used.
        text: the question.
        tokens: its tokens in order of position, one for each position.
    """
    covered: set[int] = set()
    for length in range(min(LONGEST, len(tokens)), 0, -1):
        for start in range(len(tokens) - length + 1):
            span = range(start, start + length)
            if covered.isdisjoint(span) and (plain := _plain_word(text, tokens[start], tokens[span[-1]])):
                covered.update(span)
                source = tuple(tokens[place][0] for place in span)
                if found := tuple(dict.fromkeys(_searched(index, source, plain_words()[plain]))):
                    yield Expansion(start, start + length, source, plain, found[:MOST_EQUIVALENTS])


def _plain_word(text: str, first: Token, last: Token) -> str:
    """Return the everyday word from one token to another, "" for other words."""
    ending = ENDING.match(text, last[3])
    for end in range(ending.end() if ending else last[3], last[3] - 1, -1):
        written = " ".join(text[first[2] : end].casefold().split())
        for form in (written, written.removesuffix("s"), written.replace(" ", "")):
            if form in plain_words():
                return form
    return ""


def _searched(index: "SearchIndex", source: Sequence[str], others: Sequence[str]) -> Iterator[Equivalent]:
    """Yield equivalents, each with its translations; not the words of the question themselves."""
    for other in others:
        analysed = index.analyzer.analyze(other)
        pattern = pattern_of(analysed)
        if {token for _, token in pattern} <= set(source):
            continue
        yield Equivalent(other, pattern)
        for each in translations(analysed, index.glossary, index.analyzer, lexicon=index.engine.lexicon):
            if len(each.source) == len({token for _, token in pattern}):  # of all its words
                yield Equivalent(each.others, each.pattern)
