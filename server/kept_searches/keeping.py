"""A search for papers that is saved while it runs: the newest state is written in parallel."""

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Self

from base.files.durable import cause_of
from base.logs import get_logger
from generator.finding.state import FindingState
from generator.tracing.progress import ended
from server.kept_searches.file import SearchFile, order_of
from server.kept_searches.store import LockedSearch

WRITTEN_EVERY_S = 1.0
SHARE = 20  # writing takes at most 1/20 of the time

log = get_logger("server")


class Keeping:
    """Save the state of a search; `async with` waits for the last write.

    `failure` reports a failed write; the search continues.
    """

    def __init__(self, search: LockedSearch, kept: SearchFile, threshold: float) -> None:
        """Take ownership of the search, released at the end, and its initial content."""
        self.id = search.id
        self.failure = ""
        self._search, self._kept, self._threshold = search, kept, threshold
        self._changed, self._ends = asyncio.Event(), asyncio.Event()
        self._writing: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Write the initial state, so that the id is valid."""
        try:
            await self._write()
        except BaseException:
            self._search.release()
            raise
        self._writing = asyncio.create_task(self._write_on())
        return self

    async def __aexit__(self, *_: object) -> None:
        """Write the last state and release the search."""
        await self.end()

    def note(self, state: FindingState) -> None:
        """Replace the state; it is written soon."""
        self._kept = replace(self._kept, state=state, order=())
        self._changed.set()

    async def end(self, result: Mapping[str, Any] | None = None) -> None:
        """Write the last state and the summary of the result, and release the search."""
        if not self._ends.is_set():
            if result:
                notes, codes = tuple(result["notes"]), list(result["note_codes"])
                head = replace(self._kept.head, complete=result["complete"], notes=notes, note_codes=codes)
                self._kept = replace(self._kept, head=head, order=order_of(result["papers"]))
            self._ends.set()
            self._changed.set()
        if self._writing:
            await ended(self._writing)

    async def _write_on(self) -> None:
        try:
            while not self._ends.is_set():
                await self._changed.wait()
                self._changed.clear()
                began = time.monotonic()
                await self._write()
                pause = max(WRITTEN_EVERY_S, SHARE * (time.monotonic() - began))
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._ends.wait(), pause)
            await self._write()
        finally:
            self._search.release()

    async def _write(self) -> None:
        try:
            await asyncio.to_thread(self._write_now, self._kept)
        except (OSError, ValueError) as error:
            self.failure = cause_of(error) if isinstance(error, OSError) else "it cannot be written as JSON"
            log.warning("search not kept", reason=self.failure)
        else:
            self.failure = ""

    def _write_now(self, kept: SearchFile) -> None:
        self._search.save(replace(kept, head=kept.head.with_state(kept.state, self._threshold)))
