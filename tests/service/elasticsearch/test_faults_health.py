"""Red and yellow clusters, full disks, read-only indexes, those made otherwise, and a missing plugin."""

import re
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import httpx
import pytest

from indexer.errors import EngineRefused, IndexDamaged, IndexMismatch
from indexer.settings import IndexerSettings
from indexer.versions.cluster import loading
from indexer.versions.manifest import Manifest
from retriever.index import open_index
from tests.service.elasticsearch.faults import (
    NAME,
    Command,
    Signal,
    answers,
    build,
    clean,
    command,
    contents,
    corpus,
    in_background,
    settings_for,
)
from tests.service.elasticsearch.proxy import proxy_before
from tests.service.elasticsearch.server import Access, Server

__all__ = ["command"]

FIRST = f"faults-{NAME}@000001"
LOOKED_AT_EACH = "cluster.info.update.interval"
BROUGHT_UP_AT_ONCE = "cluster.routing.allocation.node_initial_primaries_recoveries"


@pytest.fixture
def settings(own_server: Server, tmp_path) -> IndexerSettings:
    corpus(tmp_path, 60)
    return settings_for(own_server.access, tmp_path, commit_every=20)


@pytest.fixture
def client(own_server: Server) -> Iterator[httpx.Client]:
    access = own_server.access
    with httpx.Client(base_url=access.url, auth=access.basic_auth, trust_env=False, timeout=150) as client:
        yield client


def put(client: httpx.Client, path: str, body: object) -> None:
    client.put(path, json=body).raise_for_status()


@pytest.mark.nightly
def test_a_cluster_that_places_no_shards_is_told(settings, client, command: Command, monkeypatch):
    index = ("index", settings.home / "papers.jsonl", "--name", NAME)
    for allocation in ("none", "none"):  # neither the leases find a place, nor the build
        put(client, "/_cluster/settings", {"persistent": {"cluster.routing.allocation.enable": allocation}})
        with monkeypatch.context() as impatient:
            impatient.setattr(loading, "READY_WITHIN_S", 2)
            told = command.told(settings, *index)
        assert "gives index faults" in told
        assert "within 2 s; see GET /_cluster/allocation/explain" in told
        put(client, "/_cluster/settings", {"persistent": {"cluster.routing.allocation.enable": None}})
        build(settings, settings.home / "papers.jsonl", name="others", rebuild=True)
    assert command(settings, *index)[0] == 0


def is_red(client: httpx.Client) -> bool:
    with suppress(httpx.TransportError):
        health = client.get(f"/_cluster/health/{FIRST}")
        return health.status_code == 200 and health.json()["status"] == "red"
    return False


@pytest.mark.nightly
def test_an_index_without_its_shards_is_told_as_red(settings, client, command: Command):
    build(settings, settings.home / "papers.jsonl")
    before = answers(settings)
    # An index that opens has no shards until they are brought up, and here none is.
    put(client, "/_cluster/settings", {"persistent": {BROUGHT_UP_AT_ONCE: 0}})
    client.post(f"/{FIRST}/_close").raise_for_status()
    client.post(f"/{FIRST}/_open?wait_for_active_shards=0").raise_for_status()
    wait_until(lambda: is_red(client))

    told = command.told(settings, "search", "지식 그래프", "--name", NAME)
    assert "shards are missing (a red cluster)" in told
    assert "GET /_cluster/health" in told
    code, listed, _ = command(settings, "indexes", "list")
    assert code == 0
    assert "60" in listed

    put(client, "/_cluster/settings", {"persistent": {BROUGHT_UP_AT_ONCE: None}})
    client.get("/_cluster/health?wait_for_status=yellow&timeout=120s").raise_for_status()
    assert answers(settings) == before


@pytest.mark.nightly
def test_without_a_node_for_its_copies_a_version_is_published_and_answers(settings, client):
    copied = settings.elasticsearch.model_copy(update={"replicas": "1"})
    settings = settings.model_copy(update={"elasticsearch": copied})
    report = build(settings, settings.home / "papers.jsonl")
    health = client.get(f"/_cluster/health/{FIRST}").json()
    assert (health["status"], health["unassigned_shards"]) == ("yellow", 1)
    assert report.manifest.papers == 60
    assert all(answers(settings)[:3])


@pytest.mark.nightly
@pytest.mark.parametrize("block", ["read_only_allow_delete", "write"])
def test_a_build_that_becomes_read_only_goes_on_when_it_is_not(
    block: str, settings, client, command: Command
):
    smooth = settings.model_copy(
        update={
            "home": settings.home / "smooth",
            "elasticsearch": settings.elasticsearch.model_copy(update={"prefix": "smooth"}),
        }
    )
    build(smooth, settings.home / "papers.jsonl")
    at = Signal("indexing", 30)
    with in_background(lambda: build(settings, settings.home / "papers.jsonl", at)) as building:
        with at.here():
            put(client, f"/{FIRST}/_settings", {f"index.blocks.{block}": True})
        while not building.done():  # the server takes the first block away when it looks at its disk
            put(client, f"/{FIRST}/_settings", {f"index.blocks.{block}": True})
            time.sleep(0.2)
        with pytest.raises(EngineRefused, match=r"disk .*read-only") as told:
            building.result()
    assert "repeat the command" in str(told.value)

    put(client, f"/{FIRST}/_settings", {f"index.blocks.{block}": None})
    build(settings, settings.home / "papers.jsonl")
    assert contents(settings) == contents(smooth)


@pytest.mark.nightly
def test_a_disk_that_fills_while_indexing(settings, client):
    marks = {
        f"cluster.routing.allocation.disk.watermark.{mark}": f"{size}pb"
        for mark, size in (("low", 3), ("high", 2), ("flood_stage", 1))
    }
    at = Signal("indexing", 30)
    with in_background(lambda: build(settings, settings.home / "papers.jsonl", at)) as building:
        with at.here():
            put(client, "/_cluster/settings", {"persistent": marks | {LOOKED_AT_EACH: "10s"}})
            wait_until(lambda: "read_only_allow_delete" in client.get(f"/{FIRST}/_settings").text)
        with pytest.raises(EngineRefused, match=r"\(429: .*\): .*disk"):
            building.result()

    put(client, "/_cluster/settings", {"persistent": dict.fromkeys(marks)})
    wait_until(lambda: "read_only_allow_delete" not in client.get(f"/{FIRST}/_settings").text)
    put(client, "/_cluster/settings", {"persistent": {LOOKED_AT_EACH: None}})
    assert build(settings, settings.home / "papers.jsonl").manifest.papers == 60


def wait_until(true) -> None:
    """Look until it is so; that it never is, the time tells that a test may take."""
    while not true():
        time.sleep(0.2)


def change_meta(client: httpx.Client, change) -> None:
    meta = client.get(f"/{FIRST}/_mapping").json()[FIRST]["mappings"]["_meta"]
    change(meta)
    put(client, f"/{FIRST}/_mapping", {"_meta": meta})


def spoil_fingerprint(meta) -> None:
    manifest = Manifest.from_record(meta["manifest"])
    tokens = manifest.fingerprint | {"tokens": "0123456789abcdef"}
    meta["manifest"] = replace(manifest, fingerprint=tokens).as_record()


def test_an_index_of_another_fingerprint_is_refused_with_what_differs(settings, client, command: Command):
    build(settings, settings.home / "papers.jsonl")
    change_meta(client, spoil_fingerprint)

    with pytest.raises(IndexMismatch, match=r"tokens: 0123456789abcdef, now [0-9a-f]{16}"):
        open_index(settings, NAME)
    for arguments in (
        ("search", "지식", "--name", NAME),
        ("index", settings.home / "papers.jsonl", "--name", NAME),
        ("indexes", "remove", NAME, "P00001"),
    ):
        told = command.told(settings, *arguments)
        assert re.match(r"IndexMismatch: .*'papers'.*\(tokens: 01234567", told)
        assert told.endswith("(shrag index PATH --name papers --rebuild)")
    build(settings, settings.home / "papers.jsonl", rebuild=True)
    assert all(answers(settings)[:3])


def test_a_version_that_says_nothing_of_itself_is_damaged(settings, client, command: Command):
    build(settings, settings.home / "papers.jsonl")
    change_meta(client, lambda meta: meta["manifest"].pop("analyzer"))
    with pytest.raises(IndexDamaged, match=r"cannot be read \(analyzer: .*; build it again"):
        open_index(settings, NAME)
    assert command(settings, "indexes", "list")[0] == 0
    build(settings, settings.home / "papers.jsonl", rebuild=True)
    assert all(answers(settings)[:3])


def test_a_server_without_nori_is_told_with_the_command_that_installs_it(
    elasticsearch: Access, tmp_path, command: Command
):
    missing = {
        "type": "illegal_argument_exception",
        "reason": "Unknown tokenizer type [nori_tokenizer] for [nori]",
    }
    with proxy_before(elasticsearch) as proxy:
        settings = settings_for(proxy.access, tmp_path, "plain")
        proxy.answers = lambda method, path, _: (
            (400, {"error": missing | {"root_cause": [missing]}, "status": 400})
            if method == "PUT" and NAME in path
            else None
        )
        told = command.told(settings, "index", corpus(tmp_path, 3), "--name", NAME)
        clean(settings)
    assert "analysis-nori" in told
    assert "(bin/elasticsearch-plugin install analysis-nori) and restart them" in told
