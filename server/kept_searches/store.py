"""Kept searches for papers, which can be resumed after a stop, a kill or on another day: rows of the store.

An id is 128 random bits, and only the caller who started a search can see it. A running search has a lease,
which its process renews: after a kill, the search can be resumed as soon as the lease has ended. Above the
limits, the least recently used searches are removed.
"""

import secrets
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Any

from pydantic import ValidationError

from base.errors import InvalidCall
from base.logs import get_logger
from base.notes import Note
from generator.finding.calls import FindCall
from server.access.callers import Caller
from server.errors import SearchRunning, SearchUnusable, StoreUnusable, UnknownSearch
from server.kept_searches.content import SearchContent, SearchHead, content_of, head_of
from server.settings import ServerSettings
from server.store import Store

MOST_BYTES = 16_000_000  # of one search: about ten thousand papers, which take seconds to read
LEASE_S = 15.0
PATIENCE_S = 2.0  # wait for a search that is just ending
LOOKED_EVERY_S = 0.05
REMOVE_OLD = """
    DELETE FROM searches WHERE running_until <= :now AND id IN (
        SELECT id FROM (
            SELECT id, updated, owner,
                count(*) OVER own AS number, sum(length(state)) OVER own AS bytes,
                count(*) OVER every AS all_number, sum(length(state)) OVER every AS all_bytes
            FROM searches
            WINDOW own AS (PARTITION BY owner ORDER BY updated DESC, id), every AS (ORDER BY updated DESC, id)
        ) WHERE updated < :oldest
            OR number + (owner = :beginner) > :most OR bytes > :most_bytes
            OR all_number + 1 > :all_most OR all_bytes > :all_bytes
    )
"""

log = get_logger("server")


def owner_of(caller: Caller) -> str:
    """Name the owner of a caller's searches and feeds: by key, person, local operator, or address."""
    if caller.key_id:
        return f"key-{caller.key_id}"
    if caller.person:
        return f"person-{caller.person}"
    if caller.is_local:
        return "local"
    return f"address-{blake2b(caller.counted_as.encode(), digest_size=16).hexdigest()}"


def may_own(caller: Caller) -> bool:
    """Check whether what a caller owns is its own: several people may share an address."""
    return caller.is_known or caller.is_local


def fields_of(call: FindCall) -> dict[str, Any]:
    """Return the fields that a call sets, to be saved with the search."""
    return {name: value for name, value in call.given_values().items() if name != "resume"}


def kept_call(saved: Mapping[str, Any]) -> FindCall:
    """Return the call of a kept search; raise SearchUnusable if it is invalid."""
    try:
        return FindCall.model_validate(saved)
    except ValidationError as error:
        raise SearchUnusable("the request of the kept search cannot be read") from error


def resuming_call(call: FindCall, saved: Mapping[str, Any]) -> FindCall:
    """Return a call whose omitted fields have the values of a kept search.

    Args:
        call: the call that resumes the search.
        saved: the fields of the kept search.

    Raises:
        InvalidCall: the call names another question, index or source.
        SearchUnusable: the saved call is invalid.
    """
    kept, whole = kept_call(saved), kept_call({**saved, **fields_of(call)})
    if whole.question != kept.question:
        raise InvalidCall(Note("kept_of_another_question", question=str(kept.question)[:200]))
    if (whole.index, whole.sources) != (kept.index, kept.sources):
        names = ", ".join(kept.sources)
        raise InvalidCall(
            Note("kept_in_sources", sources=names) if names else Note("kept_in_index", index=str(kept.index))
        )
    return whole


class RunningSearch:
    """A kept search that is running here; nobody else can resume it until its lease ends."""

    def __init__(self, store: Store, search_id: str, owner: str, lease: float = 0.0) -> None:
        """`lease` is the end of the current one, 0 of a new search, which has no row yet."""
        self.id, self._store, self._owner, self._lease = search_id, store, owner, lease

    def save(self, kept: SearchContent) -> None:
        """Replace the content and renew the lease.

        Raises:
            StoreUnusable: the store cannot be written.
            ValueError: the content is too large, or another call has continued the search since.
        """
        head, state, ranking = kept.as_json()
        if len(state) > MOST_BYTES:
            raise ValueError(f"it is larger than {MOST_BYTES:,} bytes")
        lease, row = time.time() + LEASE_S, (kept.head.updated, head, state, ranking)
        if not self._lease:
            insert = "INSERT INTO searches VALUES (?, ?, ?, ?, ?, ?, ?)"
            self._store.change(insert, self.id, self._owner, kept.head.updated, lease, head, state, ranking)
        elif not self._store.change(
            "UPDATE searches SET running_until = ?, updated = ?, head = ?, state = ?, ranking = ? "
            "WHERE id = ? AND running_until = ?",
            *(lease, *row, self.id, self._lease),
        ):
            raise ValueError("another call has continued it")
        self._lease = lease

    def release(self) -> None:
        """End the lease; a second call does nothing."""
        if self._lease:
            end = "UPDATE searches SET running_until = 0 WHERE id = ? AND running_until = ?"
            try:
                self._store.change(end, self.id, self._lease)
            except StoreUnusable as error:  # the lease ends by itself
                log.warning("search not released", reason=error.what)
            self._lease = 0.0


class KeptSearches:
    """The kept searches of a store. Its methods are called in threads, and raise StoreUnusable."""

    def __init__(self, store: Store, limits: ServerSettings) -> None:
        """Keep the store and the limits of number, size and age."""
        self._store, self._limits = store, limits

    def resume(self, caller: Caller, search_id: str) -> tuple[RunningSearch | None, SearchContent]:
        """Take the lease of a search, if the store is writable, and read it.

        Raises:
            UnknownSearch, SearchUnusable: as `read`.
            SearchRunning: it is running.
        """
        content, owner = self.read(caller, search_id), owner_of(caller)
        lease = time.time() + LEASE_S
        take = "UPDATE searches SET running_until = ? WHERE id = ? AND owner = ? AND running_until <= ?"
        try:
            self._when_ended(take, caller, search_id, lease)
        except StoreUnusable:
            return None, content
        search = RunningSearch(self._store, search_id, owner, lease)
        try:
            return search, self.read(caller, search_id)
        except BaseException:
            search.release()
            raise

    def read(self, caller: Caller, search_id: str) -> SearchContent:
        """Read a search.

        Raises:
            UnknownSearch: the caller has no search with that id.
            SearchUnusable: the row cannot be read.
        """
        row = self._store.row(
            "SELECT head, state, ranking, running_until FROM searches WHERE id = ? AND owner = ?",
            *(search_id, owner_of(caller)),
        )
        if row is None:
            raise UnknownSearch("no kept search has that id")
        head, state, ranking, until = row
        try:
            return content_of(head, state, ranking, running=until > time.time())
        except ValueError as error:
            log.warning("search not read", search=search_id, reason=type(error).__name__)
            raise SearchUnusable(f"the kept search {search_id} cannot be read; it can be deleted") from None

    def heads(self, caller: Caller) -> list[tuple[SearchHead, bool]]:
        """Return a caller's searches, newest first, and whether each is running; damaged ones are left out.

        Without a key only a caller at this machine gets a list.
        """
        if not may_own(caller):
            return []
        found = []
        for head, until in self._store.rows(
            "SELECT head, running_until FROM searches WHERE owner = ? ORDER BY updated DESC, id",
            owner_of(caller),
        ):
            try:
                found.append((head_of(head), until > time.time()))
            except ValueError as error:
                log.warning("search not listed", reason=type(error).__name__)
        return found

    def delete(self, caller: Caller, search_id: str) -> None:
        """Remove a search, even a damaged one.

        Raises:
            UnknownSearch: the caller has no search with that id.
            SearchRunning: it is running.
        """
        self._when_ended(
            "DELETE FROM searches WHERE id = ? AND owner = ? AND running_until <= ?", caller, search_id
        )

    def begin(self, caller: Caller) -> RunningSearch:
        """Prepare a new search, which is there when it is first saved.

        Searches beyond the limits of age, number and size are removed for it, the least recently used first;
        running ones stay.
        """
        limits, now = self._limits, datetime.now(UTC)
        bounds = {
            "now": now.timestamp(),
            "oldest": (now - timedelta(days=limits.kept_searches_days)).isoformat(),
            "beginner": owner_of(caller),
            "most": limits.kept_searches,
            "most_bytes": limits.kept_searches_mb * 1_000_000,
            "all_most": limits.all_kept_searches,
            "all_bytes": limits.all_kept_searches_mb * 1_000_000,
        }
        with self._store.changing() as database:
            database.execute(REMOVE_OLD, bounds)
        return RunningSearch(self._store, secrets.token_hex(16), owner_of(caller))

    def _when_ended(self, statement: str, caller: Caller, search_id: str, *values: object) -> None:
        """Change a search that does not run, waiting for one that is just ending.

        Raises:
            UnknownSearch: the caller has no search with that id.
            SearchRunning: it is running.
        """
        own, ends = (search_id, owner_of(caller)), time.monotonic() + PATIENCE_S
        while not self._store.change(statement, *values, *own, time.time()):
            if self._store.row("SELECT 1 FROM searches WHERE id = ? AND owner = ?", *own) is None:
                raise UnknownSearch("no kept search has that id")
            if time.monotonic() > ends:
                raise SearchRunning("the search is running; stop it first")
            time.sleep(LOOKED_EVERY_S)
