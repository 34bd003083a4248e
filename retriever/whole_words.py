"""Korean nouns that the analysis takes apart: 비만 (obesity) as 비 (rain) and a particle.

The same noun is found whole before another particle or behind a noun, so a doubtful word is analysed there.
"""

from collections.abc import Callable, Sequence
from operator import itemgetter

from indexer.analysis.tokens import Analyzer, TaggedToken
from indexer.glossary.terms import korean_tokens
from retriever.hangul_runs import hangul_runs
from retriever.keywords import pattern_of
from retriever.queries import Pattern

SHORTEST, LONGEST = 2, 4  # syllables
MOST_WORDS = 4  # a longer question is a sentence, in which 가면 is a verb, not a mask
QUESTION_MARKS = "?\uff1f"
NOUN, DEPENDENT_NOUN = "NNG", "NNB"  # Sejong's tags; 수 of 할 수도 is a dependent noun
PARTICLES = tuple("은는을를의에")  # at the end of a word these are rarely part of a noun


def with_whole_words(
    text: str, tagged: Sequence[TaggedToken], analyzer: Analyzer, is_term: Callable[[str], bool]
) -> tuple[list[TaggedToken], dict[str, Pattern]]:
    """Return the tokens of a question with each noun that was taken apart as one token, and its parts.

    Only keywords and headings change (비만 예방), not sentences. Passages may hold the parts: the analysis
    takes the noun apart in their headings too.

    Args:
        text: the question, composed (NFC).
        tagged: its tokens.
        analyzer: the analyzer of the index.
        is_term: whether the index or its glossary holds a token.
    """
    if len(text.split()) > MOST_WORDS or any(mark in text for mark in QUESTION_MARKS):
        return list(tagged), {}
    tags = dict(tagged)
    replaced: set[TaggedToken] = set()
    nouns: list[TaggedToken] = []
    parts: dict[str, Pattern] = {}
    before = -1  # the position of the last token before a run
    for (start, end), inside in hangul_runs(text, sorted(tags, key=itemgetter(2, 3))):
        word = text[start:end]
        if (
            SHORTEST <= len(word) <= LONGEST
            and _is_doubtful(word, [(token, tags[token]) for token in inside])
            and korean_tokens(word, analyzer) == (word,)
            and is_term(word)
        ):
            nouns.append(((word, inside[0][1] if inside else before + 1, start, end), NOUN))
            replaced.update((token, tags[token]) for token in inside)
            if inside:
                parts[word] = pattern_of(inside)
        before = inside[-1][1] if inside else before
    kept = [token for token in tagged if token not in replaced]
    return sorted([*kept, *nouns], key=lambda token: token[0][1]), parts


def _is_doubtful(word: str, inside: Sequence[TaggedToken]) -> bool:
    """Return whether a noun may have been taken apart: into a verb, or into syllables and a particle."""
    if not inside or inside[0][1].startswith("V"):
        return True
    is_cut = all(end - start == 1 for (_, _, start, end), _ in inside)
    return is_cut and inside[0][1] != DEPENDENT_NOUN and not word.endswith(PARTICLES)
