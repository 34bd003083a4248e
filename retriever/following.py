"""An open index that goes on to the version that answers: what a server keeps open.

Between two questions the pointer is looked at, and where another version answers, that one is opened. A
question is asked of one version from its beginning to its end. A version is closed behind its last question.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Self, TypeVar

from base.errors import ResourceError
from indexer.errors import EngineRefused, EngineUnreachable, UnknownIndex, VersionGone
from indexer.versions.manifest import Manifest
from indexer.versions.store import IndexStore, Pointer
from retriever.opening.worker_threads import WorkerThreads

if TYPE_CHECKING:
    from retriever.index import SearchIndex

LOOKED_EVERY_S = 2.0  # at the pointer of an index that a server keeps
TRIED_EVERY_S = 30.0  # to open a version that could not be opened
PAUSES_S = (0.5, 1.0, 2.0, 4.0)  # between tries to leave a version that is gone

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class _Opened:
    """A version, and how many questions are asked of it just now."""

    index: "SearchIndex"
    questions: int = 0
    superseded: bool = False
    gone: bool = False  # as a question was told


class FollowingIndex:
    """An index held open by whoever asks many questions; each is answered by the version current then.

    Where a newer version cannot be opened, the one before goes on answering, and its results have a note.
    Threads and event loops may ask at once.
    """

    def __init__(self, store: IndexStore, open_version: Callable[[], "SearchIndex"]) -> None:
        """Open the version that answers now."""
        self._store = store
        self._open = open_version
        self._lock = Lock()  # of what is current and who uses it
        self._moving = Lock()  # held by the one thread that looks at the pointer or opens a version
        self._current = _Opened(open_version())
        self._look_at = 0.0 if store.capabilities.local else time.monotonic() + LOOKED_EVERY_S
        self._refused: tuple[Pointer | None, float] = (None, 0.0)
        self._threads = WorkerThreads("follow")
        self._shared = ExitStack()
        self.on_answer: Callable[[object], None] = lambda _: None  # told of whatever a question gave

    @property
    def manifest(self) -> Manifest:
        """What the version says of itself that answered last."""
        return self._current.index.manifest

    async def ask(self, question: Callable[["SearchIndex"], Awaitable[T]]) -> T:
        """Ask the version that answers now; where it goes away meanwhile, ask the next from the start.

        Raises:
            UnknownIndex: the index was deleted.
            IndexClosed: it was closed.
        """
        await self._look_in_time()
        gone: set[Pointer] = set()
        while True:
            async with self._asked() as opened:
                if not opened.gone:
                    try:
                        answer = await question(opened.index)
                    except VersionGone:
                        if opened.index.pointer in gone:
                            raise
                        opened.gone = True
                    else:
                        self.on_answer(answer)
                        return answer
                gone.add(opened.index.pointer)
            await self._threads.run(self._leave, opened)

    @asynccontextmanager
    async def held(self) -> AsyncIterator["SearchIndex"]:
        """Keep the version that answers now open for a block that asks it more than once.

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
        if self._store.capabilities.local:
            await self._threads.run(self._look)
        else:  # a server may take its time, and the version that is open may answer meanwhile
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
                await asyncio.to_thread(opened.index.close)  # also where this index was closed meanwhile

    def _look(self) -> None:
        """Go on to the version that answers; who comes while another is at it asks the one before.

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
        """Look while the version that is open answers; nobody else would tell of an error."""
        try:
            self._look()
        except UnknownIndex:  # the question will tell
            pass
        except Exception as error:  # noqa: BLE001 - the version that is open goes on answering
            self._log("pointer not followed", repr(error))

    def _follow(self, current: "SearchIndex") -> None:
        try:
            pointer = self._store.pointer()
        except (EngineUnreachable, EngineRefused):  # the question will tell whether that is the end
            return
        except (ResourceError, OSError) as error:
            reason = f"which one is the current cannot be told ({error})"
            if self._note(current, reason):
                self._log("pointer not read", str(error))
            return
        if pointer == current.pointer:
            current.notes = ()
            return
        refused, until = self._refused
        if pointer == refused and time.monotonic() < until:
            return
        try:
            self._store.require_current()
            self._go_on()
        except UnknownIndex:
            raise
        except (ResourceError, OSError) as error:
            self._refused = (pointer, time.monotonic() + TRIED_EVERY_S)
            self._note(current, f"the one published since cannot be opened ({error})")
            self._log("version not opened", str(error))

    @staticmethod
    def _note(current: "SearchIndex", reason: str) -> bool:
        """Let the results of a version say why no other answers; tell whether they did not say so before."""
        before = current.notes
        current.notes = (f"answered by version {current.manifest.version}: {reason}",)
        return current.notes != before

    def _log(self, what: str, reason: str) -> None:
        from base.logs import get_logger  # it loads what a search on the command line does not need

        get_logger("index").warning(what, index=self.manifest.name, reason=reason)

    def _leave(self, gone: _Opened) -> None:
        """Go on from a version that is gone, whether or not another thread has done so; patiently."""
        with self._moving:
            for pause in PAUSES_S:
                if self._current is not gone:
                    return
                try:
                    self._go_on()
                except (EngineUnreachable, EngineRefused):  # perhaps a node is lost just now
                    time.sleep(pause)
            if self._current is gone:
                self._go_on()

    def _go_on(self) -> None:
        opened = _Opened(self._open())
        with self._lock:
            before, self._current = self._current, opened
            before.superseded = True
            last = not before.questions
        if last:
            before.index.close()

    def own(self, shared: ExitStack) -> None:
        """Close what the versions share with this index."""
        self._shared = shared

    def __enter__(self) -> Self:
        """Return the index."""
        return self

    def __exit__(self, *_: object) -> None:
        """Wait for what is under way, and close all that is open."""
        self._threads.close()
        with self._shared:
            self._current.index.close()
