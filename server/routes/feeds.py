"""Atom feeds of searches: a reader follows a search by an address that contains the feed's own key.

The address contains ID_SECRET with 256 random bits; the store contains only a hash of it.

| owner | end of the feed |
|---|---|
| a key of the server | with the key |
| a person who signed in | some days after listing the feeds: groups are known only while signed in |
| the operator at this machine, while access is not limited | with the first key, or with sign-in |

Ended feeds are removed when a feed is created.
"""

import asyncio
import json
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Annotated, Any
from urllib.parse import urlencode
from uuid import NAMESPACE_URL, UUID, uuid4, uuid5

from fastapi import APIRouter, Path, Request, Response
from pydantic import Field, StringConstraints
from typing_extensions import TypedDict

from base.errors import InvalidCall
from base.versions import installed_version
from indexer.versions.manifest import Manifest
from retriever.calls import MOST_HITS, IndexSearch
from retriever.index import SearchIndex
from retriever.papers.records import records_of_papers
from retriever.reference import csl_item, web_address, year_of
from server.access.callers import Caller, visit_of
from server.access.keys import SECRET_BYTES, digest_of
from server.addresses import paper_address, public_address
from server.description import Shaped
from server.errors import Forbidden, SearchUnusable, UnknownSearch
from server.html import CHECKED, rendered
from server.kept_searches import may_own, owner_of
from server.limits.gate import Read
from server.services import Services, Shared
from server.store import Store
from server.targets import AskedSearch, admitted_search, open_target
from server.transport.entrance import count_wrong_key

router = APIRouter(tags=["search"])

MEDIA_TYPE = "application/atom+xml"
LONGEST_ABSTRACT = 5_000  # characters
LEAST_ENTRIES = 100  # if it has found as many
# Exact, as papers may be found in the second in which a feed is made.
TIME = "%Y-%m-%dT%H:%M:%S.%fZ"
PAGE_NAMES = {"question": "q", "exclude": "not"}  # fields with another name on the page
UNKNOWN = "no feed has that address; it may have been deleted"
OWNED = (
    "a feed belongs to a key or a person; without one, only the operator at this machine can create a feed"
)
SELECT = """
    SELECT id, key_id, person, indexes, sources, call, searched, version, created, confirmed,
        coalesce((SELECT max(found) FROM feed_papers WHERE feed = id), created),
        (SELECT count(*) FROM feed_papers WHERE feed = id)
    FROM feeds
"""
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
            return FeedCall.model_validate_json(self.call)
        except ValueError as error:
            raise SearchUnusable("the search of the feed cannot be read") from error

    def owner(self, services: Services, address: str) -> Caller | None:
        """Return the owner as a caller with reading rights; None if the feed has ended."""
        if self.key_id:
            key = services.keys.active(self.key_id)
            return replace(Caller.of(key, address), role="reader") if key else None
        if not self.person:
            return None if services.access_is_limited() else Caller(address, "reader")
        ends = datetime.fromisoformat(self.confirmed) + timedelta(days=services.server.kept_searches_days)
        if services.sign_in is None or ends <= datetime.now(UTC):
            return None
        indexes, sources = tuple(json.loads(self.indexes)), tuple(json.loads(self.sources))
        return Caller(address, "reader", person=self.person, indexes=indexes, sources=sources)


class FeedState(TypedDict):
    """A feed of a search; times are in UTC."""

    id: str
    name: str
    question: str
    index: str
    created: str
    updated: Annotated[str, Field(description="when the newest paper was first found")]
    papers: Annotated[int, Field(description="all papers found so far")]


class NewFeed(FeedState):
    """A new feed with its address."""

    address: Annotated[str, Field(description="for a feed reader; contains a key, and is shown only once")]


@router.post("/api/v1/feeds", status_code=201)
async def create_feed(
    request: Request, call: FeedCall, services: Shared
) -> Annotated[dict[str, Any], Shaped(NewFeed)]:
    """Search, and create an Atom feed of the search: an address whose holder sees the feed, nothing else."""
    caller = visit_of(request).caller
    await asyncio.to_thread(_make_room, services, caller)
    async with admitted_search(request, services, call) as asked:
        if call.strategist == "model":  # once: later searches use the same strategy
            call = call.changed(strategy=asked.request.strategy, strategist=None)
        version, papers = await _found(asked)
    feed_id, created = uuid4().hex, _now()
    key = f"{feed_id}_{secrets.token_urlsafe(SECRET_BYTES)}"
    rights = _rights(caller) if caller.person else ("[]", "[]")
    saved = json.dumps({**call.given_values(), "k": call.k}, ensure_ascii=False)
    row = (
        *(feed_id, digest_of(key), owner_of(caller), caller.key_id, caller.person, *rights),
        *(saved, asked.of.index or "", version, created, created),
    )
    insert = f"INSERT INTO feeds VALUES ({', '.join('?' * len(row))})"  # noqa: S608
    await asyncio.to_thread(services.store.change, insert, *row)
    feed = await asyncio.to_thread(_found_again, services.store, feed_id, version, papers, created)
    return {**_state(feed), "address": f"{public_address(services.server, request)}/feeds/{key}.atom"}


def _now() -> str:
    return f"{datetime.now(UTC):{TIME}}"


def _make_room(services: Services, caller: Caller) -> None:
    """Remove the ended feeds of others, and check that a caller may create one.

    The own feeds of a person who is signed in do not end.

    Raises:
        Forbidden: the caller has no key, has not signed in, and is not the operator.
        InvalidCall: the caller, or the server, has as many feeds as allowed.
    """
    if not may_own(caller):
        raise Forbidden(OWNED)
    limits, time, owner = services.server, datetime.now(UTC), owner_of(caller)
    oldest = f"{time - timedelta(days=limits.kept_searches_days):{TIME}}"
    services.store.change(REMOVE_ENDED, owner, time.isoformat(), oldest, services.access_is_limited())
    [(number, own)] = services.store.rows(COUNT, owner)
    if own >= limits.kept_searches:
        raise InvalidCall(f"your limit of {limits.kept_searches} feeds is reached; delete one first")
    if number >= limits.all_kept_searches:
        raise InvalidCall(
            f"the limit of {limits.all_kept_searches} feeds of all callers is reached; "
            "the operator can raise SHRAG_SERVER__ALL_KEPT_SEARCHES"
        )


class FeedList(TypedDict):
    """The caller's feeds, newest first."""

    feeds: list[FeedState]


@router.get("/api/v1/feeds")
async def feeds(request: Request, services: Shared, _: Read) -> Annotated[dict[str, Any], Shaped(FeedList)]:
    """List the caller's feeds, newest first, without their addresses; a person's feeds continue from now."""
    found = await asyncio.to_thread(_of_caller, services.store, visit_of(request).caller)
    return {"feeds": list(map(_state, found))}


def _of_caller(store: Store, caller: Caller) -> list[Feed]:
    """Return a caller's feeds; those of a person have the person's current rights from now on."""
    if not may_own(caller):
        return []
    owner = owner_of(caller)
    if caller.person:
        confirm = "UPDATE feeds SET confirmed = ?, indexes = ?, sources = ? WHERE owner = ?"
        store.change(confirm, _now(), *_rights(caller), owner)
    rows = store.rows(f"{SELECT} WHERE owner = ? ORDER BY created DESC, id DESC", owner)
    return [Feed(*row) for row in rows]


def _rights(caller: Caller) -> tuple[str, str]:
    return json.dumps(caller.indexes), json.dumps(caller.sources)


@router.delete("/api/v1/feeds/{feed_id}", status_code=204)
async def delete_feed(
    feed_id: Annotated[str, Path(description="of a feed", examples=["0f" * 16])],
    request: Request,
    services: Shared,
    _: Read,
) -> Response:
    """Delete a feed; its address ends."""
    caller, delete = visit_of(request).caller, "DELETE FROM feeds WHERE id = ? AND owner = ?"
    own = (feed_id, owner_of(caller))
    if not may_own(caller) or not await asyncio.to_thread(services.store.change, delete, *own):
        raise UnknownSearch("no feed has that id")
    return Response(status_code=204)


@router.get("/feeds/{key}.atom", include_in_schema=False)
async def feed_by_key(request: Request, key: str, services: Shared) -> Response:
    """Return the feed of a key (RFC 4287); the search runs again if the index has another version."""
    feed = await _opened(request, services, key)
    version, records = await _records(request, services, feed)
    if version != feed.version:
        async with services.gate.admit(request, "search"):
            target = await open_target(services, feed.index)
            again = await _found(AskedSearch(services, target, feed.search.request()))
        feed = await asyncio.to_thread(_found_again, services.store, feed.id, *again, _now())
        _, records = await _records(request, services, feed)
    call = feed.search
    document = rendered(
        "feed.xml",
        id=UUID(hex=feed.id).urn,
        title=call.name or call.question,
        index=feed.index,
        page=_page(call, feed.index),
        updated=feed.updated,
        version=installed_version("shrag"),
        public=public_address(services.server, request),
        papers=[_paper(record, feed.index, found) for record, found in records],
    )
    content = document.encode()  # or 304 if the reader has it (RFC 9110, 13.1.2; tags are compared weakly)
    tag = f'"{sha256(content).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": f"private, {CHECKED}"}
    known = request.headers.get("if-none-match", "")
    if known.strip() == "*" or tag in {each.strip().removeprefix("W/") for each in known.split(",")}:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=MEDIA_TYPE, headers=headers)


async def _opened(request: Request, services: Services, key: str) -> Feed:
    """Return the feed of a key, and let its owner be the caller, with the owner's indexes and limits.

    Raises:
        UnknownSearch: the key is wrong, the feed was deleted, or its owner's key has ended.
        TooOften: too many wrong keys.
    """
    visit = visit_of(request)
    address = visit.caller.address
    with suppress(UnknownSearch):
        feed = await asyncio.to_thread(_feed, services.store, "digest", digest_of(key))
        if owner := feed.owner(services, address):
            visit.caller = owner
            return feed
    count_wrong_key(services, Caller(address))
    raise UnknownSearch(UNKNOWN)


def _feed(store: Store, column: str, value: object) -> Feed:
    if row := store.row(f"{SELECT} WHERE {column} = ?", value):
        return Feed(*row)
    raise UnknownSearch(UNKNOWN)


async def _records(
    request: Request, services: Services, feed: Feed
) -> tuple[str, list[tuple[dict[str, Any], str]]]:
    """Return the published version, and the newest papers of the feed that it contains, newest first.

    They are the last 100, or all that came after the feed was made, at most 1,000.
    """
    rows = await asyncio.to_thread(services.store.rows, NEWEST, feed.id, LEAST_ENTRIES, MOST_HITS)
    times: dict[str, str] = dict(rows)

    async def of_version(version: SearchIndex) -> tuple[str, list[tuple[Any, str]]]:
        records = await version.run(records_of_papers, list(times))
        return _version_of(version.manifest), [(record, times[record["doc_id"]]) for record in records]

    async with services.gate.admit(request, "read"):
        return await (await services.indexes.get(feed.index)).ask(of_version)


async def _found(asked: AskedSearch) -> tuple[str, list[str]]:
    """Search the published version; return it and the papers found."""
    result, manifest = await asked.search()
    return _version_of(manifest), [hit.doc_id for hit in result.listed]


def _found_again(store: Store, feed_id: str, version: str, papers: Sequence[str], time: str) -> Feed:
    """Add the new papers of a search; known ones keep their times, also those of another process.

    Raises:
        UnknownSearch: the feed was deleted.
    """
    with store.changing() as database:
        database.execute("UPDATE feeds SET version = ? WHERE id = ?", (version, feed_id))
        database.executemany(
            "INSERT OR IGNORE INTO feed_papers SELECT id, ?, ? FROM feeds WHERE id = ?",
            [(paper, time, feed_id) for paper in reversed(papers)],
        )
    return _feed(store, "id", feed_id)


def _version_of(manifest: Manifest) -> str:
    return f"{manifest.version} {manifest.published}"


def _state(feed: Feed) -> dict[str, Any]:
    call, shown = feed.search, ("id", "index", "created", "updated", "papers")
    named = {"name": call.name or call.question, "question": call.question}
    return named | {name: getattr(feed, name) for name in shown}


def _paper(record: dict[str, Any], index: str, found: str) -> dict[str, Any]:
    """Return an entry of a feed; ids contain no addresses, so they stay the same if the server moves."""
    item, doc_id = csl_item(record), str(record["doc_id"])
    address = paper_address(doc_id, index)
    published = ", ".join(filter(None, (item.get("container-title"), year_of(item))))
    return {
        "urn": uuid5(NAMESPACE_URL, address).urn,
        "title": item.get("title") or doc_id,
        "found": found,
        "authors": [str(author) for author in record.get("authors") or ()],  # as written, not split
        "address": address,
        "web": web_address(record),
        "summary": "\n\n".join(filter(None, (published, item.get("abstract", "")[:LONGEST_ABSTRACT]))),
    }


def _page(call: FeedCall, index: str) -> str:
    """Return the address of the search on the page (page/asked.js)."""
    given = {PAGE_NAMES.get(name, name): value for name, value in call.given_values().items()}
    strategy = given.get("strategy") and json.dumps(given["strategy"], ensure_ascii=False)
    literal = not call.conditions and "1"
    unshown = {"conditions": None, "name": None} | ({"k": None} if call.k == MOST_HITS else {})
    values = {**given, "strategy": strategy, "literal": literal, **unshown, "index": index}
    return f"/?{urlencode({name: value for name, value in values.items() if value}, doseq=True)}"
