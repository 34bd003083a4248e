"""Papers in the order of `shrag`, of an index or of sources, and the probability that they are relevant.

A single source that is an index of this project is ranked directly. The papers of other sources are ranked in
one index (`retriever/sources/gathered.py`). Other papers get scores by the same formula.
"""

import math
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from statistics import fmean
from typing import NamedTuple, TypeVar

import numpy as np

from base.logistic import likelihood
from retriever.answerability import coverage
from retriever.engines import NumberedRows
from retriever.formula import TokenPlaces
from retriever.index import SearchIndex
from retriever.queries.filters import Filters
from retriever.ranking import COSINE_WEIGHT
from retriever.request import SearchRequest
from retriever.search import open_ranking, run_stages
from retriever.settings import RetrieverSettings
from retriever.sources import SourceAnswer
from retriever.sources.engine import SourcesEngine
from retriever.sources.gathered import SharedModels, index_of_sources
from retriever.sources.kinds.index import IndexSource
from retriever.sources.merging import LimitedSource, Merged, MergedPaper, ask_sources, merge
from retriever.stages.stages import computed
from retriever.terms import SearchTerms

HEAD, TAIL = (3, 10), (9, 30)  # slices of the ranking; their mean scores are compared with the best score
LEAST = 0.02  # added to scores before their logarithm is taken
WEIGHTS: Mapping[str, float] = {
    "bias": -0.438,
    "share": 3.035,
    "head": -1.35,
    "tail": 0.558,
    "words": 0.306,
}
FEW_WORDS = 3
LEAST_COVERAGE, ALL_WORDS, WITH_ALL_WORDS = 0.5, 0.99, 0.5
READ = 100  # papers of a ranking that are judged
LAST = 20  # last papers of a full ranking; their mean probability is assumed for READ more papers


class PaperScore(NamedTuple):
    """A paper's score, and the share of the question's importance that its best passage holds."""

    score: float
    coverage: float


@dataclass(frozen=True, slots=True)
class ScoreCurve:
    """The decline of the scores of a question's papers.

    Args:
        best: the highest score.
        head, tail: logarithms of the mean scores of `HEAD` and `TAIL`, as shares of the best.
        words: the logarithm of the number of the question's words.
    """

    best: float
    head: float
    tail: float
    words: float

    @classmethod
    def of(cls, scores: Sequence[float], words: int) -> "ScoreCurve":
        """Return the curve of the scores of a question's papers; ranks without a paper count 0."""
        ranked = sorted((max(0.0, score) for score in scores), reverse=True)
        best = ranked[0] if ranked else 0.0
        means = [fmean([*ranked, *[0.0] * end][start:end]) for start, end in (HEAD, TAIL)]
        head, tail = (math.log((mean + LEAST) / (best + LEAST)) for mean in means)
        return cls(best, head, tail, math.log(max(1, words)))

    def features(self, paper: PaperScore) -> dict[str, float]:
        """Return the features of a paper."""
        share = math.log(max(0.0, paper.score) / self.best + LEAST) if self.best else math.log(LEAST)
        return {"share": share, "head": self.head, "tail": self.tail, "words": self.words}

    def probability(self, paper: PaperScore | None) -> float:
        """Return the probability that a paper is relevant; 0 without a score.

        The weights were fitted to questions in sentences. For a few words a paper with all of them counts as
        relevant at least half the time, and one with less than half of their importance not at all.
        """
        if paper is None or paper.score <= 0:
            return 0.0
        found = likelihood(WEIGHTS, self.features(paper))
        if self.words > math.log(FEW_WORDS):
            return found
        if paper.coverage < LEAST_COVERAGE:
            return 0.0
        return max(found, WITH_ALL_WORDS) if paper.coverage > ALL_WORDS else found


def highest_expected_f(probabilities: Sequence[float]) -> float:
    """Return the expected F of the best list of these papers, 0 to 1; 0 without papers.

        E[F] of the first n of a ranking ≈ 2 · (p₁ + … + pₙ) / (n + expected number of relevant papers)

    A paper raises it if its probability is more than half of the expected F of the list without it (Lipton,
    Elkan & Naryanaswamy, ECML 2014).

    A ranking of `READ` papers was cut: `READ` more with the mean probability of its last papers are expected.
    """
    ranked = sorted(probabilities, reverse=True)
    expected = sum(ranked)
    if len(ranked) >= READ:
        expected += READ * sum(ranked[-LAST:]) / LAST
    best = held = 0.0
    for count, probability in enumerate(ranked, 1):
        held += probability
        best = max(best, 2 * held / (count + expected))
    return round(min(best, 1.0), 6)


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RankedPapers:
    """The first papers for a question.

    Args:
        scores: by paper_id, best first: scores by words, as shares of the attainable one, before losses to
            exclusions.
        curve: of these scores.
        terms: for the scores of other papers; None if the question has no words.
    """

    scores: Mapping[str, PaperScore]
    curve: ScoreCurve
    terms: SearchTerms | None = None


def rank_papers(index: SearchIndex, request: SearchRequest, settings: RetrieverSettings) -> RankedPapers:
    """Rank the papers of an index by `shrag`, or its passages if the index holds passages without papers.

    Raises:
        BadQuestion, BadFilter: a request that cannot be used.
    """
    papers = index.manifest.unit == "paper"
    context = open_ranking(index, replace(request, k=READ, collapse=papers), settings)
    stages = run_stages(context)
    ranking, terms = computed(stages.ranking), stages.terms
    if ranking.scored is None or terms is None:
        return RankedPapers({}, ScoreCurve.of((), 0))
    parts = {name: values for name, values in ranking.scored.parts.items() if name != "cosine"}
    is_share = len(parts) < len(ranking.scored.parts)  # beside a cosine
    by_words = np.sum(list(parts.values()), axis=0) / (
        1 - COSINE_WEIGHT if is_share else terms.formula.attainable
    )
    best: dict[str, str] = {}
    for hit, _ in ranking.hits[:READ]:
        if hit.passage_id in ranking.scored:
            best.setdefault(hit.doc_id if papers else hit.passage_id, hit.passage_id)
    scores = {name: float(by_words[ranking.scored.row[name]]) for name in best.values()}
    covered = _coverages(terms, index.engine.rows(list(scores)))
    curve = ScoreCurve.of(list(scores.values()), len(terms.question.words()))
    found = {paper_id: PaperScore(scores[name], covered[name]) for paper_id, name in best.items()}
    return RankedPapers(found, curve, terms)


def _coverages(terms: SearchTerms, read: NumberedRows) -> dict[str, float]:
    """Return the share of the question, or of the keywords of a language, that each passage holds."""
    places = TokenPlaces.of(read, terms.formula.tokens)
    return {
        name: max((coverage(view, places, row) for view in terms.views), default=0.0)
        for row, name in enumerate(read.ids)
    }


def scores_of(index: SearchIndex, ranked: RankedPapers, paper_ids: Iterable[str]) -> dict[str, PaperScore]:
    """Return the scores of papers by id, without ids that the index does not hold.

    A paper that is not among those ranked is scored by its first passage, without feedback.
    """
    wanted = dict.fromkeys(paper_ids)
    scores = {paper_id: ranked.scores[paper_id] for paper_id in wanted if paper_id in ranked.scores}
    missing, terms = [paper_id for paper_id in wanted if paper_id not in scores], ranked.terms
    if not missing or terms is None:
        return scores
    passages = {paper_id: paper_id for paper_id in missing}
    if index.manifest.unit == "paper":
        firsts = index.engine.papers(missing)
        passages = {first.passage_id: paper_id for paper_id, first in firsts.items()}
    read = index.engine.rows(list(passages))
    shares, covered = terms.formula.shares(read).tolist(), _coverages(terms, read)
    return scores | {
        passages[name]: PaperScore(share, covered[name]) for name, share in zip(read.ids, shares, strict=True)
    }


class QuestionRanking(AsyncExitStack):
    """The ranking of one question, computed when needed; opened and closed by `async with`."""

    def __init__(
        self,
        request: SearchRequest,
        sources: Sequence[LimitedSource],
        models: SharedModels,
        settings: RetrieverSettings,
    ) -> None:
        """Take open sources and models, which the caller closes; no request is sent yet."""
        super().__init__()
        self._request, self._sources = request, sources
        self._models, self._settings = models, settings
        self._gathered: SearchIndex | None = None
        self._ranked: RankedPapers | None = None

    async def papers(self, filters: Filters, known: Mapping[str, MergedPaper]) -> tuple[Merged, list[str]]:
        """Return the question's papers, merged with the known ones, and notes for a reader.

        Raises:
            SourceFailed: no source answers.
        """
        ranked = (await self._ask(lambda index: self._rank(index, filters))).scores
        if isinstance(source := self._sources[0].source, IndexSource) and self._gathered is None:
            given = await ask_sources(self._sources, lambda _: source.papers(list(ranked)))
            papers = given.answers[source.name]
            found = tuple(papers[paper_id] for paper_id in ranked if paper_id in papers)
            return merge({source.name: SourceAnswer((found,))}, known, several=False), []
        engine = self._engine()
        return Merged({**engine.found, **known}, (tuple(ranked),)), list(engine.notes)

    async def likelihoods(self, filters: Filters, papers: Sequence[MergedPaper]) -> list[float]:
        """Return the probability that each paper is relevant, 0 to 1.

        Raises:
            SourceFailed: the question was not ranked before, and no source answers.
        """

        async def of_index(index: SearchIndex) -> list[float]:
            ranked = await self._rank(index, filters)
            if self._gathered is not None:
                added = {merged.paper.id: merged for merged in papers}
                await index.run(lambda _: self._engine().add(added))
            ids = [merged.ids[0][1] if self._gathered is None else merged.paper.id for merged in papers]
            scores = await index.run(scores_of, ranked, ids)
            return [ranked.curve.probability(scores.get(paper_id)) for paper_id in ids]

        return await self._ask(of_index)

    async def _rank(self, index: SearchIndex, filters: Filters) -> RankedPapers:
        if self._ranked is None:
            request = replace(self._request, filters=filters)
            self._ranked = await index.run(rank_papers, request, self._settings)
        return self._ranked

    async def _ask(self, question: Callable[[SearchIndex], Awaitable[T]]) -> T:
        """Search the index within the time limit of its source, or all sources together."""
        if len(self._sources) == 1 and isinstance(source := self._sources[0].source, IndexSource):
            given = await ask_sources(self._sources, lambda _: source.ask(question))
            return given.answers[source.name]
        if self._gathered is None:
            opening = index_of_sources(self._sources, self._models)
            self._gathered = await self.enter_async_context(opening)
        return await question(self._gathered)

    def _engine(self) -> SourcesEngine:
        engine = self._gathered and self._gathered.engine
        assert isinstance(engine, SourcesEngine)  # noqa: S101 - `index_of_sources` has no other
        return engine
