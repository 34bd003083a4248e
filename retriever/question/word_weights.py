"""Weights of a question's words, by their roles and counts."""

from collections import Counter
from collections.abc import Iterable, Mapping

from indexer.analysis.tokens import TaggedToken
from indexer.analysis.word_roles import Role, is_common, roles_of

ROLE_WEIGHTS: Mapping[Role, float] = {"noun": 1.0, "other": 1.0, "request": 0.5, "asking": 0.5}
SATURATION = 8  # of a repeated word, as k3 of BM25: it weighs at most nine times as much


def question_weights(tagged: Iterable[TaggedToken]) -> dict[str, float]:
    """Weigh each token by its role and its count n in the question: role · 9n / (8 + n)."""
    tagged = list(tagged)
    counts = Counter(token for (token, *_), _ in tagged)
    return {
        token: ROLE_WEIGHTS[role] * (SATURATION + 1) * counts[token] / (SATURATION + counts[token])
        for token, role in roles_of(tagged).items()
    }


def common_tokens(text: str, tagged: Iterable[TaggedToken]) -> frozenset[str]:
    """Return the tokens of a text that say little about its subject: since, 이후, effect."""
    return frozenset(token for (token, _, start, end), _ in tagged if is_common(text[start:end], token))
