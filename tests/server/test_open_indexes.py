"""Indexes are opened before they are asked for, closed when they are deleted or too many; builds are seen."""

import asyncio
import shutil
import time
from contextlib import asynccontextmanager

import pytest

from indexer.errors import IndexClosed, UnknownIndex
from indexer.settings import IndexerSettings
from indexer.versions.store.build_folder import BuildFolder
from indexer.versions.store.folder import FolderStore
from retriever.index import open_index
from retriever.search import SearchRequest, search
from retriever.settings import RetrieverSettings
from server import indexes as module
from server.indexes import OpenIndexes
from tests.generator.sample_index import NAME
from tests.indexer.made_corpora import build, paper, write_jsonl
from tests.server.access.test_keys import bearer
from tests.server.loading import PAPERS, publish_edition
from tests.server.running import add_key, application, probe, wait_for

NAMES = ("first", "second", "third")


@pytest.fixture
def settings(tmp_path):
    made = IndexerSettings(home=tmp_path / "home", workers=1)
    for name in NAMES:
        publish_edition(made, name, 1)
    return made


async def asked(index):
    found = await index.ask(
        lambda version: search(version, SearchRequest("quokka", "or"), RetrieverSettings())
    )
    return len(found.hits)


@asynccontextmanager
async def kept(settings, most):
    indexes = OpenIndexes(settings, None, most=most)
    try:
        yield indexes
    finally:
        await indexes.close()


async def closed(index):
    """Wait until an index is closed."""
    while True:
        try:
            await asked(index)
        except IndexClosed:
            return True
        await asyncio.sleep(0.02)


def test_of_too_many_the_one_that_was_not_asked_for_longest_is_closed(settings):
    async def use():
        async with kept(settings, 2) as indexes:
            held = {name: await asyncio.create_task(indexes.get(name)) for name in NAMES}
            assert await closed(held["first"])
            assert set(indexes.versions()) == {"second", "third"}
            assert await asked(held["second"]) == PAPERS
            assert await asyncio.create_task(indexes.get("first")) is not held["first"]

    asyncio.run(use())


def test_indexes_that_do_not_open_take_no_place_of_others(settings):
    async def use():
        async with kept(settings, 2) as indexes:
            for number in range(5):
                with pytest.raises(UnknownIndex):
                    await asyncio.create_task(indexes.get(f"unknown-{number}"))
            first = await asyncio.create_task(indexes.get("first"))
            await asyncio.sleep(0)  # the call lets go of it
            assert await asyncio.create_task(indexes.get("first")) is first

    asyncio.run(use())


def test_an_index_is_not_closed_while_a_call_holds_it(settings):
    async def use():
        async with kept(settings, 1) as indexes:
            may_end = asyncio.Event()

            async def call():
                index = await indexes.get("first")
                await may_end.wait()
                return index, await asked(index)

            calling = asyncio.create_task(call())
            await asyncio.create_task(indexes.get("second"))
            await asyncio.create_task(indexes.get("third"))
            may_end.set()
            index, hits = await calling
            assert hits == PAPERS
            assert await indexes.get("first") is index or await closed(index)

    asyncio.run(use())


def test_who_ask_at_once_wait_for_one_opening_and_who_leaves_ends_it_for_nobody(settings, monkeypatch):
    opened = []

    def open_slowly(settings, name, *given, **options):
        opened.append(name)
        time.sleep(0.2)
        return open_index(settings, name, *given, **options)

    monkeypatch.setattr(module, "open_index", open_slowly)

    async def use():
        async with kept(settings, 2) as indexes:
            calls = [asyncio.create_task(indexes.get("first")) for _ in range(5)]
            await asyncio.sleep(0.05)
            calls[0].cancel()
            found = await asyncio.gather(*calls[1:])
            assert len(set(map(id, found))) == 1
            assert opened == ["first"]

    asyncio.run(use())


def test_a_server_is_ready_when_its_indexes_are_open_and_until_it_stops(settings, monkeypatch):
    monkeypatch.setattr("server.indexes.LOOKED_EVERY_S", 0.1)
    files = [FolderStore(settings.home, name).version_path(1) / "manifest.json" for name in NAMES]
    whole = [file.read_bytes() for file in files]
    for file in files:
        file.write_text("{")
    with application(settings.home) as client:
        answer = probe(client)
        assert (answer.status_code, answer.json()["code"]) == (503, "no-index-opens")
        assert f"{NAMES[0]} (index-damaged)" in answer.json()["detail"]
        for file, content in list(zip(files, whole, strict=True))[1:]:
            file.write_bytes(content)
        well = {"status": "ok", "indexes": len(NAMES)}
        some = well | {"errors": ["index-damaged"]}
        named = some | {"unreadable": ["first"]}
        wait_for(lambda: client.get("/readyz").json(), lambda answer: answer == named)
        for indexes, shown in (((), named), (("second",), some)):
            key = add_key(settings.home, indexes=indexes)
            assert client.get("/readyz", headers=bearer(key)).json() == shown
            assert client.get("/readyz").json() == some
        files[0].write_bytes(whole[0])
        wait_for(lambda: client.get("/readyz").json(), lambda answer: answer == well)
        client.app_state["services"].stopping.set()
        assert client.get("/readyz").json()["code"] == "stopping"
        assert client.get("/healthz").status_code == 200


def test_a_first_build_is_seen_with_what_it_has_committed(tmp_path):
    home = tmp_path / "home"
    build(home, write_jsonl(tmp_path / "papers.jsonl", map(paper, range(30))), name=NAME)
    shutil.copytree(home / NAME / "versions" / "000001", home / "new" / "building")
    BuildFolder(home, "new").write_plan({})
    with application(home, address="127.0.0.1") as client:
        seen = {each["name"]: each for each in client.get("/api/v1/status").json()["indexes"]}
    assert seen["new"]["being_indexed"]
    assert seen["new"]["committed_passages"] == seen[NAME]["passages"] > 0
    assert seen["new"]["began"]
    assert (seen[NAME]["being_indexed"], seen[NAME]["committed_passages"]) == (False, None)
