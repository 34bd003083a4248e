"""Comparison of papers with a question by titles and abstracts, without an index.

It gives the relevance, 0 to 1, by a configured cross-encoder, else by the cosine of a configured encoder; the
shared words; and mentions of excluded things.
"""

import math
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

import numpy as np

from base.errors import ResourceError
from indexer.analysis import Analyzer, make_analyzer
from indexer.corpora.papers import Paper
from indexer.encoders.arrays import Stored
from indexer.files.schema import StoredPassage
from indexer.glossary.storage import Glossary
from indexer.settings import IndexerSettings
from indexer.vectors.adding import row_of
from retriever.constraints.analysis import analyse_constraints
from retriever.constraints.exclusions import Exclusion, Writing
from retriever.constraints.parsing import Constraints
from retriever.opening.worker_threads import WorkerThreads
from retriever.question.asked_words import AskedWord, asked_words
from retriever.relevance.cascade import PAPERS, Relevance, leads_of, relevance_by_models
from retriever.searching.penalties import excluded_loss
from retriever.sources import ANALYZER, DECOMPOUND
from retriever.sources.cache import general_glossary
from retriever.sources.models import SharedModels

READ_CHARACTERS = 4_000  # of a title, and of an abstract
# The cosine of unrelated texts differs between encoders, so it is measured on these.
UNRELATED = (
    "A survey of migratory birds in coastal wetlands during the spring.",
    "The price of copper and the wages of miners in the nineteenth century.",
    "전통 목조 건축의 지붕 곡선에 대한 고찰",
    "초등학교 급식의 나트륨 함량과 학생의 선호",
    "Convergence of a finite volume scheme for shallow water equations.",
)


@dataclass(frozen=True, slots=True)
class PaperWords:
    """The tokens and the texts of a paper's titles and abstracts."""

    tokens: frozenset[str]
    title: Writing
    text: Writing

    @classmethod
    def of(cls, paper: Paper, analyzer: Analyzer) -> "PaperWords":
        """Analyse a paper."""
        title, abstract = texts_of(paper)
        titles, texts = ([token[0] for token in analyzer.analyze(text)] for text in (title, abstract))
        written = Writing.of(titles, title), Writing.of(texts, abstract)
        return cls(frozenset([*titles, *texts]), *written)

    def held(self, word: AskedWord) -> str:
        """Return a word of a question if the paper contains it, else with the counterpart found, else ""."""
        for keyword in (word.keyword, *word.others):
            if keyword.tokens and self.tokens.issuperset(keyword.tokens):
                own = word.keyword.text
                return own if keyword is word.keyword else f"{own} ({keyword.text})"
        return ""


def texts_of(paper: Paper) -> tuple[str, str]:
    """Return a paper's titles, and its abstracts."""
    title = f"{paper.title}\n{paper.title2}".strip()
    return title[:READ_CHARACTERS], f"{paper.abstract}\n{paper.abstract2}".strip()[:READ_CHARACTERS]


class PaperRelevance:
    """Analyzer, general glossary and models for papers; opened and closed by `with`."""

    def __init__(
        self, settings: IndexerSettings, glossary: Glossary | None = None, models: SharedModels | None = None
    ) -> None:
        """Take the models, which are opened when needed; given models and a given glossary are not closed."""
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

    async def excluded(self, question: str, found: Constraints) -> tuple[Exclusion, ...]:
        """Return the exclusions among the constraints of a question, in NFC, with their analysis."""
        return await self.threads.run(self._excluded, question, found)

    def _excluded(self, text: str, found: Constraints) -> tuple[Exclusion, ...]:
        return analyse_constraints(self, found, text, self.analyzer.analyze(text))[0].exclusions

    @property
    def has_model(self) -> bool:
        """Whether a cross-encoder or an encoder is configured."""
        return self.models.cross_encoder.configured or self.models.encoder.configured

    async def scores(self, question: str, papers: Sequence[Paper]) -> Relevance:
        """Measure the relevance of papers to a question by the models; `by` is "" without a model."""
        texts = ["\n".join(texts_of(paper)) for paper in papers]
        leads = partial(self._leads, question, papers)
        return await relevance_by_models(self.models.cross_encoder, question, texts, leads, PAPERS)

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

    async def _leads(self, question: str, papers: Sequence[Paper]) -> list[dict[str, float]] | None:
        """Return the lead of each paper's cosine over unrelated texts; None without an encoder."""
        encoder, why = await self.models.passages()
        if why:
            raise ResourceError(why)
        asked = await encoder.questions.encode(question) if encoder else None
        if encoder is None or asked is None:
            return None
        texts = [texts_of(paper) for paper in papers] + [("", text) for text in UNRELATED]
        passages = [_passage(str(number), *text) for number, text in enumerate(texts)]
        vectors, failure = await encoder.of(passages)
        if failure:
            raise ResourceError(failure)
        found = [vectors.get(row_of(passage).text_hash) for passage in passages]
        cosines = [None if vector is None else _cosine(asked, vector) for vector in found]
        unrelated = cosines[len(papers) :]
        return leads_of(cosines[: len(papers)], fmean(cosine or 0.0 for cosine in unrelated))


def _passage(passage_id: str, title: str, text: str) -> StoredPassage:
    return StoredPassage(passage_id, passage_id, title=title, text=text, lang="other", part="abstract")


def _cosine(first: Stored, second: Stored) -> float:
    one, other = np.asarray(first, np.float64).ravel(), np.asarray(second, np.float64).ravel()
    length = math.sqrt(float(one @ one) * float(other @ other))
    return round(float(one @ other) / length, 6) if length else 0.0
