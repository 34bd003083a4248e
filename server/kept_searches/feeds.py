"""Feeds of searches: a saved search, the key in its address, and when each paper was first found.

| below HOME/.feeds/ | content |
|---|---|
| ID.json | owner, call, hash of the key, times of the papers |
| ID.lock | locked while the file changes |

The address of a feed contains its key, ID_SECRET with 256 random bits; the file contains only a hash of it.

| owner | end of the feed |
|---|---|
| a key of the server | with the key |
| a person who signed in | some days after listing the feeds: groups are known only while signed in |
| the operator at this machine, while access is not limited | with the first key, or with sign-in |

Ended feeds are removed when a feed is created.
"""

import os
import re
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from hmac import compare_digest
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

from pydantic import TypeAdapter, ValidationError

from base.errors import InvalidCall
from base.files.durable import cause_of, write_durably
from base.files.regular_files import read_regular
from base.logs import get_logger
from indexer.versions.server_files import FEEDS
from retriever.search_records.first_found import FirstFound, now
from server.access.callers import Caller
from server.access.keys import NOBODY, SECRET_BYTES, digest_of
from server.errors import Forbidden, SearchUnusable, UnknownSearch
from server.kept_searches.store import folder_of, locked, remove
from server.settings import ServerSettings

FOLDER = FEEDS
KEY = re.compile(r"([0-9a-f]{32})_[A-Za-z0-9_-]{43}")
ID = re.compile(r"[0-9a-f]{32}")
MOST_BYTES = 16_000_000  # of a file: about 300,000 papers
UNKNOWN = "no feed has that address; it may have been deleted"
OWNED = (
    "a feed belongs to a key or a person; without one, only the operator at this machine can create a feed"
)

log = get_logger("server")


@dataclass(frozen=True, slots=True)
class Feed:
    """A saved search with the times of its papers; times are ISO 8601, in UTC."""

    id: str
    digest: str  # SHA-256 of the key, in hexadecimal digits
    owner: str  # as `folder_of`
    key_id: str  # of the owner; "" for a person and the operator
    call: dict[str, Any]  # fields of the search
    created: str
    found: FirstFound
    version: str = ""  # of the index that was searched last
    person: str = ""  # pseudonym of the owner
    indexes: tuple[str, ...] = ()  # rights of a person, as of a caller
    sources: tuple[str, ...] = ()
    confirmed: str = ""  # when these rights were known last
    format: Literal[1] = 1


def make_feed(caller: Caller, call: dict[str, Any], index: str) -> tuple[str, Feed]:
    """Create a feed without papers; return its key, which cannot be recovered later, and the feed."""
    feed_id, created = uuid4().hex, now()
    key = f"{feed_id}_{secrets.token_urlsafe(SECRET_BYTES)}"
    found = FirstFound(searched=created, index=index, reported=created, papers={})
    feed = Feed(feed_id, digest_of(key).hex(), folder_of(caller), caller.key_id, call, created, found)
    return key, _confirmed(feed, caller)


class Feeds:
    """The feeds of a home folder, shared by processes. Its methods are called in threads."""

    def __init__(self, home: Path, limits: ServerSettings) -> None:
        """`home`: the parent of the folder, which is created with the first feed."""
        self._root, self._limits = home / FOLDER, limits

    def check_room(self, caller: Caller) -> None:
        """Check that a caller may create a feed.

        Raises:
            Forbidden: the caller has no key, has not signed in, and is not the operator.
            InvalidCall: the caller, or the server, has as many feeds as allowed.
        """
        if not _may_own(caller):
            raise Forbidden(OWNED)
        limits, everything = self._limits, self.all()
        if sum(each.owner == folder_of(caller) for each in everything) >= limits.kept_searches:
            raise InvalidCall(f"your limit of {limits.kept_searches} feeds is reached; delete one first")
        if len(everything) >= limits.all_kept_searches:
            raise InvalidCall(
                f"the limit of {limits.all_kept_searches} feeds of all callers is reached; "
                "the operator can raise SHRAG_SERVER__ALL_KEPT_SEARCHES"
            )

    def add(self, caller: Caller, feed: Feed) -> None:
        """Save a new feed.

        Raises:
            Forbidden, InvalidCall: as `check_room`.
            SearchUnusable: it cannot be saved.
        """
        self.check_room(caller)
        try:
            self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_durably(self._path(feed.id), _adapter().dump_json(feed))
        except OSError as error:
            raise SearchUnusable(f"the feed was not saved: {cause_of(error)}") from None

    def of_caller(self, caller: Caller) -> list[Feed]:
        """Return a caller's feeds, newest first; damaged ones are left out."""
        own = [each for each in self.all() if each.owner == folder_of(caller)] if _may_own(caller) else []
        return sorted(own, key=lambda feed: (feed.created, feed.id), reverse=True)

    def confirm(self, person: Caller) -> None:
        """Let the feeds of a person who is signed in continue, with the person's current rights.

        Raises:
            SearchUnusable: a feed cannot be saved.
        """
        for feed in self.of_caller(person):
            with suppress(UnknownSearch):  # deleted in the meantime
                self.update(feed.id, lambda saved: _confirmed(saved, person))

    def person_of(self, feed: Feed, address: str) -> Caller | None:
        """Return the owner of a person's feed as a caller; None if the feed has ended."""
        confirmed = datetime.fromisoformat(feed.confirmed or feed.created).replace(tzinfo=UTC)
        ends = confirmed + timedelta(days=self._limits.kept_searches_days)
        if ends <= datetime.now(UTC):
            return None
        return Caller(address, "reader", person=feed.person, indexes=feed.indexes, sources=feed.sources)

    def opened_by(self, key: str) -> Feed:
        """Return the feed of a key; the hash of the whole key is compared in constant time.

        Raises:
            UnknownSearch: the key is wrong, or the feed was deleted.
            SearchUnusable: the file cannot be read.
        """
        form, feed = KEY.fullmatch(key), None
        if form:
            with suppress(UnknownSearch):
                feed = self._read(form[1])
        same = compare_digest(digest_of(key), bytes.fromhex(feed.digest) if feed else NOBODY)
        if not same or feed is None:
            raise UnknownSearch(UNKNOWN)
        return feed

    def update(self, feed_id: str, change: Callable[[Feed], Feed]) -> Feed:
        """Change a feed while no other process does, and return it.

        Raises:
            UnknownSearch: it was deleted.
            SearchRunning: another process changes it for too long.
            SearchUnusable: it cannot be read or saved.
        """
        path = self._path(feed_id)
        try:
            lock = locked(path)
            try:
                feed = self._read(feed_id)
                changed = change(feed)
                if changed != feed:
                    write_durably(path, _adapter().dump_json(changed))
            finally:
                os.close(lock)
        except OSError as error:
            raise SearchUnusable(f"the feed was not saved: {cause_of(error)}") from None
        return changed

    def delete(self, caller: Caller, feed_id: str) -> None:
        """Remove a feed; its address ends.

        Raises:
            UnknownSearch: the caller has no feed with that id.
            SearchRunning: another process changes it for too long.
            SearchUnusable: it cannot be removed.
        """
        owned = ID.fullmatch(feed_id) and _may_own(caller) and self._read(feed_id).owner == folder_of(caller)
        if not owned:
            raise UnknownSearch("no feed has that id")
        self.remove(feed_id)

    def remove(self, feed_id: str) -> None:
        """Remove a feed, regardless of its owner. Raises SearchRunning and SearchUnusable as `delete`."""
        path = self._path(feed_id)
        try:
            remove(path, locked(path), folder_too=False)
        except OSError as error:
            raise SearchUnusable(f"the feed was not deleted: {cause_of(error)}") from None

    def all(self) -> list[Feed]:
        """Return the feeds of all owners; damaged ones are left out."""
        found = []
        with suppress(FileNotFoundError):
            for path in self._root.glob("*.json"):
                if ID.fullmatch(path.stem):
                    with suppress(UnknownSearch, SearchUnusable):
                        found.append(self._read(path.stem))
        return found

    def _read(self, feed_id: str) -> Feed:
        path = self._path(feed_id)
        try:
            feed = _adapter().validate_json(read_regular(path, MOST_BYTES))
            bytes.fromhex(feed.digest)
            datetime.fromisoformat(feed.confirmed or feed.created)
        except FileNotFoundError:
            raise UnknownSearch(UNKNOWN) from None
        except (OSError, ValidationError, ValueError) as error:
            log.warning("feed not read", file=str(path), reason=type(error).__name__)
            raise SearchUnusable("the feed cannot be read") from None
        return replace(feed, id=feed_id)

    def _path(self, feed_id: str) -> Path:
        return self._root / f"{feed_id}.json"


def _may_own(caller: Caller) -> bool:
    return caller.is_known or caller.is_local


def _confirmed(feed: Feed, caller: Caller) -> Feed:
    """Return a feed with the rights of its owner, if it is a person."""
    if not caller.person:
        return feed
    return replace(
        feed, person=caller.person, indexes=caller.indexes, sources=caller.sources, confirmed=now()
    )


@cache
def _adapter() -> TypeAdapter[Feed]:
    return TypeAdapter(Feed)
