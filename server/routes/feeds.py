"""Atom feeds of searches: a reader follows a search by an address that contains the feed's own key."""

import asyncio
import json
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from typing import Annotated, Any
from urllib.parse import urlencode
from uuid import NAMESPACE_URL, UUID, uuid5

from fastapi import APIRouter, Path, Request, Response
from pydantic import Field
from typing_extensions import TypedDict

from base.versions import installed_version
from indexer.versions.manifest import Manifest
from retriever.calls import MOST_HITS
from retriever.index import SearchIndex
from retriever.papers.records import records_of_papers
from retriever.reference import csl_item, web_address, year_of
from server.access.callers import Caller, visit_of
from server.addresses import paper_address, public_address
from server.api.schemas import Shaped
from server.errors import UnknownSearch
from server.html import CHECKED, rendered
from server.kept_searches.feeds import UNKNOWN, Feed, FeedCall
from server.limits.gate import Read
from server.services import Services, Shared
from server.targets import AskedSearch, admitted_search, open_target
from server.transport.entrance import count_wrong_key

router = APIRouter(tags=["search"])

MEDIA_TYPE = "application/atom+xml"
LONGEST_ABSTRACT = 5_000  # characters
PAGE_NAMES = {"question": "q", "exclude": "not"}  # fields with another name on the page


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
    is_limited = services.access_is_limited()
    await asyncio.to_thread(services.feeds.make_room, caller, access_is_limited=is_limited)
    async with admitted_search(request, services, call) as asked:
        if call.strategist == "model":  # once: later searches use the same strategy
            call = call.changed(strategy=asked.request.strategy, strategist=None)
        found = await _found(asked)
        key, feed = await asyncio.to_thread(services.feeds.add, caller, call, asked.of.index or "", *found)
    address = f"{public_address(services.server, request)}/feeds/{key}.atom"
    return {**_state(feed), "address": address}


class FeedList(TypedDict):
    """The caller's feeds, newest first."""

    feeds: list[FeedState]


@router.get("/api/v1/feeds")
async def feeds(request: Request, services: Shared, _: Read) -> Annotated[dict[str, Any], Shaped(FeedList)]:
    """List the caller's feeds, newest first, without their addresses; a person's feeds continue from now."""
    found = await asyncio.to_thread(services.feeds.of_caller, visit_of(request).caller)
    return {"feeds": list(map(_state, found))}


@router.delete("/api/v1/feeds/{feed_id}", status_code=204)
async def delete_feed(
    feed_id: Annotated[str, Path(description="of a feed", examples=["0f" * 16])],
    request: Request,
    services: Shared,
    _: Read,
) -> Response:
    """Delete a feed; its address ends."""
    await asyncio.to_thread(services.feeds.delete, visit_of(request).caller, feed_id)
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
        feed = await asyncio.to_thread(services.feeds.found_again, feed.id, *again)
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


async def _records(
    request: Request, services: Services, feed: Feed
) -> tuple[str, list[tuple[dict[str, Any], str]]]:
    """Return the published version, and the newest papers of the feed that it contains, newest first."""
    times = await asyncio.to_thread(services.feeds.newest, feed)

    async def of_version(version: SearchIndex) -> tuple[str, list[tuple[Any, str]]]:
        records = await version.run(records_of_papers, list(times))
        return _version_of(version.manifest), [(record, times[record["doc_id"]]) for record in records]

    async with services.gate.admit(request, "read"):
        return await (await services.indexes.get(feed.index)).ask(of_version)


async def _opened(request: Request, services: Services, key: str) -> Feed:
    """Return the feed of a key, and let its owner be the caller, with the owner's indexes and limits.

    Raises:
        UnknownSearch: the key is wrong, the feed was deleted, or its owner's key has ended.
        TooOften: too many wrong keys.
    """
    visit = visit_of(request)
    address = visit.caller.address
    with suppress(UnknownSearch):
        feed = await asyncio.to_thread(services.feeds.opened_by, key)
        if owner := _owner(services, feed, address):
            visit.caller = owner
            services.gate.count_open(visit)
            return feed
    count_wrong_key(services, Caller(address))
    raise UnknownSearch(UNKNOWN)


def _owner(services: Services, feed: Feed, address: str) -> Caller | None:
    """Return the owner of a feed as a caller with reading rights; None if the feed has ended."""
    if feed.key_id:
        key = services.keys.active(feed.key_id)
        return replace(Caller.of(key, address), role="reader") if key else None
    if feed.person:
        return services.feeds.person_of(feed, address) if services.sign_in else None
    return None if services.access_is_limited() else Caller(address, "reader")


async def _found(asked: AskedSearch) -> tuple[str, list[str]]:
    """Search the published version; return it and the papers found."""
    result, manifest = await asked.search()
    return _version_of(manifest), [hit.doc_id for hit in result.listed]


def _version_of(manifest: Manifest) -> str:
    return f"{manifest.version} {manifest.published}"


def _state(feed: Feed) -> dict[str, Any]:
    call, shown = feed.search, ("id", "index", "created", "updated", "papers")
    named = {"name": call.name or call.question, "question": call.question}
    return named | {name: getattr(feed, name) for name in shown}


def _page(call: FeedCall, index: str) -> str:
    """Return the address of the search on the page (page/asked.js)."""
    given = {PAGE_NAMES.get(name, name): value for name, value in call.given_values().items()}
    strategy = given.get("strategy") and json.dumps(given["strategy"], ensure_ascii=False)
    literal = not call.conditions and "1"
    unshown = {"conditions": None, "name": None} | ({"k": None} if call.k == MOST_HITS else {})
    values = {**given, "strategy": strategy, "literal": literal, **unshown, "index": index}
    return f"/?{urlencode({name: value for name, value in values.items() if value}, doseq=True)}"
