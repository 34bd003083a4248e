"""Korean words of a question: runs of Hangul, and nouns that the analysis splits or cuts.

The analysis cuts 고혈압 (hypertension) to 혈압, and 비만 (obesity) to 비. Such a noun is searched for whole
if the glossary has it. For keywords it is sufficient that the analysis finds it whole in another context:
before another particle, or after a noun.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Container, Iterator, Sequence
from operator import itemgetter

from indexer.analysis import Token
from indexer.analysis.tokens import Analyzer, TaggedToken
from indexer.glossary.terms import korean_tokens
from retriever.queries.boolean import Pattern
from retriever.queries.keywords import pattern_of

HANGUL_RUN = re.compile("[가-힣]+")
SHORTEST, LONGEST = 2, 8  # syllables
MOST_WORDS = 4  # a longer question is a sentence, in which 가면 is a verb, not a mask
QUESTION_MARKS = "?\uff1f"
NOUN, DEPENDENT_NOUN, VERBS = "NNG", "NNB", "V"  # Sejong's tags; 수 of 할 수도 is a dependent noun
PARTICLES = tuple("은는을를의에")  # at the end of a word these are rarely part of a noun
ALL_PARTICLES = (*PARTICLES, *"이가와과도로만")


def hangul_runs(text: str, tokens: Sequence[Token]) -> Iterator[tuple[tuple[int, int], list[Token]]]:
    """Yield the start and end of each run of Hangul, and its tokens.

    `tokens` are in the order of their starts.
    """
    starts = [token[2] for token in tokens]
    for run in HANGUL_RUN.finditer(text):
        begun = tokens[bisect_left(starts, run.start()) : bisect_left(starts, run.end())]
        yield run.span(), [token for token in begun if token[3] <= run.end()]


def with_whole_words(
    text: str,
    tagged: Sequence[TaggedToken],
    analyzer: Analyzer,
    glossary_words: Callable[[Sequence[str]], Container[str]],
) -> tuple[list[TaggedToken], dict[str, Pattern]]:
    """Return the tokens of a question with each such noun as one token, and the tokens it replaces.

    Passages may hold these tokens instead of the noun: the analysis reads their headings in the same way.

    Args:
        text: the question, composed (NFC).
        tagged: its tokens.
        analyzer: the analyzer of the index.
        glossary_words: selects the words that are the one Korean token of a pair in the glossary.
    """
    are_keywords = len(text.split()) <= MOST_WORDS and not any(mark in text for mark in QUESTION_MARKS)
    tags = dict(tagged)
    runs = [
        (place, [(token, tags[token]) for token in tokens])
        for place, tokens in hangul_runs(text, sorted(tags, key=itemgetter(2, 3)))
    ]
    known = glossary_words(
        [word for (start, end), inside in runs for word in _words(text, start, end, inside)]
    )

    def is_whole(word: str, inside: Sequence[TaggedToken]) -> bool:
        if word in known and (_is_noun(word, inside) or (are_keywords and not inside)):
            return True
        return are_keywords and _is_doubtful(word, inside) and korean_tokens(word, analyzer) == (word,)

    replaced: set[TaggedToken] = set()
    nouns: list[TaggedToken] = []
    parts: dict[str, Pattern] = {}
    before = -1  # the position of the last token before a run
    for (start, end), inside in runs:
        word = next((word for word in _words(text, start, end, inside) if is_whole(word, inside)), None)
        if word:
            position = inside[0][0][1] if inside else before + 1
            nouns.append(((word, position, start, start + len(word)), NOUN))
            replaced.update(inside)
            if inside:
                parts[word] = pattern_of([token for token, _ in inside])
        before = inside[-1][0][1] if inside else before
    kept = [token for token in tagged if token not in replaced]
    return sorted([*kept, *nouns], key=lambda token: token[0][1]), parts


def _words(text: str, start: int, end: int, inside: Sequence[TaggedToken]) -> Iterator[str]:
    """Yield the possible words of a run of Hangul, longest first: the run, or parts that have tokens."""
    least = max(inside[-1][0][3] if inside else end, start + SHORTEST)
    if [token[0] for token, _ in inside] != [text[start:end]]:
        yield from (text[start:stop] for stop in range(min(end, start + LONGEST), least - 1, -1))


def _is_noun(word: str, inside: Sequence[TaggedToken]) -> bool:
    """Check for a noun of several tokens, or of a different token, that does not end in a particle."""
    is_noun = bool(inside) and not inside[0][1].startswith((VERBS, DEPENDENT_NOUN))
    is_split = [token[0] for token, _ in inside] != [word]
    return is_noun and is_split and not word.endswith(ALL_PARTICLES)


def _is_doubtful(word: str, inside: Sequence[TaggedToken]) -> bool:
    """Check whether the tokens may be parts of a noun: a verb, or single syllables."""
    if not inside:
        return False
    if inside[0][1].startswith(VERBS):
        return True
    is_cut = all(end - start == 1 for (_, _, start, end), _ in inside)
    return is_cut and inside[0][1] != DEPENDENT_NOUN and not word.endswith(PARTICLES)
