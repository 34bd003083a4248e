"""Open indexes between questions: closed when they are deleted or too many."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Collection
from dataclasses import dataclass
from unicodedata import normalize

from base.errors import ResourceError
from base.logs import get_logger
from retriever.following import FollowingIndex
from server.errors import Stopping
from server.processes.stopping import STOPPING

log = get_logger("server")


@dataclass(slots=True, eq=False)
class _Kept:
    """An index that is open or opening, and the number of tasks that use it."""

    opening: "asyncio.Task[FollowingIndex]"
    holders: int = 0

    @property
    def open(self) -> FollowingIndex | None:
        """The index, once it is open."""
        done = self.opening.done() and not self.opening.cancelled() and self.opening.exception() is None
        return self.opening.result() if done else None


class KeptIndexes:
    """Open indexes by name, for one event loop.

    The task that gets an index, like a call of the server, holds it until the task ends. Above `most`, the
    least recently used index is closed as soon as no task holds it.
    """

    def __init__(self, opened: Callable[[str], FollowingIndex], most: int, stopping: asyncio.Event) -> None:
        """`opened` opens an index, in a thread; nothing is open yet."""
        self._opened = opened
        self._most = most
        self._stopping = stopping
        self._kept: OrderedDict[str, _Kept] = OrderedDict()  # least recently used first
        self._closing: set[asyncio.Task[None]] = set()

    async def get(self, name: str) -> FollowingIndex:
        """Return an open index; concurrent callers share one opening.

        Raises:
            ResourceError: as `open_index`.
            Stopping: the server stops before it is open.
        """
        name = normalize("NFC", name)
        kept = self._kept.get(name) or self._begin(name)
        self._kept.move_to_end(name)
        self._hold(kept)
        if not kept.opening.done():
            stops = asyncio.ensure_future(self._stopping.wait())
            try:
                await asyncio.wait((kept.opening, stops), return_when=asyncio.FIRST_COMPLETED)
            finally:
                stops.cancel()
        if not kept.opening.done():
            raise Stopping(STOPPING)
        return kept.opening.result()

    def versions(self) -> dict[str, int]:
        """Return the version of each open index that answered last."""
        return {name: index.manifest.version for name, kept in self._kept.items() if (index := kept.open)}

    def close_all_but(self, names: Collection[str]) -> None:
        """Close the other indexes if no task holds them; they were deleted."""
        for name, kept in list(self._kept.items()):
            if name not in names and not kept.holders:
                self._close(name, kept)

    def _begin(self, name: str) -> _Kept:
        kept = self._kept[name] = _Kept(asyncio.create_task(asyncio.to_thread(self._opened, name)))

        def ended(opening: "asyncio.Task[FollowingIndex]") -> None:
            if opening.cancelled() or opening.exception() is not None:  # the next call tries again
                self._forget(name, kept)
            self._close_surplus()

        kept.opening.add_done_callback(ended)
        return kept

    def _hold(self, kept: _Kept) -> None:
        def let_go(_: object) -> None:
            kept.holders -= 1
            self._close_surplus()

        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - of a coroutine
        kept.holders += 1
        task.add_done_callback(let_go)

    def _close_surplus(self) -> None:
        surplus = len(self._kept) - self._most
        if surplus > 0:
            free = [(name, kept) for name, kept in self._kept.items() if not kept.holders]
            for name, kept in free[:surplus]:
                self._close(name, kept)

    def _forget(self, name: str, kept: _Kept) -> None:
        if self._kept.get(name) is kept:
            del self._kept[name]

    def _close(self, name: str, kept: _Kept) -> None:
        """Remove an open index; it is closed in the background, which waits for its threads."""
        if index := kept.open:
            self._forget(name, kept)
            closing = asyncio.create_task(asyncio.to_thread(_close_quietly, index))
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        """Close all open indexes after their last question."""
        await asyncio.gather(*(kept.opening for kept in self._kept.values()), return_exceptions=True)
        for name, kept in list(self._kept.items()):
            self._close(name, kept)
        await asyncio.gather(*self._closing)


def _close_quietly(index: FollowingIndex) -> None:
    try:
        with index:
            pass
    except (ResourceError, OSError) as error:
        log.warning("index not closed", index=index.manifest.name, reason=repr(error))
