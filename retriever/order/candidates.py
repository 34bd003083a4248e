"""Candidates with the tokens that are stored with them, and BM25 by these."""

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import Self

from indexer.packing import GAP, PassageTokens
from indexer.schema import BM25_B, StoredPassage
from retriever.engines import EngineHit
from retriever.index import SearchIndex

K1 = 0.9  # of BM25 here: a word that stands again adds less than where the engine looks for candidates (1.2)
BEFORE_OTHER_TITLE = 100  # positions between a passage and its other title, so that no window spans both


@dataclass(frozen=True)  # without slots, so that what is counted is kept
class Candidate:
    """A passage that was found and its tokens, which are counted when they are first asked for.

    The paper's title in the other language counts as standing far behind the text.
    """

    hit: EngineHit
    title: str
    lang: str
    tokens: PassageTokens

    @classmethod
    def of(cls, hit: EngineHit, passage: StoredPassage, index: SearchIndex) -> Self:
        """Take what candidates are compared by from a passage."""
        return cls(hit, passage.title, passage.lang, index.tokens_of(passage))

    @property
    def passage_id(self) -> str:
        """The unit that is indexed and judged."""
        return self.hit.passage_id

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """How often each token stands in the text and in the title in the other language."""
        return _counted(self._words + self.tokens.title2.words())

    @cached_property
    def title_counts(self) -> Mapping[str, int]:
        """How often each token stands in the title."""
        return _counted(self.tokens.title.words())

    @cached_property
    def length(self) -> int:
        """The number of tokens of the text."""
        return sum(self.counts.values())

    @cached_property
    def title_length(self) -> int:
        """The number of tokens of the title."""
        return sum(self.title_counts.values())

    @cached_property
    def _words(self) -> list[str]:
        return self.tokens.text.words()

    def occurrences(self, wanted: Container[str]) -> list[tuple[int, str]]:
        """Return (position, term) of the wanted tokens in order."""
        text, title2 = self.tokens.text, self.tokens.title2
        if not (text.positions or title2.terms):
            words = self._words
            return list(compress(enumerate(words), map(wanted.__contains__, words)))
        tokens = [(position, term) for term, position in text.unpack()]
        behind = (tokens[-1][0] if tokens else 0) + BEFORE_OTHER_TITLE
        tokens += [(behind + position, term) for term, position in title2.unpack()]
        return [token for token in tokens if token[1] in wanted]

    def places(self, wanted: Container[str]) -> dict[str, list[int]]:
        """Return the positions of the wanted tokens."""
        places: dict[str, list[int]] = {}
        for position, term in self.occurrences(wanted):
            places.setdefault(term, []).append(position)
        return places


def _counted(words: Sequence[str]) -> Mapping[str, int]:
    counts = Counter(words)
    del counts[GAP]
    return counts


@dataclass(frozen=True, slots=True)
class Scale:
    """BM25 of candidates by tokens whose idf is known, with the average lengths of the first candidates.

    A token of the title counts once more, times `title_weight`.
    """

    length: float
    title_length: float
    title_weight: float

    @classmethod
    def of(cls, candidates: Sequence[Candidate], title_weight: float) -> Self:
        """Measure the candidates."""
        lengths = [candidate.length for candidate in candidates]
        titles = [candidate.title_length for candidate in candidates]
        return cls(_mean(lengths), _mean(titles), title_weight)

    def score_of(self, candidate: Candidate, rarity: Mapping[str, float]) -> dict[str, float]:
        """Return the scores of one candidate by the tokens that it holds."""
        counts, titles = candidate.counts, candidate.title_counts
        norm = _norm(candidate.length, self.length)
        title_norm = _norm(candidate.title_length, self.title_length)
        found = {}
        for token, idf in rarity.items():
            if token in counts:
                saturated = counts[token] / (counts[token] + norm)
                if token in titles:
                    saturated += self.title_weight * titles[token] / (titles[token] + title_norm)
                found[token] = idf * (K1 + 1) * saturated
        return found

    def scores(
        self, candidates: Sequence[Candidate], rarity: Mapping[str, float], *, titles: bool = True
    ) -> dict[str, list[float]]:
        """Return for each token of `rarity`, which holds their idf, the score of each candidate."""
        texts = [candidate.counts for candidate in candidates]
        norms = [_norm(candidate.length, self.length) for candidate in candidates]
        scores = {token: _bm25(idf, token, texts, norms) for token, idf in rarity.items()}
        if titles and self.title_weight:
            headed = [candidate.title_counts for candidate in candidates]
            norms = [_norm(candidate.title_length, self.title_length) for candidate in candidates]
            in_titles = {token for counts in headed for token in counts}
            for token, idf in rarity.items():
                if token not in in_titles:
                    continue
                more = _bm25(idf * self.title_weight, token, headed, norms)
                scores[token] = [own + titled for own, titled in zip(scores[token], more, strict=True)]
        return scores


def _bm25(idf: float, token: str, texts: Sequence[Mapping[str, int]], norms: Sequence[float]) -> list[float]:
    most = idf * (K1 + 1)
    return [
        most * counts[token] / (counts[token] + norm) if token in counts else 0.0
        for counts, norm in zip(texts, norms, strict=True)
    ]


def _norm(length: int, average: float) -> float:
    return K1 * (1 - BM25_B + BM25_B * length / average)


def _mean(lengths: Sequence[int]) -> float:
    return sum(lengths) / len(lengths) if any(lengths) else 1.0
