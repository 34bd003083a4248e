"""Comparison of papers with a question by titles and abstracts, without an index.

It gives the relevance, 0 to 1, by a configured cross-encoder, else by the cosine of a configured encoder; the
shared words; and mentions of excluded things.
"""

import math
import unicodedata
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from base.errors import ResourceError
from base.logistic import likelihood, sigmoid
from base.untrusted import one_line
from indexer.analysis import make_analyzer
from indexer.corpora.papers import Paper
from indexer.files.schema import StoredPassage
from indexer.glossary.storage import Glossary
from indexer.settings import IndexerSettings
from retriever.constraints.analysis import analyse_constraints
from retriever.constraints.exclusions import Exclusion
from retriever.constraints.parsing import find_constraints
from retriever.opening.worker_threads import WorkerThreads
from retriever.question.asked_words import AskedWord, asked_words
from retriever.relevance.paper_words import PaperWords, texts_of
from retriever.searching.penalties import excluded_loss
from retriever.sources import ANALYZER, DECOMPOUND
from retriever.sources.cache import general_glossary
from retriever.sources.gathered import SharedModels

if TYPE_CHECKING:  # only cosines need it
    import numpy as np
    from numpy.typing import NDArray

# A logistic regression of relevance, set by hand, see docs/how-to/finding-papers.md.
COSINE_WEIGHTS: Mapping[str, float] = {"bias": -4.0, "lead": 12.0}
# The cosine of unrelated texts differs between encoders, so it is measured on these.
UNRELATED = (
    "A survey of migratory birds in coastal wetlands during the spring.",
    "The price of copper and the wages of miners in the nineteenth century.",
    "전통 목조 건축의 지붕 곡선에 대한 고찰",
    "초등학교 급식의 나트륨 함량과 학생의 선호",
    "Convergence of a finite volume scheme for shallow water equations.",
)


@dataclass(frozen=True, slots=True)
class PaperScores:
    """The relevance of papers in the order given, the model that measured it, and failures."""

    scores: tuple[float, ...] = ()  # empty if no model is configured, or all failed
    by: str = ""  # the cross-encoder's name, or "cosine"
    failures: tuple[str, ...] = ()


class PaperRelevance:
    """Analyzer, general glossary and models for papers; opened and closed by `with`."""

    def __init__(
        self, settings: IndexerSettings, glossary: Glossary | None = None, models: SharedModels | None = None
    ) -> None:
        """Take the models, which are opened when needed; given models and a given glossary are not closed."""
        self._settings = settings
        self._opened = ExitStack()
        self.models = models or self._opened.enter_context(closing(SharedModels(settings)))
        self.analyzer = make_analyzer(ANALYZER, DECOMPOUND)
        self._given = glossary
        self.threads = WorkerThreads("finding")
        self._read: dict[tuple[str, str], PaperWords] = {}

    def __enter__(self) -> "PaperRelevance":
        """Open the general glossary, unless one is given."""
        if self._given is not None:
            self.glossary = self._given
        else:
            folder = Path(self._opened.enter_context(TemporaryDirectory(prefix="shrag-finding-")))
            self.glossary = Glossary.open(general_glossary(ANALYZER, DECOMPOUND, folder))
            self._opened.callback(self.glossary.close)
        return self

    def __exit__(self, *_: object) -> None:
        """Close threads, glossary and models."""
        self.threads.close()
        self._opened.close()

    async def words(self, text: str) -> tuple[AskedWord, ...]:
        """Return the words that a text asks about."""
        return await self.threads.run(asked_words, text, self.analyzer, self.glossary)

    async def excluded(self, question: str, this_year: int) -> tuple[Exclusion, ...]:
        """Return the exclusions of a question."""
        return await self.threads.run(self._excluded, unicodedata.normalize("NFC", question), this_year)

    def _excluded(self, text: str, this_year: int) -> tuple[Exclusion, ...]:
        found = find_constraints(text, this_year)
        return analyse_constraints(self, found, text, self.analyzer.analyze(text))[0].exclusions

    @property
    def has_model(self) -> bool:
        """Whether a cross-encoder or an encoder is configured."""
        return self.models.questions.cross_encoder.configured or self._settings.encoder.provider != "none"

    async def scores(self, question: str, papers: Sequence[Paper]) -> PaperScores:
        """Measure the relevance of papers to a question by the cross-encoder, else by the encoder."""
        failures: list[str] = []
        for measure in (self._by_cross_encoder, self._by_cosine):
            try:
                found = await measure(question, papers)
            except ResourceError as error:
                failures.append(one_line(str(error)))
                continue
            if found:
                return PaperScores(found[1], found[0], tuple(failures))
        return PaperScores(failures=tuple(failures))

    async def shared(self, question: str, papers: Sequence[Paper]) -> list[tuple[str, ...]]:
        """Return for each paper the words of a question that it contains, formatted by `PaperWords.held`."""

        def words_held() -> list[tuple[str, ...]]:
            words = asked_words(question, self.analyzer, self.glossary)
            return [tuple(filter(None, map(self.read(paper).held, words))) for paper in papers]

        return await self.threads.run(words_held)

    async def losses(self, exclusions: Sequence[Exclusion], papers: Sequence[Paper]) -> list[float]:
        """Return the share of its relevance that each paper loses to exclusions."""
        return await self.threads.run(lambda: [self._loss(exclusions, paper) for paper in papers])

    def read(self, paper: Paper) -> PaperWords:
        """Return the words of a paper, analysed once; in a thread."""
        key = texts_of(paper)
        if key not in self._read:
            self._read[key] = PaperWords.of(paper, self.analyzer)
        return self._read[key]

    def _loss(self, exclusions: Sequence[Exclusion], paper: Paper) -> float:
        read = self.read(paper)
        return excluded_loss(exclusions, read.title, read.text, paper.keywords, self.analyzer)

    async def _by_cross_encoder(
        self, question: str, papers: Sequence[Paper]
    ) -> tuple[str, tuple[float, ...]] | None:
        cross_encoder = self.models.questions.cross_encoder
        if not cross_encoder.configured or not papers:
            return None
        scored = await cross_encoder.scores(question, ["\n".join(texts_of(paper)) for paper in papers])
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
        encoder, why = await self.models.vectors()
        if encoder is None:
            if why:
                raise ResourceError(why)
            return None
        import numpy as np

        from indexer.vectors.adding import row_of

        asked = await encoder.questions.encode(question)
        if asked is None:
            return None
        passages = [_passage(str(number), *texts_of(paper)) for number, paper in enumerate(papers)]
        unrelated = [_passage(f"-{number}", "", text) for number, text in enumerate(UNRELATED)]
        vectors, failure = await self.threads.run(encoder.of, [*passages, *unrelated])
        if failure:
            raise ResourceError(failure)
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


def _passage(passage_id: str, title: str, text: str) -> StoredPassage:
    return StoredPassage(passage_id, passage_id, title=title, text=text, lang="other", part="abstract")


def _cosine(first: "NDArray[np.float64]", second: "NDArray[np.float64]") -> float:
    length = math.sqrt(float(first @ first) * float(second @ second))
    return round(float(first @ second) / length, 6) if length else 0.0
