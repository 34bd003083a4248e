"""Kept searches for papers, which can be resumed after a stop, a kill or on another day: rows of the store.

An id is 128 random bits, and only the caller who started a search can see it. A running search has a lease,
which its process renews: after a kill, the search can be resumed as soon as the lease has ended. Above the
limits, the least recently used searches are removed.

A row has the summary with the request, the state, and the result of a search that has ended: a state contains
neither a model's order of the papers nor the citation counts of an index.
"""

import asyncio
import json
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Annotated, Any, Self

from pydantic import Field, ValidationError

from base.errors import InvalidCall
from base.logs import get_logger
from base.notes import Note, NoteCodes, with_codes
from base.records import adapter
from generator.budgets import Spent
from generator.finding.calls import FindCall, FindRequest
from generator.finding.result import partial_result
from generator.finding.state import FindingState
from generator.tracing import ended
from server.access.callers import Caller
from server.errors import SearchRunning, SearchUnusable, StoreUnusable, UnknownSearch
from server.settings import ServerSettings
from server.store import Store

MOST_BYTES = 16_000_000  # of one search: about ten thousand papers, which take seconds to read
LEASE_S = 15.0
WRITTEN_EVERY_S = 1.0
SHARE = 20  # writing takes at most 1/20 of the time, except for the lease
NOT_WRITABLE = "the server's store cannot be written; see its log"
REMOVE_OLD = """
    DELETE FROM searches WHERE running_until <= :now AND id IN (
        SELECT id FROM (
            SELECT id, updated, owner,
                count(*) OVER own AS number, sum(length(state) + length(result)) OVER own AS bytes,
                count(*) OVER every AS all_number,
                sum(length(state) + length(result)) OVER every AS all_bytes
            FROM searches
            WINDOW own AS (PARTITION BY owner ORDER BY updated DESC, id), every AS (ORDER BY updated DESC, id)
        ) WHERE updated < :oldest
            OR number + (owner = :beginner) > :most OR bytes > :most_bytes
            OR all_number + 1 > :all_most OR all_bytes > :all_bytes
    )
"""
SAVE_FIRST = "INSERT INTO searches VALUES (:id, :owner, :updated, :until, :head, :state, :result)"
SAVE = """
    UPDATE searches SET updated = :updated, running_until = :until, head = :head, state = :state,
        result = :result WHERE id = :id AND running_until = :lease
"""

log = get_logger("server")


@dataclass(frozen=True, slots=True)
class SearchHead:
    """The summary of a kept search; times are ISO 8601, in UTC."""

    id: str
    request: Annotated[dict[str, Any], Field(description="the fields of the call")]
    created: str
    updated: str = ""
    known: int = 0
    relevant: int = 0
    spent: Spent = field(default_factory=Spent)
    complete: bool = False
    notes: tuple[str, ...] = ()
    note_codes: NoteCodes = field(default_factory=list)


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


def kept_call(saved: Mapping[str, Any]) -> FindCall:
    """Return the call of a kept search; raise SearchUnusable if it is invalid."""
    try:
        return FindCall.model_validate(saved)
    except ValidationError as error:
        raise SearchUnusable("the request of the kept search cannot be read") from error


def resuming_call(call: FindCall, saved: Mapping[str, Any]) -> FindCall:
    """Return a call that resumes a search; its omitted fields have the saved values.

    Raises:
        InvalidCall: the call names another question, index or source.
        SearchUnusable: the saved call is invalid.
    """
    given = {name: value for name, value in call.given_values().items() if name != "resume"}
    kept, whole = kept_call(saved), kept_call({**saved, **given})
    if whole.question != kept.question:
        raise InvalidCall(Note("kept_of_another_question", question=str(kept.question)[:200]))
    if (whole.index, whole.sources) != (kept.index, kept.sources):
        names = ", ".join(kept.sources)
        raise InvalidCall(
            Note("kept_in_sources", sources=names) if names else Note("kept_in_index", index=str(kept.index))
        )
    return whole


class RunningSearch:
    """A kept search that runs here; nobody else can resume it until its lease ends.

    `async with` saves the newest state in parallel, and the last one at the end. `failure` is the reason if
    that is not possible; the search continues.
    """

    def __init__(self, store: Store, owner: str, head: SearchHead, *, failure: str = "") -> None:
        """Take a search; a new one has no row until it is saved first."""
        self.id, self.head, self.failure = head.id, head, failure
        self.state: FindingState | None = None
        self.result = b""  # JSON, of a search that has ended
        self.lease: float | None = None  # its end; None of a search without a row, 0 if it was released
        self._store, self._owner = store, owner
        self._threshold = 0.0
        self._ends = asyncio.Event()
        self._writing: asyncio.Task[None] | None = None

    def ask(self, call: FindCall, asked: FindRequest, target: Mapping[str, Any]) -> None:
        """Set the request: the fields of a call, and the index or sources that it is asked of."""
        named = {name: value for name, value in call.given_values().items() if name != "resume"}
        self.head = replace(self.head, request=named | {name: each for name, each in target.items() if each})
        self.state = self.state or FindingState(asked.question)
        self._threshold = asked.threshold

    async def __aenter__(self) -> Self:
        """Save the initial state, so that the id is valid."""
        if not self.failure:
            await self._write()
            self._writing = asyncio.create_task(self._write_on())
        return self

    async def __aexit__(self, *_: object) -> None:
        """Save the last state and release the search."""
        await self.end()

    def note(self, state: FindingState) -> None:
        """Replace the state; it is saved soon."""
        self.head = replace(self.head, complete=False, notes=(), note_codes=[])
        self.state, self.result = state, b""

    async def end(self, result: Mapping[str, Any] | None = None) -> None:
        """Save the last state and the result, and release the search."""
        if result and not self._ends.is_set():
            notes, codes = tuple(result["notes"]), list(result["note_codes"])
            self.head = replace(self.head, complete=result["complete"], notes=notes, note_codes=codes)
            self.result = json.dumps(result).encode()
        self._ends.set()
        if self._writing:
            await ended(self._writing)

    async def _write_on(self) -> None:
        pause, is_last = WRITTEN_EVERY_S, False
        while not is_last:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ends.wait(), pause)
            is_last, began = self._ends.is_set(), time.monotonic()
            await self._write(is_last=is_last)
            pause = min(max(WRITTEN_EVERY_S, SHARE * (time.monotonic() - began)), LEASE_S / 3)

    async def _write(self, *, is_last: bool = False) -> None:
        try:
            await asyncio.to_thread(self.save, is_last=is_last)
            self.failure = ""
        except (StoreUnusable, ValueError) as error:
            self.failure = NOT_WRITABLE if isinstance(error, StoreUnusable) else str(error)
            log.warning("search not kept", reason=str(error))

    def save(self, *, is_last: bool = False) -> None:
        """Replace the content, and renew the lease or end it.

        Raises:
            StoreUnusable: the store cannot be written.
            ValueError: the content is too large, or another call has continued or deleted the search since.
        """
        found, result = self.state or FindingState(""), self.result
        state = found.as_json()
        if len(state) + len(result) > MOST_BYTES:
            raise ValueError(f"it is larger than {MOST_BYTES:,} bytes")
        relevant = len(found.relevant(self._threshold))
        now = datetime.now(UTC).isoformat(timespec="milliseconds")  # orders two searches within a second
        head = replace(self.head, updated=now, known=len(found.papers), relevant=relevant, spent=found.spent)
        until = 0.0 if is_last else time.time() + LEASE_S
        row = {"id": self.id, "owner": self._owner, "updated": now, "until": until, "lease": self.lease}
        row |= {"head": adapter(SearchHead).dump_json(head), "state": state, "result": result}
        with self._store.changing() as database:
            if not database.execute(SAVE_FIRST if self.lease is None else SAVE, row).rowcount:
                raise ValueError("another call has continued or deleted it")
        self.lease = until

    def release(self) -> None:
        """End the lease of a search that was not run to its end; without a writable store it ends later."""
        if self.lease:
            release = "UPDATE searches SET running_until = 0 WHERE id = ? AND running_until = ?"
            with suppress(StoreUnusable):
                self._store.change(release, self.id, self.lease)
            self.lease = 0.0


class KeptSearches:
    """The kept searches of a store. Its methods are called in threads, and raise StoreUnusable."""

    def __init__(self, store: Store, limits: ServerSettings) -> None:
        """Keep the store and the limits of number, size and age."""
        self._store, self._limits = store, limits

    def begin(self, caller: Caller) -> RunningSearch | None:
        """Prepare a new search, which is there when it is first saved; None if the settings keep none.

        Searches beyond the limits of age, number and size are removed for it, the least recently used first;
        running ones stay.
        """
        limits, now = self._limits, datetime.now(UTC)
        if not (limits.kept_searches and limits.all_kept_searches):
            return None
        bounds = {
            "now": now.timestamp(),
            "oldest": (now - timedelta(days=limits.kept_searches_days)).isoformat(),
            "beginner": owner_of(caller),
            "most": limits.kept_searches,
            "most_bytes": limits.kept_searches_mb * 1_000_000,
            "all_most": limits.all_kept_searches,
            "all_bytes": limits.all_kept_searches_mb * 1_000_000,
        }
        head, failure = SearchHead(secrets.token_hex(16), {}, now.isoformat(timespec="milliseconds")), ""
        try:
            with self._store.changing() as database:
                database.execute(REMOVE_OLD, bounds)
        except StoreUnusable as error:
            log.warning("search not kept", reason=error.what)
            failure = NOT_WRITABLE
        return RunningSearch(self._store, owner_of(caller), head, failure=failure)

    def resume(self, caller: Caller, search_id: str) -> RunningSearch:
        """Take the lease of a search, and read it; without a writable store it is not saved further.

        Raises:
            UnknownSearch: the caller has no search with that id.
            SearchRunning: it is running.
            SearchUnusable: the row cannot be read.
        """
        lease, failure = time.time() + LEASE_S, ""
        take = "UPDATE searches SET running_until = ? WHERE id = ? AND owner = ? AND running_until <= ?"
        try:
            self._change_ended(take, caller, search_id, lease)
        except StoreUnusable:
            lease, failure = 0.0, NOT_WRITABLE
        search = RunningSearch(self._store, owner_of(caller), SearchHead(search_id, {}, ""), failure=failure)
        search.lease = lease
        try:
            search.head, search.state, result, _ = self._read(caller, search_id)
        except BaseException:
            search.release()
            raise
        search.result = json.dumps(result).encode() if result else b""
        return search

    def _read(
        self, caller: Caller, search_id: str
    ) -> tuple[SearchHead, FindingState, dict[str, Any] | None, bool]:
        """Return summary, state, result if the search has ended, and whether it is running."""
        row = self._store.row(
            "SELECT head, state, result, running_until FROM searches WHERE id = ? AND owner = ?",
            *(search_id, owner_of(caller)),
        )
        if row is None:
            raise UnknownSearch("no kept search has that id")
        head, state, result, until = row
        try:
            found = json.loads(result) if result else None
            return (
                adapter(SearchHead).validate_json(head),
                FindingState.of_json(state),
                found,
                until > time.time(),
            )
        except ValueError as error:
            log.warning("search not read", search=search_id, reason=type(error).__name__)
            raise SearchUnusable(f"the kept search {search_id} cannot be read; it can be deleted") from None

    def state(self, caller: Caller, search_id: str) -> bytes:
        """Return the state of a search as JSON; raises as `read`."""
        return self._read(caller, search_id)[1].as_json()

    def read(self, caller: Caller, search_id: str) -> tuple[SearchHead, dict[str, Any]]:
        """Return the summary of a search, and its result, of an interrupted one ordered by rules.

        Raises:
            UnknownSearch: the caller has no search with that id.
            SearchUnusable: the row cannot be read.
        """
        head, state, result, running = self._read(caller, search_id)
        asked = kept_call(head.request).request()
        if result is None:
            found = partial_result(state, asked, notes=with_codes(head.notes, head.note_codes))
            result = replace(found, complete=head.complete).as_tree_record()
        return head, {**result, "running": running}

    def heads(self, caller: Caller) -> list[tuple[SearchHead, bool]]:
        """Return a caller's searches, newest first, and whether each is running; damaged ones are left out.

        Without a key only a caller at this machine gets a list.
        """
        found = []
        statement = "SELECT head, running_until FROM searches WHERE owner = ? ORDER BY updated DESC, id"
        for head, until in self._store.rows(statement, owner_of(caller)) if may_own(caller) else ():
            try:
                found.append((adapter(SearchHead).validate_json(head), until > time.time()))
            except ValueError as error:
                log.warning("search not listed", reason=type(error).__name__)
        return found

    def delete(self, caller: Caller, search_id: str) -> None:
        """Remove a search, even a damaged one.

        Raises:
            UnknownSearch: the caller has no search with that id.
            SearchRunning: it is running.
        """
        delete = "DELETE FROM searches WHERE id = ? AND owner = ? AND running_until <= ?"
        self._change_ended(delete, caller, search_id)

    def _change_ended(self, statement: str, caller: Caller, search_id: str, *values: object) -> None:
        """Change a search that does not run.

        Raises:
            UnknownSearch: the caller has no search with that id.
            SearchRunning: it is running.
        """
        own = (search_id, owner_of(caller))
        if not self._store.change(statement, *values, *own, time.time()):
            if self._store.row("SELECT 1 FROM searches WHERE id = ? AND owner = ?", *own) is None:
                raise UnknownSearch("no kept search has that id")
            raise SearchRunning("the search is running; stop it first")
