"""A foreign Elasticsearch or OpenSearch index as a source: `kind = "elasticsearch"`.

In `retriever/sources/foreign_index/`, `queries.py` builds requests, `client.py` sends them, and `records.py`
parses the answers.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from indexer.settings import IndexerSettings
from retriever.errors import SourceFailed
from retriever.queries.boolean import Query
from retriever.queries.filters import Filters
from retriever.sources import LinkedPapers, Source, SourceAnswer, SourceFeatures, SourcePaper
from retriever.sources.foreign_index.client import ElasticsearchClient
from retriever.sources.foreign_index.queries import (
    applicable,
    bodies_body,
    citing_body,
    count_body,
    holding_body,
    records_body,
    search_body,
)
from retriever.sources.foreign_index.records import body_of, hits_in, paper_of, total_in
from retriever.sources.foreign_index.settings import Settings

if TYPE_CHECKING:  # loaded where a source is opened
    import httpx

__all__ = ["Settings", "open_source"]

RECORDS_AT_A_TIME = 500
COUNTS_AT_A_TIME = 100
KOREAN_WORD, MOSTLY_BEGUN = "연구", 2  # in most Korean papers, usually followed by a particle
CUT_AT_SPACES = 'Korean is cut at spaces: hangul = "prefixes" also finds words followed by particles'


def open_source(name: str, settings: Settings, _: IndexerSettings) -> Source:
    """Create the source; nothing is sent yet."""
    return ElasticsearchSource(name, settings)


class ElasticsearchSource(Source):
    """A foreign index, which is only read."""

    def __init__(
        self, name: str, settings: Settings, transport: "httpx.AsyncBaseTransport | None" = None
    ) -> None:
        """Create a client, which connects when needed; `transport` replaces the network."""
        self.name, self._settings = name, settings
        self._client = ElasticsearchClient(name, settings, transport)

    @property
    def features(self) -> SourceFeatures:
        """References are supported if their field is configured."""
        linked = bool(self._settings.fields.references)
        return SourceFeatures(
            references=linked, citing=linked, frequencies=True, private=self._settings.private
        )

    async def search(self, queries: Sequence[tuple[Query, int]], *, filters: Filters) -> SourceAnswer:
        """Answer all queries in one request; read full texts of papers without an abstract in another."""
        bodies = [search_body(self._settings, query, k, filters) for query, k in queries]
        answers, notes = await self._client.search(bodies)
        found, own_ids, unusable = await asyncio.to_thread(self._papers_found, answers)
        if unusable:
            notes.append(f"{unusable} records without a usable id were left out")
        left = [name for name in ("years", "lang", "journal") if getattr(filters, name)]
        if missing := [name for name in left if not getattr(applicable(self._settings, filters), name)]:
            notes.append(f"has no field for {', '.join(missing)}: its hits were filtered afterwards")
        texts: dict[str, str] = {}
        if own_ids:
            try:
                texts = await self._bodies(own_ids)
            except SourceFailed as error:  # the records are usable without them
                notes.append(f"full texts were not read: {error}")
        return SourceAnswer(
            tuple(tuple(_with_body(paper, texts) for paper in of) for of in found),
            tuple(notes),
            requests=1 + bool(own_ids),
        )

    def _papers_found(
        self, answers: Sequence[dict[str, Any]]
    ) -> tuple[list[list[SourcePaper]], dict[str, str], int]:
        """Return each answer's papers, the server's ids of papers to read in full, and the unusable count."""
        found: list[list[SourcePaper]] = []
        own_ids: dict[str, str] = {}
        unusable: set[str] = set()
        for answer in answers:
            papers: dict[str, SourcePaper] = {}
            for hit in hits_in(answer):
                paper = paper_of(self._settings, self.name, hit)
                if paper is None:
                    unusable.add(repr(hit)[:1000])
                    continue
                papers.setdefault(paper.paper.id, paper)
                if self._settings.fields.body and not paper.paper.abstract:
                    own_ids[paper.paper.id] = str(hit.get("_id"))
            found.append(sorted(papers.values(), key=lambda each: (-(each.score or 0.0), each.paper.id)))
        return found, own_ids, len(unusable)

    async def papers(self, ids: Sequence[str]) -> dict[str, SourcePaper]:
        """Return records by id."""
        wanted = list(dict.fromkeys(ids))
        bodies = [
            records_body(self._settings, wanted[start : start + RECORDS_AT_A_TIME])
            for start in range(0, len(wanted), RECORDS_AT_A_TIME)
        ]
        answers, _ = await self._client.search(bodies) if bodies else ([], [])
        found = await asyncio.to_thread(self._without_scores, answers)
        by_id = {paper.paper.id: paper for papers in found for paper in papers}
        return {paper_id: by_id[paper_id] for paper_id in wanted if paper_id in by_id}

    async def references(self, ids: Sequence[str], limit: int) -> LinkedPapers:
        """Return the references of papers that are in the index, in two requests."""
        if not self.features.references:
            return LinkedPapers()
        papers = await self.papers(ids)
        referred = {paper_id: each.paper.references[:limit] for paper_id, each in papers.items()}
        others = await self.papers([other for of in referred.values() for other in of])
        return LinkedPapers(
            {
                paper_id: tuple(others[id_] for id_ in of if id_ in others)
                for paper_id, of in referred.items()
            },
            requests=2,
        )

    async def citing(self, ids: Sequence[str], limit: int) -> LinkedPapers:
        """Return the papers of the index that refer to papers, in one request."""
        if not self.features.citing or not ids:
            return LinkedPapers()
        answers, notes = await self._client.search(
            [citing_body(self._settings, paper_id, limit) for paper_id in ids]
        )
        found = await asyncio.to_thread(self._without_scores, answers)
        return LinkedPapers(dict(zip(ids, found, strict=True)), tuple(notes), requests=1)

    def _without_scores(self, answers: Sequence[dict[str, Any]]) -> list[tuple[SourcePaper, ...]]:
        """Return each answer's papers, in their order."""
        read = partial(paper_of, self._settings, self.name)
        return [
            tuple(replace(paper, score=None) for paper in map(read, hits_in(answer)) if paper)
            for answer in answers
        ]

    async def frequencies(self, words: Sequence[str]) -> tuple[dict[str, int], int] | None:
        """Return each word's document frequency, and the number of papers; None if unknown."""
        asked = [None, *dict.fromkeys(words)]
        totals: list[int | None] = []
        for start in range(0, len(asked), COUNTS_AT_A_TIME):
            some = asked[start : start + COUNTS_AT_A_TIME]
            answers, notes = await self._client.search([count_body(self._settings, word) for word in some])
            if notes:
                return None
            totals += map(total_in, answers)
        counted = [total for total in totals if total is not None]
        if len(counted) < len(totals):  # an answer is not a number
            return None
        everything, *of_words = counted
        return dict(zip(dict.fromkeys(words), of_words, strict=True)), everything

    async def wrongly_described(self) -> tuple[str, ...]:
        """Describe fields that no paper has or that are not indexed, and Korean text cut only at spaces."""
        named = self._settings.fields.named
        prefixes = self._settings.model_copy(update={"hangul": "prefixes"})
        counts = [count_body(settings, KOREAN_WORD) for settings in (self._settings, prefixes)]
        answers, _ = await self._client.search([*map(holding_body, named), *counts])
        *held, alone, begun = [total_in(answer) if answer else None for answer in answers]
        told = [
            f"no paper has the field {name!r} ({role}), or it is not indexed"
            for (name, role), papers in zip(named.items(), held, strict=True)
            if papers == 0
        ]
        if begun and alone is not None and begun > MOSTLY_BEGUN * alone:
            told.append(CUT_AT_SPACES)
        return tuple(told)

    async def close(self) -> None:
        """Close connections."""
        await self._client.close()

    async def _bodies(self, own_ids: dict[str, str]) -> dict[str, str]:
        body = bodies_body(self._settings, list(own_ids.values()))
        answers, _ = await self._client.search([body])
        by_own_id = {
            str(hit.get("_id")): body_of(self._settings.fields, hit)
            for hit in hits_in(answers[0])
            if isinstance(hit, dict)
        }
        return {paper_id: by_own_id.get(own_id, "") for paper_id, own_id in own_ids.items()}


def _with_body(paper: SourcePaper, texts: dict[str, str]) -> SourcePaper:
    body = texts.get(paper.paper.id)
    return replace(paper, paper=paper.paper.model_copy(update={"body": body})) if body else paper
