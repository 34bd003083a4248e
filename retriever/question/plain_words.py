"""Scholarly words for a question's everyday words: children for kids, 체중 감량 for 살빼기.

The words come from a list of this project (`plain_words.tsv`). A question's words are compared in their
written form, without a plural s. Each equivalent is searched for in both languages if the index's glossary
has a translation.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from indexer.analysis import Analyzer, Token
from indexer.glossary.terms import korean_tokens, spell
from retriever.opening.synonyms import Equivalent, Expansion
from retriever.queries.keywords import pattern_of, translations

if TYPE_CHECKING:
    from retriever.index import SearchIndex

FILE = Path(__file__).with_suffix(".tsv")
KOREAN_WORD = re.compile("[가-힣]+")
HEAD = 2  # leading characters by which the list is looked up
END = re.compile(r"s?(?![a-z0-9])", re.IGNORECASE)  # of a word in Latin letters
MOST_EQUIVALENTS = 12  # of one word, in both languages


@cache
def plain_words() -> Mapping[str, tuple[str, ...]]:
    """Return the equivalents of each everyday word."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    pairs = (line.split("\t") for line in lines if line and not line.startswith("#"))
    return {plain: tuple(others.split(", ")) for plain, others in pairs}


@cache
def _by_head() -> Mapping[str, list[str]]:
    """Return the everyday words of each beginning, the longest first."""
    words = defaultdict[str, list[str]](list)
    for plain in sorted(plain_words(), key=len, reverse=True):
        words[plain[:HEAD]].append(plain)
    return words


def plain_word_expansions(index: "SearchIndex", text: str, tokens: Sequence[Token]) -> Iterator[Expansion]:
    """Yield the equivalents of the everyday words in a text; of overlapping words, only the first counts.

    Args:
        index: whose analyzer and glossary are used.
        text: the question.
        tokens: its tokens in order of position, one for each position.
    """
    last = 0
    for start, token in enumerate(tokens):
        begin = token[2]
        if start < last:
            continue
        for plain in _by_head().get(text[begin : begin + HEAD].casefold(), ()):
            end = begin + len(plain)
            if text[begin:end].casefold() == plain and (last := _last(text, tokens, start, end)):
                source = tuple(token[0] for token in tokens[start:last])
                if found := tuple(dict.fromkeys(_searched(index, source, plain_words()[plain]))):
                    equivalents = found[:MOST_EQUIVALENTS]
                    yield Expansion(start, last, source, text[begin:end], equivalents, is_noted=False)
                break


def _last(text: str, tokens: Sequence[Token], start: int, end: int) -> int:
    """Return the number of the first token after `end`, 0 if no word ends there."""
    if text[end - 1].isascii():
        if not (ending := END.match(text, end)):
            return 0
        end = ending.end()
    last = start
    while last < len(tokens) and tokens[last][2] < end:
        if tokens[last][3] > end:
            return 0
        last += 1
    return last


def _searched(index: "SearchIndex", source: Sequence[str], others: Sequence[str]) -> Iterator[Equivalent]:
    """Yield equivalents, each with its translations, except words of the question."""
    for other in others:
        analysed = _analysed(index.analyzer, other)
        pattern = pattern_of(analysed)
        if {token for _, token in pattern} <= set(source):
            continue
        yield Equivalent(other, pattern)
        for each in translations(analysed, index.glossary, index.analyzer, lexicon=index.engine.lexicon):
            if len(each.source) == len({token for _, token in pattern}):  # of all its words
                yield Equivalent(each.others, each.pattern)


def _analysed(analyzer: Analyzer, term: str) -> list[Token]:
    """Return the tokens of an equivalent, or the whole word if the analysis reduces it to another word.

    이자율 (rate of interest) is cut to 자율 (autonomy), 비만 (obesity) to 비 (rain). A word may lose a suffix
    (저장성).
    """
    tokens = list(analyzer.analyze(term))
    if len(tokens) != 1 or not KOREAN_WORD.fullmatch(term) or spell([tokens[0][0]], term):
        return tokens
    [(stem, _, start, _)] = tokens
    if start == 0 and len(stem) > 1 and korean_tokens(term, analyzer) != (term,):
        return tokens
    return [(term, 0, 0, len(term))]
