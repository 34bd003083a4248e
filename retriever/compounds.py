"""English words in another spelling, in one word or in two: wellbeing, well-being, well being.

Only spellings of the index count: one word is in its lexicon, two words are adjacent in a passage.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from indexer.analysis import Token
from indexer.analysis.word_roles import is_common
from indexer.forward.lexicon import Lexicon
from retriever.index import SearchIndex
from retriever.queries.boolean import Pattern, Phrase
from retriever.queries.filters import Filters
from retriever.queries.keywords import pattern_of

MAX_SPLIT = 4  # unknown words of a question that are looked for in two words
SHORTEST_PARTS = {"-": 1, "\u2010": 1, "\u2013": 1, " ": 2}  # letters of each word, by the sign between them

Tokens = tuple[str, ...]


def compound_spellings(
    index: SearchIndex, text: str, tokens: Sequence[Token]
) -> dict[Tokens, tuple[Tokens, str]]:
    """Return other spellings of a question's words: of adjacent words in one, of unknown words in two.

    A spelling is the tokens, and for two words these as text.
    """
    lexicon = index.engine.lexicon
    if lexicon is None:
        return {}
    words = {token[0]: word for token in tokens if _is_latin(word := text[token[2] : token[3]])}
    unknown = [token for token, passages in lexicon.frequencies(words).items() if not passages]
    found = dict(_in_one(index, lexicon, text, tokens))
    for token in unknown[:MAX_SPLIT]:
        if two := _in_two(index, lexicon, words[token]):
            found[(token,)] = two
    return found


def _in_one(
    index: SearchIndex, lexicon: Lexicon, text: str, tokens: Sequence[Token]
) -> Iterator[tuple[Tokens, tuple[Tokens, str]]]:
    for first, second in pairwise(tokens):
        parts = text[first[2] : first[3]], text[second[2] : second[3]]
        shortest = SHORTEST_PARTS.get(text[first[3] : second[2]])
        if shortest and min(map(len, parts)) >= shortest and all(map(_is_latin, parts)):
            joined = tuple(token[0] for token in index.analyzer.analyze("".join(parts)))
            if len(joined) == 1 and lexicon.frequencies(joined)[joined[0]]:
                yield (first[0], second[0]), (joined, "")


def _in_two(index: SearchIndex, lexicon: Lexicon, word: str) -> tuple[Tokens, str] | None:
    """Return the parts of a word that are adjacent in most passages; None if no parts are."""
    patterns = dict[str, Pattern]()
    for place in range(1, len(word)):
        parts = word[:place], word[place:]
        pattern = pattern_of(index.analyzer.analyze("-".join(parts)))
        known = len(pattern) > 1 and all(lexicon.frequencies(token for _, token in pattern).values())
        # Two words of any paper, such as any and one, are adjacent by chance.
        if known and not all(map(is_common, parts, (token for _, token in pattern))):
            patterns[" ".join(parts)] = pattern
    counts = index.engine.counts([(Phrase(word, pattern), Filters()) for pattern in patterns.values()])
    passages, best = max(zip(counts, patterns, strict=True), default=(0, ""))
    return (tuple(token for _, token in patterns[best]), best) if passages else None


def _is_latin(word: str) -> bool:
    return word.isascii() and word.isalpha()
