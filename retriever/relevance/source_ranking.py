"""Papers of sources in the order of `shrag`, and the probability that papers are relevant to the question.

A single source that is an index of this project is ranked directly. The papers of other sources are ranked in
one index (`gathered.py`).
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Self, TypeVar

from retriever.constraints.parsing import find_constraints
from retriever.index import SearchIndex
from retriever.queries.boolean import Filters
from retriever.relevance.ranked_papers import RankedPapers, rank_papers, scores_of
from retriever.requests.request import SearchRequest
from retriever.settings import RetrieverSettings
from retriever.sources import SourceAnswer, SourcePaper
from retriever.sources.engine import SourcesEngine
from retriever.sources.gathered import index_of_sources
from retriever.sources.kinds.index import IndexSource
from retriever.sources.merging import LimitedSource, Merged, MergedPaper, ask_sources, merge
from retriever.sources.models import SharedModels

T = TypeVar("T")


class QuestionRanking:
    """The ranking of one question, computed when needed; opened and closed by `async with`."""

    def __init__(
        self,
        question: str,
        this_year: int,
        sources: Sequence[LimitedSource],
        models: SharedModels,
        settings: RetrieverSettings,
    ) -> None:
        """Take open sources and models, which the caller closes; no request is sent yet."""
        # Years are a filter of the call, not a penalty.
        constraints = replace(find_constraints(question, this_year), strict_time=False)
        self._request = SearchRequest(question, constraints=constraints)
        self._sources, self._models, self._settings = sources, models, settings
        self._stack = AsyncExitStack()
        self._gathered: SearchIndex | None = None
        self._ranked: RankedPapers | None = None

    async def __aenter__(self) -> Self:
        """Return the ranking."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close what was opened."""
        await self._stack.aclose()

    async def papers(self, filters: Filters, known: Mapping[str, MergedPaper]) -> tuple[Merged, list[str]]:
        """Return the question's papers, merged with the known ones, and notes for a reader.

        Raises:
            SourceFailed: no source answers.
        """
        scores = (await self._ask(lambda index: self._rank(index, filters))).scores
        if isinstance(source := self._sources[0].source, IndexSource) and self._gathered is None:
            given = await ask_sources(self._sources, lambda _: source.papers(list(scores)))
            papers = given.answers[source.name]
            found = tuple(
                SourcePaper(papers[paper_id].paper, score)
                for paper_id, score in scores.items()
                if paper_id in papers
            )
            return merge({source.name: SourceAnswer((found,))}, known, several=False), []
        engine = self._engine()
        return Merged({**engine.found, **known}, (tuple(scores.items()),)), list(engine.notes)

    async def likelihoods(self, filters: Filters, papers: Sequence[MergedPaper]) -> list[float]:
        """Return the probability that each paper is relevant, 0 to 1.

        Raises:
            SourceFailed: the question was not ranked before, and no source answers.
        """

        async def of_index(index: SearchIndex) -> list[float]:
            ranked = await self._rank(index, filters)
            if self._gathered is not None:
                await self._engine().add({merged.paper.id: merged for merged in papers})
            ids = [merged.ids[0][1] if self._gathered is None else merged.paper.id for merged in papers]
            scores = await scores_of(index, ranked, ids)
            return [ranked.curve.probability(scores.get(paper_id, 0.0)) for paper_id in ids]

        return await self._ask(of_index)

    async def _rank(self, index: SearchIndex, filters: Filters) -> RankedPapers:
        if self._ranked is None:
            request = replace(self._request, filters=filters)
            self._ranked = await rank_papers(index, request, self._settings)
        return self._ranked

    async def _ask(self, question: Callable[[SearchIndex], Awaitable[T]]) -> T:
        """Search the index within the time limit of its source, or all sources together."""
        if len(self._sources) == 1 and isinstance(source := self._sources[0].source, IndexSource):
            given = await ask_sources(self._sources, lambda _: source.ask(question))
            return given.answers[source.name]
        if self._gathered is None:
            opening = index_of_sources(self._sources, self._models)
            self._gathered = await self._stack.enter_async_context(opening)
        return await question(self._gathered)

    def _engine(self) -> SourcesEngine:
        engine = self._gathered and self._gathered.engine
        assert isinstance(engine, SourcesEngine)  # noqa: S101 - `index_of_sources` has no other
        return engine
