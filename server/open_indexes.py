"""The indexes that the server answers from, each opened once and kept open."""

import asyncio
from contextlib import ExitStack
from pathlib import Path
from unicodedata import normalize

from indexer.errors import InvalidCall, UnknownIndex
from indexer.manifest import Manifest
from indexer.settings import IndexerSettings
from indexer.store.engines import index_names, open_store
from retriever.following import FollowingIndex
from retriever.index import open_index
from server import metrics
from server.callers import current_visit, may_see


class OpenIndexes:
    """Indexes by name, opened when they are first asked for; each goes on to what is published.

    One event loop's own. What is deleted meanwhile is closed, and unknown from then on. So are, to a caller
    whose key opens others alone, those that it does not open.
    """

    def __init__(self, settings: IndexerSettings, synonyms: Path | None = None) -> None:
        """Open nothing yet; questions are asked with the synonyms of a file."""
        self._settings = settings
        self._synonyms = synonyms
        self._opening: dict[str, asyncio.Task[FollowingIndex]] = {}
        self._opened = ExitStack()

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
        """
        self._require(name)
        opening = self._opening.get(name)
        if opening is None:
            opening = self._opening[name] = asyncio.create_task(self._open(name))
        try:
            return await asyncio.shield(opening)
        except BaseException:
            if opening.done() and self._opening.get(name) is opening:
                del self._opening[name]
            raise

    async def _open(self, name: str) -> FollowingIndex:
        index = await asyncio.to_thread(open_index, self._settings, name, self._synonyms, follow=True)
        index.on_answer = metrics.observe
        return self._opened.enter_context(index)

    async def manifest(self, name: str) -> Manifest:
        """Read the manifest of the version that answers now."""
        self._require(name)

        def read() -> Manifest:
            with open_store(self._settings, name) as store:
                return store.manifest()

        return await asyncio.to_thread(read)

    def versions(self) -> dict[str, int]:
        """Return which version of each index answered last, of those that are open."""
        return {
            name: opening.result().manifest.version
            for name, opening in self._opening.items()
            if opening.done() and not opening.cancelled() and opening.exception() is None
        }

    def _require(self, name: str) -> None:
        """Raise UnknownIndex for what the caller may not see, and note what is asked otherwise."""
        if not may_see(normalize("NFC", name)):
            with open_store(self._settings, name) as store:
                raise store.unknown()
        if visit := current_visit():
            visit.index = name

    async def close(self) -> None:
        """Close all that is open, behind its last question."""
        await asyncio.gather(*self._opening.values(), return_exceptions=True)
        await asyncio.to_thread(self._opened.close)
