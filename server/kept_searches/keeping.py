"""A search for papers that is saved while it runs: the newest state is written in parallel."""

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Self

from base.logs import get_logger
from generator.finding.state import FindingState
from generator.tracing.progress import ended
from server.errors import StoreUnusable
from server.kept_searches.content import SearchContent, order_of
from server.kept_searches.store import LEASE_S, RunningSearch

WRITTEN_EVERY_S = 1.0
RENEWED_EVERY_S = LEASE_S / 3
SHARE = 20  # writing takes at most 1/20 of the time, except for the lease
NOT_WRITABLE = "the server's store cannot be written; see its log"

log = get_logger("server")


class Keeping:
    """Save the state of a search; `async with` waits for the last write.

    `failure` reports a failed write; the search continues.
    """

    def __init__(self, search: RunningSearch, kept: SearchContent, threshold: float) -> None:
        """Take ownership of the search, released at the end, and its initial content."""
        self.id = search.id
        self.failure = ""
        self._search, self._kept, self._threshold = search, kept, threshold
        self._written, self._renewed = kept, 0.0  # the content of the last write, and its time
        self._ends = asyncio.Event()
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

    async def end(self, result: Mapping[str, Any] | None = None) -> None:
        """Write the last state and the summary of the result, and release the search."""
        if not self._ends.is_set():
            if result:
                notes, codes = tuple(result["notes"]), list(result["note_codes"])
                head = replace(self._kept.head, complete=result["complete"], notes=notes, note_codes=codes)
                self._kept = replace(self._kept, head=head, order=order_of(result["papers"]))
            self._ends.set()
        if self._writing:
            await ended(self._writing)

    async def _write_on(self) -> None:
        pause = WRITTEN_EVERY_S
        try:
            while not self._ends.is_set():
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._ends.wait(), pause)
                began = time.monotonic()
                if self._kept is not self._written or began >= self._renewed + RENEWED_EVERY_S:
                    await self._write()
                pause = min(max(WRITTEN_EVERY_S, SHARE * (time.monotonic() - began)), RENEWED_EVERY_S)
        finally:
            await asyncio.to_thread(self._search.release)

    async def _write(self) -> None:
        kept = self._kept
        head = kept.head.with_state(kept.state, self._threshold)
        try:
            await asyncio.to_thread(self._search.save, replace(kept, head=head))
        except StoreUnusable as error:
            self.failure = NOT_WRITABLE
            log.warning("search not kept", reason=error.what)
        except ValueError as error:
            self.failure = "it is too large, or another call has continued it"
            log.warning("search not kept", reason=str(error))
        else:
            self.failure, self._written, self._renewed = "", kept, time.monotonic()
