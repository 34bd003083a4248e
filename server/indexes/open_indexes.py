"""The indexes that the server answers from, opened before they are asked for where that can be."""

import asyncio
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from unicodedata import normalize

from base.errors import InvalidCall, Remedy, ResourceError, first_names
from base.logs import get_logger
from base.remedies import describe_error
from indexer.errors import UnknownIndex
from indexer.settings import IndexerSettings
from indexer.versions.manifest import Manifest
from indexer.versions.store.build_folder import BuildFolder
from indexer.versions.store.engines import index_names, open_store
from retriever.following import FollowingIndex
from retriever.index import open_index
from server.access.callers import current_visit, may_see
from server.indexes.kept_indexes import KeptIndexes
from server.monitoring import metrics

OPENED_AT_START = 3
LOOKED_EVERY_S = 10.0  # for indexes that were deleted or can be opened again
TRIED_EVERY_S = 2.0  # to open what the server starts with, where that is not known yet
LISTED_FOR_S = 1.0  # a list of the indexes counts

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
        self._names: list[str] = []  # as they were listed last
        self._listed_at = -math.inf
        self._listing: asyncio.Task[list[str]] | None = None
        self.trouble: Exception | None = None  # why they could not be listed
        self.opens_none = False  # though there are some, none of those that questions are expected for
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
            listing = (self._listing,) if self._listing else ()
            await asyncio.gather(looking, *listing, return_exceptions=True)
            await self._kept.close()

    async def _look(self) -> None:
        while True:
            try:
                names = await self._listed(anew=True)
                await self._open_expected(names)
                self._kept.close_all_but(names)
            except (ResourceError, OSError) as error:  # calls will tell
                log.warning("indexes not listed", reason=describe_error(error))
            except Exception as error:
                log.exception("indexes not looked at", reason=repr(error))
            await asyncio.sleep(LOOKED_EVERY_S if self.started else TRIED_EVERY_S)

    async def _open_expected(self, names: list[str]) -> None:
        """Open what questions are expected for; once that was tried, what could not be opened."""
        default = self._settings.name
        expected = [default] if default else names[: min(OPENED_AT_START, self._most)]
        wanted = [name for name in expected if not self.started or name in self.failures]
        opening = (asyncio.create_task(self._kept.get(name)) for name in wanted)
        found = await asyncio.gather(*opening, return_exceptions=True)
        known, self.failures = (
            self.failures,
            {name: error for name, error in zip(wanted, found, strict=True) if isinstance(error, Exception)},
        )
        for name, error in self.failures.items():
            if name not in known:
                log.warning("index not opened", index=name, reason=describe_error(error))
        self.opens_none = bool(names) and all(name in self.failures for name in expected)
        self.started = True

    @property
    def count(self) -> int:
        """How many there were when they were listed last."""
        return len(self._names)

    async def names(self, *, anew: bool = False) -> list[str]:
        """Name the indexes that have a published version and are there for the caller, in order.

        As they were at most a second ago. Raises as `index_names`.
        """
        return list(filter(may_see, await self._listed(anew=anew)))

    async def knows(self, name: str) -> bool:
        """Tell whether an index of a name is there for the caller, also one that was made just now."""
        return name in await self.names() or name in await self.names(anew=True)

    async def _listed(self, *, anew: bool = False) -> list[str]:
        """List the indexes; those who ask at once wait for one listing."""
        if not anew and time.monotonic() < self._listed_at + LISTED_FOR_S:
            return self._names
        if self._listing is None:
            self._listing = asyncio.create_task(self._list())
        return await asyncio.shield(self._listing)

    async def _list(self) -> list[str]:
        try:
            self._names = await asyncio.to_thread(index_names, self._settings)
        except Exception as error:
            self.trouble = error
            raise
        else:
            self.trouble, self._listed_at = None, time.monotonic()
            return self._names
        finally:
            self._listing = None

    async def chosen(self, name: str | None) -> str:
        """Return the name of the index that is meant: without a name, the only one there is.

        Raises:
            UnknownIndex: there is none.
            InvalidCall: there are several.
        """
        if name := name or self._settings.name:
            return name
        names = await self.names() or await self.names(anew=True)
        if not names:
            raise UnknownIndex("there are no indexes yet", remedy="make one: shrag index PATH --name NAME")
        if len(names) > 1:
            raise InvalidCall(f"there are {len(names)} indexes: {first_names(names)}; say which is meant")
        return names[0]

    async def get(self, name: str) -> FollowingIndex:
        """Return an open index; those who ask at once wait for one opening.

        Raises:
            ResourceError: as `open_index`.
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
            BuildFolder.of(self._settings.home, name)
            raise UnknownIndex(
                f"no index {name!r}",
                remedy=Remedy.CREATE,
                index=name,
                there=list(filter(may_see, self._names)),
            )
        if visit := current_visit():
            visit.index = name
