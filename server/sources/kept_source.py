"""A source kept open between calls, which tells callers nothing of where it is."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

from base.errors import RemediableError
from base.logs import get_logger
from base.remedies import describe_error
from generator.tracing.following import ended
from indexer.settings import IndexerSettings
from retriever.errors import SourceFailed, SourceSilent
from retriever.queries.boolean import Filters, Query
from retriever.sources import LinkedPapers, Source, SourceAnswer, SourceFeatures, SourcePaper
from retriever.sources.configuration import DeclaredSource
from retriever.sources.merging import LimitedSource

T = TypeVar("T")
log = get_logger("server")


class KeptSource(Source):
    """A declared source, opened when it is first asked; one event loop's own.

    Of a source of the institution's own callers learn that it failed, not how: addresses, paths, fields of a
    mapping and its server's words are for the log. What a service on the network says of itself is told.
    """

    def __init__(self, declared: DeclaredSource, settings: IndexerSettings) -> None:
        """Open nothing yet."""
        self.declared = declared
        self._settings = settings
        self._source: Source | None = None
        self._opening = asyncio.Lock()

    @property
    def name(self) -> str:
        """How settings, notes and records name it."""
        return self.declared.name

    @property
    def features(self) -> SourceFeatures:
        """What it can do; nothing before it is open."""
        return self._source.features if self._source else SourceFeatures()

    async def opened(self) -> Source:
        """Return the source; one that could not be opened is tried again.

        Raises:
            SourceFailed: it cannot be opened.
        """
        async with self._opening:
            if self._source is None:
                opening = asyncio.ensure_future(asyncio.to_thread(self._open))
                await ended(opening)  # where the caller leaves meanwhile, it stays open for others
                return opening.result()
        return self._source

    def _open(self) -> Source:
        try:
            self._source = self.declared.open(self._settings)
        except (RemediableError, OSError) as error:
            log.warning("source not opened", source=self.name, reason=describe_error(error))
            raise SourceFailed(f"source {self.name!r} cannot be opened; the server's log says why") from None
        return self._source

    async def limited(self) -> LimitedSource:
        """Return it for one question, open if it can be."""
        with suppress(SourceFailed):  # whoever asks it is told
            await self.opened()
        return self.declared.limited(self)

    async def search(self, queries: Sequence[tuple[Query, int]], *, filters: Filters) -> SourceAnswer:
        """Answer many queries."""
        answer = await self._asked(lambda source: source.search(queries, filters=filters))
        return replace(answer, notes=self._noted(answer.notes))

    async def papers(self, ids: Sequence[str]) -> dict[str, SourcePaper]:
        """Return records by id."""
        return await self._asked(lambda source: source.papers(ids))

    async def papers_by_doi(self, dois: Sequence[str]) -> dict[str, SourcePaper]:
        """Return records by DOI."""
        return await self._asked(lambda source: source.papers_by_doi(dois))

    async def references(self, ids: Sequence[str], limit: int) -> LinkedPapers:
        """Return the papers that papers refer to."""
        linked = await self._asked(lambda source: source.references(ids, limit))
        return replace(linked, notes=self._noted(linked.notes))

    async def citing(self, ids: Sequence[str], limit: int) -> LinkedPapers:
        """Return the papers that refer to papers."""
        linked = await self._asked(lambda source: source.citing(ids, limit))
        return replace(linked, notes=self._noted(linked.notes))

    async def frequencies(self, words: Sequence[str]) -> tuple[dict[str, int], int] | None:
        """Return in how many papers each word stands, and of how many."""
        return await self._asked(lambda source: source.frequencies(words))

    async def citation_counts(self, ids: Sequence[str]) -> dict[str, int]:
        """Return how many papers of the source refer to each."""
        return await self._asked(lambda source: source.citation_counts(ids))

    async def close(self) -> None:
        """Let go of connections."""
        if self._source:
            await self._source.close()

    async def _asked(self, ask: Callable[[Source], Awaitable[T]]) -> T:
        source = await self.opened()
        try:
            return await ask(source)
        except RemediableError as error:
            if not source.features.private:
                raise
            log.warning("source failed", source=self.name, reason=describe_error(error))
            kind = SourceSilent if isinstance(error, SourceSilent) else SourceFailed
            raise kind(f"source {self.name!r} failed; the server's log says how") from None

    def _noted(self, notes: tuple[str, ...]) -> tuple[str, ...]:
        """Return of each note what stands before its details, which are logged."""
        if not self.features.private:
            return notes
        for note in notes:
            log.info("note of a source", source=self.name, note=note)
        return tuple(dict.fromkeys(note.partition(": ")[0] for note in notes))
