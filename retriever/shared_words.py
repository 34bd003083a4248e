"""What papers share with a question by its words alone, and how relevant that makes them.

The likelihood is a logistic regression, fitted on training questions
(`python -m eval.experiments.paper_relevance --fit`).
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from indexer.analysis import Analyzer
from indexer.papers import Language, Paper
from retriever.asked_words import AskedWord
from retriever.logistic import likelihood

READ_CHARACTERS = 4_000  # of a title, and of an abstract
TITLE_COUNTS = 2  # times that a word of a title counts
UNTRANSLATED = 0.3  # of the weight of a word that the paper's language has no counterpart of
MISSED = 0.6  # of a word's weight, for each time less: it counts 1 - .6 ** n where it stands n times
# Of the papers that the question itself finds those behind the first tell what papers hold of it anyway. The
# nearer their coverage comes to SUBJECT, the more they share the question's subject, and the less it counts.
COMPARED, LEADING, SUBJECT = 20, 3, 0.5
LEAST_LEAD = 0.02  # added before its logarithm is taken
WEIGHTS: Mapping[str, float] = {"bias": 2.814, "lead": 2.851, "first": 1.994}


@dataclass(frozen=True, slots=True)
class PaperWords:
    """The tokens of a paper's titles, and of its abstracts, with how often each stands there."""

    lang: Language
    titles: Mapping[str, int]
    texts: Mapping[str, int]

    @classmethod
    def of(cls, paper: Paper, analyzer: Analyzer) -> "PaperWords":
        """Analyse a paper."""
        titles, texts = (Counter(token[0] for token in analyzer.analyze(text)) for text in texts_of(paper))
        return cls(paper.lang, titles, texts)

    def times(self, word: AskedWord) -> int:
        """Return how often all tokens of a word, or of one counterpart, stand there."""
        forms = (min(map(self._times, form)) for form in word.forms if form)
        return max(forms, default=0)

    def _times(self, token: str) -> int:
        return self.texts.get(token, 0) + TITLE_COUNTS * self.titles.get(token, 0)


@dataclass(frozen=True, slots=True)
class AskedSubject:
    """What a question asks about, and what the papers that it finds itself hold of that anyway."""

    words: tuple[AskedWord, ...]
    rarity: Mapping[str, float]  # idf of the words as written
    anyway: float = 0.0
    ranks: Mapping[float, int] = field(default_factory=dict)  # of these papers by coverage: equals share one

    @classmethod
    def compared(
        cls, words: tuple[AskedWord, ...], rarity: Mapping[str, float], found: Sequence[PaperWords]
    ) -> "AskedSubject":
        """Compare with what the question found, best first."""
        covered = list(map(cls(words, rarity).coverage, found[:COMPARED]))
        mean = fmean(sorted(covered, reverse=True)[LEADING:] or [0.0])
        ranks = {coverage: rank for rank, coverage in reversed([*enumerate(covered, 1)])}
        return cls(words, rarity, max(0.0, min(mean, SUBJECT - mean)), ranks)

    def coverage(self, paper: PaperWords) -> float:
        """Return the share of the words, by weight and rarity, that a paper holds, 0 to 1.

        One that has no counterpart in the paper's language says less where it is missing.
        """
        held = whole = 0.0
        for word in self.words:
            weight, times = word.weight * self.rarity.get(word.keyword.text, 1.0), paper.times(word)
            if not times and paper.lang not in {"other", *word.languages}:
                weight *= UNTRANSLATED
            held, whole = held + weight * (1 - MISSED**times), whole + weight
        return round(held / whole, 6) if whole > 0 else 0.0

    def features(self, paper: PaperWords) -> dict[str, float]:
        """Return what the relevance is computed from; nothing of a paper that shares no word."""
        covered = self.coverage(paper)
        if not covered:
            return {}
        lead = math.log(max(0.0, covered - self.anyway) + LEAST_LEAD)
        rank = self.ranks.get(covered)
        return {"lead": lead, "first": 1 / rank if rank else 0.0}

    def relevance(self, paper: PaperWords) -> float:
        """Return how likely a paper is to be relevant, 0 to 1."""
        features = self.features(paper)
        return likelihood(WEIGHTS, features) if features else 0.0


def texts_of(paper: Paper) -> tuple[str, str]:
    """Return a paper's titles, and its abstracts."""
    title = f"{paper.title}\n{paper.title2}".strip()
    return title[:READ_CHARACTERS], f"{paper.abstract}\n{paper.abstract2}".strip()[:READ_CHARACTERS]
