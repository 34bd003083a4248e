"""Lucene's English chain: normal form → standard tokenizer → possessive → lowercase → stop → Porter stem."""

from collections.abc import Iterator
from itertools import pairwise

import regex

from indexer.analysis.normal_form import normal_form
from indexer.analysis.porter import porter_stem
from indexer.analysis.tokens import TaggedToken, Token, lowercase

# org.apache.lucene.analysis.en.EnglishAnalyzer.ENGLISH_STOP_WORDS_SET
STOP_WORDS = frozenset(
    "a an and are as at be but by for if in into is it no not of on or such that the their then there "
    "these they this to was will with".split()
)
# Unicode word boundaries (UAX #29); a segment without a letter, digit, pictograph or flag is not a word.
# Lucene uses Unicode 12, which has more pictographs (♭, ★), and starts a word after an opening apostrophe.
BOUNDARY = regex.compile(r"\b", flags=regex.WORD | regex.V1)
# Within a run of flags each boundary depends on the start of the run, so long runs are split between flags.
FLAGS = regex.compile(r"\p{Regional_Indicator}{64}(?=\p{Regional_Indicator})")
PICTOGRAPHS = r"\p{Extended_Pictographic}\u2600-\u2605\u2607-\u2612\u2614-\u2685\u2690-\u2705\u2708-\u2712"
WORD = regex.compile(
    rf"['\u2019]*((?:[\p{{L}}\p{{Nd}}{PICTOGRAPHS}]|\p{{Regional_Indicator}}{{2}}).*)", flags=regex.DOTALL
)
LONGEST_TOKEN = 255
APOSTROPHES = frozenset("'\u2019\uff07")


def english_term(term: str) -> str | None:
    """Lowercase and stem `term`; None for a stop word."""
    term = lowercase(term)
    return None if term in STOP_WORDS else porter_stem(term)


class EnglishAnalyzer:
    """Lucene's English chain on Unicode word boundaries."""

    name = "english"
    decompound = "none"

    def analyze(self, text: str) -> list[Token]:
        """Return the tokens of `text` in order of position."""
        normal = normal_form(text, hanja=False)
        text, tokens = normal.text, list[Token]()
        position = 0
        start = 0
        for end in _boundaries(text):
            word = WORD.match(text, start, end)
            if word:
                for first in range(word.start(1), end, LONGEST_TOKEN):
                    last = min(end, first + LONGEST_TOKEN)
                    term = english_term(_without_possessive(text[first:last]))
                    if term is not None:
                        tokens.append((term, position, first, last))
                    position += 1
            start = end
        return normal.given_spans(tokens)

    def tagged_tokens(self, text: str) -> list[TaggedToken]:
        """Return the tokens of `text` without parts of speech."""
        return [(token, "") for token in self.analyze(text)]


def _boundaries(text: str) -> Iterator[int]:
    """Yield the word boundaries in order."""
    cuts = [found.end() for found in FLAGS.finditer(text)]
    for start, end in pairwise([0, *cuts, len(text)]):
        piece = text[start:end] if cuts else text
        yield from (start + boundary.start() for boundary in BOUNDARY.finditer(piece))


def _without_possessive(word: str) -> str:
    if len(word) > 1 and word[-1] in "sS" and word[-2] in APOSTROPHES:
        return word[:-2]
    return word
