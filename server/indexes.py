"""The indexes of the server: opened before the first call if possible, closed when deleted or too many."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from unicodedata import normalize

from base.errors import InvalidCall, Remedy, ResourceError, first_names
from base.files.durable import describe_error
from base.logs import get_logger
from base.notes import Note
from indexer.errors import UnknownIndex
from indexer.settings import IndexerSettings
from indexer.versions.manifest import Manifest
from indexer.versions.store.build_folder import BuildFolder
from indexer.versions.store.engines import index_names, open_store
from retriever.following import FollowingIndex
from retriever.index import open_index
from server.access.callers import current_visit, may_see
from server.monitoring import metrics

log = get_logger("server")
OPENED_AT_START = 3
LOOKED_EVERY_S = 10.0  # interval of checks for deleted or recovered indexes
TRIED_EVERY_S = 2.0  # interval of attempts to open the first indexes
LISTED_FOR_S = 1.0  # lifetime of a list of the indexes


@dataclass(slots=True, eq=False)
class _Kept:
    """An index that is open or opening, and the number of tasks that use it."""

    opening: "asyncio.Task[FollowingIndex]"
    holders: int = 0

    @property
    def failed(self) -> bool:
        """Whether it cannot be opened."""
        opening = self.opening
        return opening.done() and (opening.cancelled() or opening.exception() is not None)


class OpenIndexes:
    """Indexes by name, each following its published version, for one event loop.

    The task that gets an index, like a call of the server, holds it until the task ends. Above `most`, the
    least recently used index is closed as soon as no task holds it. A deleted index is closed, and unknown
    from then on. To a caller whose key is restricted to other indexes, an index is unknown too.
    """

    def __init__(self, settings: IndexerSettings, synonyms: Path | None, *, most: int) -> None:
        """Open nothing yet; `synonyms` is a file for all questions."""
        self._settings, self._synonyms, self._most = settings, synonyms, most
        self._kept: dict[str, _Kept] = {}  # least recently used first
        self._closing: set[asyncio.Task[None]] = set()
        self._names: list[str] = []  # of the last listing
        self._listing: asyncio.Task[list[str]] | None = None
        self._listed_at = 0.0
        self.trouble: Exception | None = None  # the error of the last listing
        self.opens_none = False  # there are indexes, but none of the expected ones opens
        self.started = False  # each expected index is open, or failed to open
        self.failures: dict[str, Exception] = {}  # of the expected indexes, by name

    @asynccontextmanager
    async def keeping(self) -> AsyncIterator["OpenIndexes"]:
        """Open the default index, or the first few; close deleted ones; close all at the end."""
        looking = asyncio.create_task(self._look())
        try:
            yield self
        finally:
            looking.cancel()
            await asyncio.gather(looking, return_exceptions=True)
            await self.close()

    async def close(self) -> None:
        """Close all open indexes after their last question."""
        await asyncio.gather(*(kept.opening for kept in self._kept.values()), return_exceptions=True)
        for name in self._open():
            self._close(name)
        await asyncio.gather(*self._closing)

    async def _look(self) -> None:
        while True:
            try:
                names = await self._listed(anew=True)
                await self._open_expected(names)
                for name in self._open().keys() - {*names}:  # they were deleted
                    if not self._kept[name].holders:
                        self._close(name)
            except Exception as error:  # noqa: BLE001 - calls will report it
                log.warning("indexes not looked at", reason=describe_error(error))
            await asyncio.sleep(LOOKED_EVERY_S if self.started else TRIED_EVERY_S)

    async def _open_expected(self, names: list[str]) -> None:
        """Open the expected indexes; later, retry the failed ones."""
        default = self._settings.name
        expected = [default] if default else names[: min(OPENED_AT_START, self._most)]
        wanted = [name for name in expected if not self.started or name in self.failures]
        opening = (asyncio.create_task(self._held(name)) for name in wanted)
        found = await asyncio.gather(*opening, return_exceptions=True)
        failures = {
            name: error for name, error in zip(wanted, found, strict=True) if isinstance(error, Exception)
        }
        for name in failures.keys() - self.failures.keys():
            log.warning("index not opened", index=name, reason=describe_error(failures[name]))
        self.failures = failures
        self.opens_none = bool(names) and all(name in self.failures for name in expected)
        self.started = True

    @property
    def count(self) -> int:
        """Number of indexes in the last listing."""
        return len(self._names)

    async def names(self, *, anew: bool = False) -> list[str]:
        """Return the indexes that have a published version and that the caller may use, in order.

        The list is at most a second old. Raises as `index_names`.
        """
        return list(filter(may_see, await self._listed(anew=anew)))

    async def knows(self, name: str) -> bool:
        """Check whether the caller may use an index of this name, even a new one."""
        return name in await self.names() or name in await self.names(anew=True)

    async def _listed(self, *, anew: bool = False) -> list[str]:
        """List the indexes, at most once a second; concurrent callers share a listing, or its failure."""
        now, listing = time.monotonic(), self._listing
        is_old = anew or self.trouble is not None or now > self._listed_at + LISTED_FOR_S
        if listing is None or (is_old and listing.done()):
            listing = self._listing = asyncio.create_task(asyncio.to_thread(index_names, self._settings))
            self._listed_at = now
        try:
            self._names = await asyncio.shield(listing)
        except Exception as error:
            self.trouble = error
            raise
        self.trouble = None
        return self._names

    async def chosen(self, name: str | None) -> str:
        """Return the name of the chosen index: without a name, the only one.

        Raises:
            UnknownIndex: there are no indexes.
            InvalidCall: there are several.
        """
        if name := name or self._settings.name:
            return name
        names = await self.names() or await self.names(anew=True)
        if not names:
            raise UnknownIndex("there are no indexes yet", remedy="create one: shrag index PATH --name NAME")
        if len(names) > 1:
            raise InvalidCall(Note("name_an_index", number=len(names), names=first_names(names)))
        return names[0]

    async def get(self, name: str) -> FollowingIndex:
        """Return an open index; concurrent callers share one opening, and a call after a failure retries it.

        Raises:
            ResourceError: as `open_index`.
        """
        self._require(name)
        return await self._held(normalize("NFC", name))

    async def _held(self, name: str) -> FollowingIndex:
        kept = self._kept.pop(name, None)
        if kept is None or kept.failed:
            kept = _Kept(asyncio.create_task(asyncio.to_thread(self._opened, name)))
            kept.opening.add_done_callback(lambda _: self._close_surplus())
        self._kept[name] = kept
        kept.holders += 1

        def let_go(_: object) -> None:
            kept.holders -= 1
            self._close_surplus()

        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - of a coroutine
        task.add_done_callback(let_go)
        return await asyncio.shield(kept.opening)

    def _opened(self, name: str) -> FollowingIndex:
        index = open_index(self._settings, name, self._synonyms, follow=True)
        index.on_answer = metrics.observe
        return index

    def _open(self) -> dict[str, FollowingIndex]:
        """Return the open indexes, the least recently used first."""
        opened = {name: kept.opening for name, kept in self._kept.items() if not kept.failed}
        return {name: opening.result() for name, opening in opened.items() if opening.done()}

    def _close_surplus(self) -> None:
        """Forget indexes that failed to open, and close the open ones beyond the limit that no task holds."""
        self._kept = {name: kept for name, kept in self._kept.items() if not kept.failed}
        opened = self._open()
        free = [name for name in opened if not self._kept[name].holders]
        for name in free[: max(0, len(opened) - self._most)]:
            self._close(name)

    def _close(self, name: str) -> None:
        """Remove an open index; it is closed in the background, which waits for its threads."""
        index = self._kept.pop(name).opening.result()
        closing = asyncio.create_task(asyncio.to_thread(_close_quietly, index))
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)

    async def manifest(self, name: str) -> Manifest:
        """Read the manifest of the published version."""
        self._require(name)

        def read() -> Manifest:
            with open_store(self._settings, name) as store:
                return store.manifest()

        return await asyncio.to_thread(read)

    def versions(self) -> dict[str, int]:
        """Return the version of each open index that answered last."""
        return {name: index.manifest.version for name, index in self._open().items()}

    def _require(self, name: str) -> None:
        """Raise UnknownIndex if the caller may not use the index, else record it in the visit."""
        if not may_see(normalize("NFC", name)):
            BuildFolder(self._settings.home, name)
            raise UnknownIndex(
                Note("no_such_index", index=name),
                remedy=Remedy.CREATE,
                index=name,
                there=list(filter(may_see, self._names)),
            )
        if visit := current_visit():
            visit.index = name


def _close_quietly(index: FollowingIndex) -> None:
    try:
        with index:
            pass
    except (ResourceError, OSError) as error:
        log.warning("index not closed", index=index.manifest.name, reason=repr(error))
