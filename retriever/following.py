"""An open index that follows the current version, for servers.

The pointer is read between questions, and a new version is opened when it is published. One version answers
a question from beginning to end. A superseded version is closed after its last question.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Self, TypeVar

from base.errors import ResourceError
from base.notes import Note
from indexer.errors import EngineRefused, EngineUnreachable, UnknownIndex, VersionGone
from indexer.versions.manifest import Manifest
from indexer.versions.store import LOCAL_ENGINES, IndexStore, Pointer
from retriever.opening.worker_threads import WorkerThreads

if TYPE_CHECKING:
    from retriever.index import SearchIndex

LOOKED_EVERY_S = 2.0  # interval between reads of a cluster's pointer, and between attempts that fail
PAUSES_S = (0.5, 1.0, 2.0, 4.0)  # between attempts to replace a deleted version

T = TypeVar("T")
P = ParamSpec("P")


@dataclass(slots=True, eq=False)
class _Opened:
    """An open version, and the number of questions in progress."""

    index: "SearchIndex"
    questions: int = 0
    superseded: bool = False


class FollowingIndex:
    """An index kept open for many questions; the current version answers each.

    If a newer version cannot be opened, the previous one continues to answer, and its results have a note.
    Threads and event loops may ask concurrently.
    """

    def __init__(self, store: IndexStore, open_version: Callable[[], "SearchIndex"]) -> None:
        self._store = store
        self._open = open_version
        self._lock = Lock()  # protects the current version and its count of questions
        self._moving = Lock()  # held by the one thread that reads the pointer or opens a version
        self._current = _Opened(open_version())
        self._look_at = 0.0 if store.engine in LOCAL_ENGINES else time.monotonic() + LOOKED_EVERY_S
        self._threads = WorkerThreads("follow")
        self._shared = ExitStack()
        self.on_answer: Callable[[object], None] = lambda _: None  # called with each result

    @property
    def manifest(self) -> Manifest:
        """The manifest of the version that answered last."""
        return self._current.index.manifest

    async def ask(self, question: Callable[["SearchIndex"], Awaitable[T]]) -> T:
        """Ask the current version; if it is deleted in the meantime, ask the next one from the start.

        Raises:
            UnknownIndex: the index was deleted.
            IndexClosed: it was closed.
        """
        await self._look_in_time()
        gone: set[Pointer] = set()
        while True:
            async with self._asked() as opened:
                try:
                    answer = await question(opened.index)
                except VersionGone:
                    if opened.index.pointer in gone:
                        raise
                    gone.add(opened.index.pointer)
                else:
                    self.on_answer(answer)
                    return answer
            await self._threads.run(self._leave, opened)

    async def run(
        self, function: Callable[Concatenate["SearchIndex", P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Call a synchronous function with the current version, in one of its threads; raises as `ask`."""
        return await self.ask(lambda version: version.run(function, *args, **kwargs))

    @asynccontextmanager
    async def held(self) -> AsyncIterator["SearchIndex"]:
        """Keep the current version open for a block that asks several questions.

        Raises:
            UnknownIndex: the index was deleted.
            IndexClosed: it was closed.
        """
        await self._look_in_time()
        async with self._asked() as opened:
            yield opened.index

    async def _look_in_time(self) -> None:
        if time.monotonic() < self._look_at or self._moving.locked():
            return
        if self._store.engine in LOCAL_ENGINES:
            await self._threads.run(self._look)
        else:  # opening from a cluster may take long; the open version answers in the meantime
            self._look_at = time.monotonic() + LOOKED_EVERY_S
            self._threads.begin(self._look_unawaited)

    @asynccontextmanager
    async def _asked(self) -> AsyncIterator[_Opened]:
        """Keep the current version open for one question."""
        with self._lock:
            opened = self._current
            opened.questions += 1
        try:
            yield opened
        finally:
            with self._lock:
                opened.questions -= 1
                last = opened.superseded and not opened.questions
            if last:
                await asyncio.to_thread(opened.index.close)  # also if this index was closed in the meantime

    def _look(self) -> None:
        """Open the current version; callers that arrive in the meantime use the previous one.

        Raises:
            UnknownIndex: the index was deleted.
        """
        if not self._moving.acquire(blocking=False):
            return
        try:
            self._follow(self._current.index)
        finally:
            self._moving.release()

    def _look_unawaited(self) -> None:
        """Read the pointer in the background, and log errors, which no caller would see."""
        try:
            self._look()
        except UnknownIndex:  # the next question raises it
            pass
        except Exception as error:  # noqa: BLE001 - the open version continues to answer
            self._log("pointer not followed", repr(error))

    def _follow(self, current: "SearchIndex") -> None:
        try:
            if self._store.pointer() != current.pointer:
                self._store.require_current()
                self._go_on()
            current.notes = ()
        except UnknownIndex:
            raise
        except EngineUnreachable:
            pass  # the question decides whether it fails
        except (ResourceError, OSError) as error:
            self._look_at = time.monotonic() + LOOKED_EVERY_S
            before, version = current.notes, current.manifest.version
            reason = f"the current version cannot be opened ({error})"
            current.notes = (Note("older_version", version=version, reason=reason),)
            if current.notes != before:
                self._log("version not opened", str(error))

    def _log(self, what: str, reason: str) -> None:
        from base.logs import get_logger  # a search on the command line does not need it

        get_logger("index").warning(what, index=self.manifest.name, reason=reason)

    def _leave(self, gone: _Opened) -> None:
        """Replace a deleted version, unless another thread has done so; retry with pauses."""
        with self._moving:
            for pause in (*PAUSES_S, None):
                if self._current is not gone:
                    return
                try:
                    self._go_on()
                except (EngineUnreachable, EngineRefused):  # a node may be down for a moment
                    if pause is None:
                        raise
                    time.sleep(pause)

    def _go_on(self) -> None:
        opened = _Opened(self._open())
        with self._lock:
            before, self._current = self._current, opened
            before.superseded = True
            last = not before.questions
        if last:
            before.index.close()

    def own(self, shared: ExitStack) -> None:
        """Take ownership of the resources that versions share; `close` closes them."""
        self._shared = shared

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Wait for running questions, and close all versions."""
        self._threads.close()
        with self._shared:
            self._current.index.close()
