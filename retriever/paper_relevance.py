"""How relevant papers are to a question, between 0 and 1, from their titles and abstracts alone.

By the cross-encoder, if one is configured; else by the cosine of the vectors, if an encoder is; else by the
words that question and paper share. Nothing of it needs an index that holds the papers.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from indexer.analysis import make_analyzer
from indexer.errors import IndexerError
from indexer.glossary.storage import Glossary
from indexer.papers import Language, Paper
from indexer.schema import StoredPassage
from indexer.settings import IndexerSettings
from indexer.untrusted import one_line
from retriever.asked_words import AskedWord, asked_words
from retriever.logistic import likelihood, sigmoid
from retriever.sources import ANALYZER, DECOMPOUND
from retriever.sources.cache import general_glossary
from retriever.sources.gathered import SharedModels
from retriever.worker_threads import WorkerThreads

if TYPE_CHECKING:  # only cosines need it
    import numpy as np
    from numpy.typing import NDArray

READ_CHARACTERS = 4_000  # of a title and abstract
TITLE_COUNTS = 2  # times that a word of a title counts
UNTRANSLATED = 0.5  # of the weight of a word that the paper's language has no counterpart of
MISSED = 0.4  # of a word's weight, for each time less: it counts 1 - .4 ** n where it stands n times
# Logistic regressions of relevance on what is measured, see docs/finding-papers.md.
WORD_WEIGHTS: Mapping[str, float] = {"bias": -6.19, "coverage": 15.2}
COSINE_WEIGHTS: Mapping[str, float] = {"bias": -4.0, "lead": 12.0}
# What the cosine of unrelated texts is, which differs between encoders, is measured on these.
UNRELATED = (
    "A survey of migratory birds in coastal wetlands during the spring.",
    "The price of copper and the wages of miners in the nineteenth century.",
    "전통 목조 건축의 지붕 곡선에 대한 고찰",
    "초등학교 급식의 나트륨 함량과 학생의 선호",
    "Convergence of a finite volume scheme for shallow water equations.",
)


@dataclass(frozen=True, slots=True)
class PaperScores:
    """The relevance of papers in the order given, by what it was measured, and what failed."""

    scores: tuple[float, ...]
    by: str  # the cross-encoder's name, "cosine" or "words"
    shared: tuple[tuple[str, ...], ...] = ()  # words of the question that each paper holds
    failures: tuple[str, ...] = ()


class PaperRelevance:
    """Analyzer, general glossary and models that papers are read with; opened and closed by `with`."""

    def __init__(
        self, settings: IndexerSettings, glossary: Glossary | None = None, models: SharedModels | None = None
    ) -> None:
        """Name the models, which are opened when they are needed; those given, and a glossary, stay open."""
        self._settings = settings
        self._opened = ExitStack()
        self._models = models or self._opened.enter_context(closing(SharedModels(settings)))
        self.analyzer = make_analyzer(ANALYZER, DECOMPOUND)
        self.glossary = glossary
        self.threads = WorkerThreads("finding")
        self._tokens: dict[str, Counter[str]] = {}

    def __enter__(self) -> "PaperRelevance":
        """Open the general glossary, where none is given."""
        if self.glossary is None:
            folder = Path(self._opened.enter_context(TemporaryDirectory(prefix="shrag-finding-")))
            self.glossary = Glossary.open(general_glossary(ANALYZER, DECOMPOUND, folder))
            self._opened.callback(self.glossary.close)
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of threads, glossary and models."""
        self.threads.close()
        self._opened.close()

    async def words(self, text: str) -> tuple[AskedWord, ...]:
        """Return the words that a text asks about."""
        return await self.threads.run(asked_words, text, self.analyzer, self.glossary)

    async def scores(
        self, question: str, papers: Sequence[Paper], rarity: Mapping[str, float]
    ) -> PaperScores:
        """Measure how relevant papers are; `rarity` is the idf of the question's words as written."""
        words = await self.words(question)
        shared = await self.threads.run(self._shared, words, papers)
        failures: list[str] = []
        for measure in (self._by_cross_encoder, self._by_cosine):
            try:
                found = await measure(question, papers)
            except IndexerError as error:
                failures.append(one_line(str(error)))
                continue
            if found:
                return PaperScores(found[1], found[0], shared, tuple(failures))
        scores = await self.threads.run(self._by_words, words, papers, rarity)
        return PaperScores(scores, "words", shared, tuple(failures))

    def counts(self, paper: Paper) -> Counter[str]:
        """Count a paper's tokens, those of its titles twice; in a thread."""
        title, text = _texts(paper)
        key = f"{title}\n{text}"
        if key not in self._tokens:
            counted = Counter(token[0] for token in self.analyzer.analyze(text))
            for token, *_ in self.analyzer.analyze(title):
                counted[token] += TITLE_COUNTS
            self._tokens[key] = counted
        return self._tokens[key]

    def _shared(self, words: Sequence[AskedWord], papers: Sequence[Paper]) -> tuple[tuple[str, ...], ...]:
        return tuple(
            tuple(word.keyword.text for word in words if _strength(word, self.counts(paper)) > 0)
            for paper in papers
        )

    def _by_words(
        self, words: Sequence[AskedWord], papers: Sequence[Paper], rarity: Mapping[str, float]
    ) -> tuple[float, ...]:
        return tuple(
            likelihood(WORD_WEIGHTS, {"coverage": covered})
            if (covered := coverage(words, self.counts(paper), rarity, paper.lang))
            else 0.0
            for paper in papers
        )

    async def _by_cross_encoder(
        self, question: str, papers: Sequence[Paper]
    ) -> tuple[str, tuple[float, ...]] | None:
        cross_encoder = self._models.questions.cross_encoder
        if not cross_encoder.configured or not papers:
            return None
        scored = await cross_encoder.scores(question, ["\n".join(_texts(paper)) for paper in papers])
        if scored is None:
            return None
        model, scores = scored
        raw = self._settings.reranker.scores == "raw"
        return model, tuple(sigmoid(score) if raw else min(1.0, max(0.0, score)) for score in scores)

    async def _by_cosine(
        self, question: str, papers: Sequence[Paper]
    ) -> tuple[str, tuple[float, ...]] | None:
        if self._settings.encoder.provider == "none" or not papers:
            return None
        encoder, why = await self._models.vectors()
        if encoder is None:
            if why:
                raise IndexerError(why)
            return None
        import numpy as np

        from indexer.vectors.adding import row_of

        asked = await encoder.questions.encode(question)
        if asked is None:
            return None
        passages = [_passage(str(number), *_texts(paper)) for number, paper in enumerate(papers)]
        unrelated = [_passage(f"-{number}", "", text) for number, text in enumerate(UNRELATED)]
        vectors, failure = await self.threads.run(encoder.of, [*passages, *unrelated])
        if failure:
            raise IndexerError(failure)
        cosines = {
            passage.passage_id: _cosine(
                np.asarray(asked, np.float64).ravel(),
                np.asarray(vectors[row_of(passage).text_hash], np.float64).ravel(),
            )
            for passage in (*passages, *unrelated)
            if row_of(passage).text_hash in vectors
        }
        background = fmean(cosines.get(passage.passage_id, 0.0) for passage in unrelated)
        leads = [
            (cosines.get(passage.passage_id, background) - background) / max(1 - background, 1e-6)
            for passage in passages
        ]
        return "cosine", tuple(likelihood(COSINE_WEIGHTS, {"lead": lead}) for lead in leads)


def coverage(
    words: Sequence[AskedWord],
    counted: Mapping[str, int],
    rarity: Mapping[str, float],
    language: Language = "other",
) -> float:
    """Return the share of a question that a paper holds, 0 to 1: its words by weight and rarity.

    A word that has no counterpart in the paper's language says less where it is missing.
    """
    held = whole = 0.0
    for word in words:
        weight, strength = word.weight * rarity.get(word.keyword.text, 1.0), _strength(word, counted)
        if not strength and language not in {"other", *word.languages}:
            weight *= UNTRANSLATED
        held, whole = held + weight * strength, whole + weight
    return held / whole if whole > 0 else 0.0


def _strength(word: AskedWord, counted: Mapping[str, int]) -> float:
    """Return how much of a word a paper holds, 0 to 1: of it or of one counterpart all tokens."""
    times = max((min(counted.get(token, 0) for token in form) for form in word.forms if form), default=0)
    return 1 - MISSED**times


def _texts(paper: Paper) -> tuple[str, str]:
    title = f"{paper.title}\n{paper.title2}".strip()
    return title[:READ_CHARACTERS], f"{paper.abstract}\n{paper.abstract2}".strip()[:READ_CHARACTERS]


def _passage(passage_id: str, title: str, text: str) -> StoredPassage:
    return StoredPassage(passage_id, passage_id, title=title, text=text, lang="other", part="abstract")


def _cosine(first: "NDArray[np.float64]", second: "NDArray[np.float64]") -> float:
    length = math.sqrt(float(first @ first) * float(second @ second))
    return round(float(first @ second) / length, 6) if length else 0.0
