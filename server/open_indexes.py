"""The indexes that the server answers from, opened before they are asked for where that can be."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from unicodedata import normalize

from indexer.errors import IndexerError, InvalidCall, UnknownIndex
from indexer.logs import get_logger
from indexer.manifest import Manifest
from indexer.remedies import describe_error
from indexer.settings import IndexerSettings
from indexer.store.engines import index_names, open_store
from retriever.following import FollowingIndex
from retriever.index import open_index
from server import metrics
from server.callers import current_visit, may_see
from server.kept_indexes import KeptIndexes

OPENED_AT_START = 3
LOOKED_EVERY_S = 30.0  # for indexes that were deleted
TRIED_EVERY_S = 2.0  # to open what the server starts with, where that is not known yet

log = get_logger("server")


class OpenIndexes:
    """Indexes by name; each goes on to what is published.

    One event loop's own. What is deleted meanwhile is closed, and unknown from then on. So are, to a caller
    whose key opens others alone, those that it does not open.
    """

    def __init__(
        self, settings: IndexerSettings, synonyms: Path | None, *, most: int, stopping: asyncio.Event
    ) -> None:
        """Open nothing yet; questions are asked with the synonyms of a file."""
        self._settings = settings
        self._synonyms = synonyms
        self._most = most
        self._kept = KeptIndexes(self._open, most, stopping)
        self.started = False  # what questions are expected for is open, or cannot be opened
        self.failures: dict[str, Exception] = {}  # of those, by the index's name

    @asynccontextmanager
    async def keeping(self) -> AsyncIterator["OpenIndexes"]:
        """Open the index that calls mean, or the first few; let go of deleted ones; close all at the end."""
        looking = asyncio.create_task(self._look())
        try:
            yield self
        finally:
            looking.cancel()
            await asyncio.gather(looking, return_exceptions=True)
            await self._kept.close()

    async def _look(self) -> None:
        while True:
            try:
                names = await asyncio.to_thread(index_names, self._settings)
                if not self.started:
                    await self._start(names)
                self._kept.close_all_but(names)
            except (IndexerError, OSError) as error:  # calls will tell
                log.warning("indexes not listed", reason=describe_error(error))
            await asyncio.sleep(LOOKED_EVERY_S if self.started else TRIED_EVERY_S)

    async def _start(self, names: list[str]) -> None:
        default = self._settings.name
        wanted = [default] if default else names[: min(OPENED_AT_START, self._most)]
        opening = (asyncio.create_task(self._kept.get(name)) for name in wanted)
        found = await asyncio.gather(*opening, return_exceptions=True)
        self.failures = {
            name: error for name, error in zip(wanted, found, strict=True) if isinstance(error, Exception)
        }
        for name, error in self.failures.items():
            log.warning("index not opened", index=name, reason=describe_error(error))
        self.started = True

    async def names(self) -> list[str]:
        """Name the indexes that have a published version and are there for the caller, in order."""
        return list(filter(may_see, await asyncio.to_thread(index_names, self._settings)))

    async def chosen(self, name: str | None) -> str:
        """Return the name of the index that is meant: without a name, the only one there is.

        Raises:
            UnknownIndex: there is none.
            InvalidCall: there are several.
        """
        if name := name or self._settings.name:
            return name
        names = await self.names()
        if not names:
            raise UnknownIndex("there are no indexes yet", remedy="make one: shrag index PATH --name NAME")
        if len(names) > 1:
            raise InvalidCall(f"there are {len(names)} indexes: {', '.join(names[:10])}; say which is meant")
        return names[0]

    async def get(self, name: str) -> FollowingIndex:
        """Return an open index; those who ask at once wait for one opening.

        Raises:
            IndexerError: as `open_index`.
            Stopping: the server stops before it is open.
        """
        self._require(name)
        return await self._kept.get(name)

    def _open(self, name: str) -> FollowingIndex:
        index = open_index(self._settings, name, self._synonyms, follow=True)
        index.on_answer = metrics.observe
        return index

    async def manifest(self, name: str) -> Manifest:
        """Read the manifest of the version that answers now."""
        self._require(name)

        def read() -> Manifest:
            with open_store(self._settings, name) as store:
                return store.manifest()

        return await asyncio.to_thread(read)

    def versions(self) -> dict[str, int]:
        """Return which version of each open index answered last."""
        return self._kept.versions()

    def _require(self, name: str) -> None:
        """Raise UnknownIndex for what the caller may not see, and note what is asked otherwise."""
        if not may_see(normalize("NFC", name)):
            with open_store(self._settings, name) as store:
                raise store.unknown()
        if visit := current_visit():
            visit.index = name
