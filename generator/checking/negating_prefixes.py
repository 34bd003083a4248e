"""Words with and without a prefix that turns them round: "supervised tagger" for "unsupervised tagger"."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from generator.checking.clauses import Text
from indexer.analysis.english import english_term

PREFIXES = ("un", "under", "non")
SHORTEST_REST = 4  # letters: "its" is no word of "units"


def turned_prefixes(own: Text, sources: Sequence[Text]) -> Iterator[tuple[str, str]]:
    """Yield words before a word of the sources that has them there with a prefix, or without theirs.

    A word that the sources have too may be meant.
    """
    held = {token[0] for source in sources for token in source.tokens}
    with_prefix: dict[tuple[str, str], str] = {}  # by the word without it, and the one behind
    pairs: set[tuple[str, str]] = set()
    for source in sources:
        for token, following in pairwise(source.tokens):
            pairs.add((token[0], following[0]))
            for rest in _without_prefix(source.text[token[2] : token[3]]):
                with_prefix[rest, following[0]] = token[0]
    for token, following in pairwise(own.tokens):
        if token[0] in held:
            continue
        written = own.text[token[2] : token[3]]
        if other := with_prefix.get((token[0], following[0])):
            yield written, other
        for rest in _without_prefix(written):
            if (rest, following[0]) in pairs:
                yield written, rest


def _without_prefix(written: str) -> Iterator[str]:
    """Yield the term of a word without its prefix."""
    for prefix in PREFIXES:
        rest = written.lower().removeprefix(prefix).lstrip("-")
        if len(rest) >= SHORTEST_REST and len(rest) < len(written) and rest.isascii():
            yield english_term(rest) or rest
