"""The keys in a running server, read again when the store has changed."""

import asyncio
import os
import secrets
import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from base.logs import get_logger
from server.access.key_store import Kept, KeyStore, Session
from server.access.keys import Key, digest_of, id_of, opens
from server.errors import KeysEmpty, KeysUnreadable

LOOKED_EVERY_S = 0.25  # interval of checks of the store's file
PATIENCE_S = 30.0  # use of the last read keys while another process locks the store
UNSETTLED_NS = 100_000_000  # a file this new may change again without a new time stamp
SESSION_LIFE = timedelta(days=7)

Signature = tuple[int, int, int, int]
UNSETTLED: Signature = (-1, -1, -1, -1)

log = get_logger("server")


class KeyRing:
    """Keys and sessions of a store, for one event loop.

    A change is seen within `LOOKED_EVERY_S`. If the store cannot be read any more, nobody is admitted:
    a damaged store must not restore a revoked key.
    """

    def __init__(self, store: KeyStore, needed_mark: Path | None = None) -> None:
        """Read the store; raise KeysUnreadable if that fails.

        `needed_mark` is a file that is created when a store is first seen. A process that replaces another
        one, and never saw the store, relies on it.
        """
        self.store = store
        self._needed_mark = needed_mark
        self._kept = Kept()
        self._signature: Signature | None = None
        self._next_look = 0.0
        self._trouble: KeysUnreadable | None = None
        self._troubled_since = 0.0
        self._reading = asyncio.Lock()
        self._noting: set[asyncio.Task[None]] = set()
        self._noted: dict[str, date] = {}
        self.needed = False  # there is or was a store
        signature = self._look()
        try:
            self._take(signature, store.read())
        except KeysEmpty as error:  # the server starts; /readyz reports the reason
            self._take(signature, Kept())
            self._trouble = error

    async def find(self, given: str) -> Key | None:
        """Return the key that a caller gave, None if it is invalid.

        Raises:
            KeysUnreadable: the key cannot be checked.
        """
        now = datetime.now(UTC)
        kept = await self._current()
        key_id = id_of(given)
        if key_id is not None and key_id not in kept.keys:  # perhaps just created
            kept = await self._current(at_once=True)
        key = kept.keys.get(key_id or "")
        if not opens(given, key, now) or key is None:
            return None
        if key.last_used != now.date():
            self._note_use(key, now.date())
        return key

    async def find_session(self, token: str) -> Key | None:
        """Return the key of a session, None if it has ended. Raises as `find`."""
        now = datetime.now(UTC)
        digest = digest_of(token)
        kept = await self._current()
        if digest not in kept.sessions:
            kept = await self._current(at_once=True)
        session = kept.sessions.get(digest)
        if session is None or session.expires <= now:
            return None
        return await self.active(session.key_id)

    async def active(self, key_id: str) -> Key | None:
        """Return the key with an id, None if it is unknown, has expired or was revoked. Raises as `find`."""
        key = (await self._current()).keys.get(key_id)
        return key if key and key.state(datetime.now(UTC)) == "active" else None

    async def begin_session(self, key: Key) -> tuple[str, Session]:
        """Start a session and return its token and record."""
        token = secrets.token_urlsafe(32)
        ends = datetime.now(UTC).replace(microsecond=0) + SESSION_LIFE
        session = Session(key.id, min(ends, key.expires) if key.expires else ends)
        await asyncio.to_thread(self.store.begin_session, digest_of(token), session)
        return token, session

    async def end_session(self, token: str) -> None:
        """End a session."""
        await asyncio.to_thread(self.store.end_session, digest_of(token))
        await self._current(at_once=True)

    async def are_needed(self) -> bool:
        """Check whether there is or was a store of keys; an emptied store still requires a key."""
        await self._current()
        return self.needed

    async def trouble(self) -> KeysUnreadable | None:
        """Return the error that prevents checks of keys, or None."""
        try:
            await self._current()
        except KeysUnreadable as error:
            return error
        return None

    async def _current(self, *, at_once: bool = False) -> Kept:
        now = time.monotonic()
        if at_once or now >= self._next_look:
            self._next_look = now + LOOKED_EVERY_S
            signature = self._look()
            self._note_needed(signature)
            if signature != self._signature or self._trouble:
                await self._read_again()
        if self._trouble and not (self._trouble.passing and now - self._troubled_since < PATIENCE_S):
            raise self._trouble
        return self._kept

    async def _read_again(self) -> None:
        async with self._reading:
            signature = self._look()
            if signature == self._signature and not self._trouble:
                return  # another task has read it
            try:
                kept = await asyncio.to_thread(self.store.read)
            except KeysUnreadable as error:
                log.warning("keys unreadable", error=str(error))
                self._troubled_since = self._troubled_since if self._trouble else time.monotonic()
                self._trouble = error
            else:
                self._take(signature, kept)

    def _take(self, signature: Signature | None, kept: Kept) -> None:
        unsettled = signature is not None and time.time_ns() - signature[2] < UNSETTLED_NS
        self._signature = UNSETTLED if unsettled else signature
        self._kept, self._trouble = kept, None
        self._note_needed(signature)

    def _note_needed(self, signature: Signature | None) -> None:
        """Record that keys are needed, and signal it to the other processes."""
        mark = self._needed_mark
        if self.needed:
            return
        self.needed = signature is not None or (mark is not None and mark.exists())
        if self.needed and mark is not None:
            mark.touch()

    def _look(self) -> Signature | None:
        try:
            about = os.stat(self.store.path)  # noqa: PTH116 - no object is made for it on every look
        except OSError:
            return None
        return about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns

    def _note_use(self, key: Key, day: date) -> None:
        """Record the day of use once; a store that is not writable now does no harm."""

        async def note() -> None:
            try:
                await asyncio.to_thread(self.store.note_use, key.id, day)
            except KeysUnreadable as error:
                log.warning("use of a key not noted", key=key.id, error=str(error))

        if self._noted.get(key.id) == day:
            return
        self._noted[key.id] = day
        task = asyncio.create_task(note())
        self._noting.add(task)
        task.add_done_callback(self._noting.discard)
