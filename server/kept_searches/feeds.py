"""Feeds of searches: a saved search, the key in its address, and when each paper was first found.

The address of a feed contains its key, ID_SECRET with 256 random bits; the store contains only a hash of it.

| owner | end of the feed |
|---|---|
| a key of the server | with the key |
| a person who signed in | some days after listing the feeds: groups are known only while signed in |
| the operator at this machine, while access is not limited | with the first key, or with sign-in |

Ended feeds are removed when a feed is created.
"""

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated
from uuid import uuid4

from pydantic import Field, StringConstraints

from base.errors import InvalidCall
from retriever.calls import MOST_HITS, IndexSearch
from retriever.search_records.record import now
from server.access.callers import Caller
from server.access.keys import SECRET_BYTES, digest_of
from server.errors import Forbidden, SearchUnusable, UnknownSearch
from server.kept_searches.searches import may_own, owner_of
from server.settings import ServerSettings
from server.store import Store

TIME = "%Y-%m-%dT%H:%M:%SZ"
UNKNOWN = "no feed has that address; it may have been deleted"
OWNED = (
    "a feed belongs to a key or a person; without one, only the operator at this machine can create a feed"
)
COLUMNS = (
    "id, key_id, person, indexes, sources, call, searched, version, created, confirmed, "
    "coalesce((SELECT max(found) FROM feed_papers WHERE feed = id), created), "
    "(SELECT count(*) FROM feed_papers WHERE feed = id)"
)
REMOVE_ENDED = """
    DELETE FROM feeds WHERE owner != ?1 AND CASE
        WHEN key_id != '' THEN NOT EXISTS (
            SELECT 1 FROM keys
            WHERE keys.id = feeds.key_id AND revoked IS NULL AND (expires IS NULL OR expires > ?2)
        )
        WHEN person != '' THEN confirmed <= ?3
        ELSE ?4
    END
"""
SELECT = f"SELECT {COLUMNS} FROM feeds"  # noqa: S608
K_OF_OLD_FEEDS = 10  # stored without k
LEAST_ENTRIES = 100  # if it has found as many
NEWEST = """
    SELECT paper, found FROM feed_papers WHERE feed = ?1 ORDER BY found DESC, rowid DESC
    LIMIT min(?3, max(?2, (
        SELECT count(*) FROM feed_papers JOIN feeds ON id = feed WHERE feed = ?1 AND found > created
    )))
"""
COUNT = "SELECT count(*), (SELECT count(*) FROM feeds WHERE owner = ?) FROM feeds"


class FeedCall(IndexSearch):
    """A search to follow, by default all of its papers."""

    k: Annotated[
        int, Field(ge=1, le=MOST_HITS, description="Papers to find; default: all.", examples=[100])
    ] = MOST_HITS
    name: Annotated[
        str,
        StringConstraints(strip_whitespace=True),
        Field(max_length=200, description="Name of the feed; default: the question."),
    ] = ""


@dataclass(frozen=True, slots=True)
class Feed:
    """A saved search, without its papers; times are ISO 8601, in UTC."""

    id: str
    key_id: str  # of the owner; "" for a person and the operator
    person: str  # pseudonym of the owner
    indexes: str  # rights of a person as JSON, as of a caller
    sources: str
    call: str  # fields of the search as JSON
    index: str
    version: str  # of the index that was searched last
    created: str
    confirmed: str  # when the rights of a person were known last
    updated: str  # when the newest paper was first found
    papers: int

    @property
    def search(self) -> FeedCall:
        """The search; raises SearchUnusable if it is invalid."""
        try:
            return FeedCall.model_validate({"k": K_OF_OLD_FEEDS, **json.loads(self.call)})
        except (ValueError, TypeError) as error:
            raise SearchUnusable("the search of the feed cannot be read") from error


class Feeds:
    """The feeds of a store. Its methods are called in threads, and raise StoreUnusable."""

    def __init__(self, store: Store, limits: ServerSettings) -> None:
        """Keep the store and the limits of number and age."""
        self._store, self._limits = store, limits

    def make_room(self, caller: Caller, *, access_is_limited: bool) -> None:
        """Remove the ended feeds of others, and check that a caller may create one.

        The own feeds of a person who is signed in do not end.

        Raises:
            Forbidden: the caller has no key, has not signed in, and is not the operator.
            InvalidCall: the caller, or the server, has as many feeds as allowed.
        """
        if not may_own(caller):
            raise Forbidden(OWNED)
        limits, now_, owner = self._limits, datetime.now(UTC), owner_of(caller)
        oldest = now_ - timedelta(days=limits.kept_searches_days)
        self._store.change(REMOVE_ENDED, owner, now_.isoformat(), f"{oldest:{TIME}}", access_is_limited)
        [(number, own)] = self._store.rows(COUNT, owner) or [(0, 0)]
        if own >= limits.kept_searches:
            raise InvalidCall(f"your limit of {limits.kept_searches} feeds is reached; delete one first")
        if number >= limits.all_kept_searches:
            raise InvalidCall(
                f"the limit of {limits.all_kept_searches} feeds of all callers is reached; "
                "the operator can raise SHRAG_SERVER__ALL_KEPT_SEARCHES"
            )

    def add(
        self, caller: Caller, call: FeedCall, index: str, version: str, papers: Sequence[str]
    ) -> tuple[str, Feed]:
        """Create a feed of the papers found; return its key, which is stored nowhere, and the feed."""
        feed_id, created = uuid4().hex, now()
        key = f"{feed_id}_{secrets.token_urlsafe(SECRET_BYTES)}"
        rights = (json.dumps(caller.indexes), json.dumps(caller.sources)) if caller.person else ("[]", "[]")
        saved = json.dumps({**call.given_values(), "k": call.k}, ensure_ascii=False)
        row = (
            *(feed_id, digest_of(key), owner_of(caller), caller.key_id, caller.person, *rights),
            *(saved, index, version, created, created),
        )
        self._store.change(f"INSERT INTO feeds VALUES ({', '.join('?' * len(row))})", *row)  # noqa: S608
        return key, self.found_again(feed_id, version, papers)

    def of_caller(self, caller: Caller) -> list[Feed]:
        """Return a caller's feeds, newest first; those of a person who is signed in continue.

        They have the person's current rights from now on.
        """
        if not may_own(caller):
            return []
        owner = owner_of(caller)
        if caller.person:
            self._store.change(
                "UPDATE feeds SET confirmed = ?, indexes = ?, sources = ? WHERE owner = ?",
                *(now(), json.dumps(caller.indexes), json.dumps(caller.sources), owner),
            )
        rows = self._store.rows(f"{SELECT} WHERE owner = ? ORDER BY created DESC, id DESC", owner)
        return [Feed(*row) for row in rows]

    def person_of(self, feed: Feed, address: str) -> Caller | None:
        """Return the owner of a person's feed as a caller; None if the feed has ended."""
        confirmed = datetime.fromisoformat(feed.confirmed).replace(tzinfo=UTC)
        if confirmed + timedelta(days=self._limits.kept_searches_days) <= datetime.now(UTC):
            return None
        indexes, sources = tuple(json.loads(feed.indexes)), tuple(json.loads(feed.sources))
        return Caller(address, "reader", person=feed.person, indexes=indexes, sources=sources)

    def opened_by(self, key: str) -> Feed:
        """Return the feed of a key, found by its hash.

        Raises:
            UnknownSearch: the key is wrong, or the feed was deleted.
        """
        return self._feed("digest", digest_of(key))

    def found_again(self, feed_id: str, version: str, papers: Sequence[str]) -> Feed:
        """Add the new papers of a search; known ones keep their times, also those of another process.

        Raises:
            UnknownSearch: the feed was deleted.
        """
        with self._store.changing() as database:
            database.execute("UPDATE feeds SET version = ? WHERE id = ?", (version, feed_id))
            time = now()
            database.executemany(
                "INSERT OR IGNORE INTO feed_papers SELECT id, ?, ? FROM feeds WHERE id = ?",
                [(paper, time, feed_id) for paper in reversed(papers)],
            )
        return self._feed("id", feed_id)

    def newest(self, feed: Feed) -> dict[str, str]:
        """Return the times of the newest papers by id, newest first, and by rank of their search.

        They are the last 100, or all that came after the feed was made, at most 1,000.
        """
        return dict(self._store.rows(NEWEST, feed.id, LEAST_ENTRIES, MOST_HITS))

    def delete(self, caller: Caller, feed_id: str) -> None:
        """Remove a feed; its address ends.

        Raises:
            UnknownSearch: the caller has no feed with that id.
        """
        statement = "DELETE FROM feeds WHERE id = ? AND owner = ?"
        if not may_own(caller) or not self._store.change(statement, feed_id, owner_of(caller)):
            raise UnknownSearch("no feed has that id")

    def _feed(self, column: str, value: object) -> Feed:
        if row := self._store.row(f"{SELECT} WHERE {column} = ?", value):
            return Feed(*row)
        raise UnknownSearch(UNKNOWN)
