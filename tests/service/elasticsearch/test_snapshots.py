"""Backup and restore on a real server, which may write snapshots to a folder."""

import json
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from pydantic import SecretStr

from base.errors import InvalidCall
from indexer import backup_commands as commands
from indexer.errors import EngineRefused, IndexBusy, IndexNotWritten, UnknownIndex
from indexer.settings import ElasticsearchSettings
from indexer.versions.cluster import snapshots
from indexer.versions.cluster.connection import Cluster
from indexer.versions.cluster.mapping import index_body, published_settings
from indexer.versions.cluster.names import alias_of, glossaries, index_of, leases
from shrag import cli
from tests.service.elasticsearch.server import Access, Server

ROOT = Path(__file__).parents[3]
DOCUMENTATION = ROOT / "docs" / "how-to" / "cluster.md"
SAMPLE = str(ROOT / "sample" / "papers.jsonl")


@pytest.fixture
def folder(snapshot_folder: Path) -> Path:
    return snapshot_folder


@pytest.fixture
def access(own_server: Server) -> Access:
    return own_server.access


@pytest.fixture
def cluster(access: Access, prefix: str) -> Iterator[Cluster]:
    with Cluster(settings_for(access, prefix)) as cluster:
        yield cluster


@pytest.fixture
def prefix(request: pytest.FixtureRequest) -> str:
    """Return a prefix of the test's own, and so a repository."""
    return f"t{abs(hash(request.node.name)) % 1_000_000:06}"


def settings_for(access: Access, prefix: str, **changed: Any) -> ElasticsearchSettings:
    password = SecretStr(access.password)
    return ElasticsearchSettings(
        url=access.url, user=access.username, password=password, prefix=prefix, **changed
    )


def publish(cluster: Cluster, prefix: str, name: str, version: int, texts: list[str]) -> None:
    """Put a version of an index into the cluster as the indexer does, and let it answer."""
    index, client = index_of(prefix, name, version), cluster.client
    body = index_body("bilingual", "discard", shards=2, meta={"manifest": {"name": name}})
    cluster.run(client.indices.create(index=index, body=body))
    for number, text in enumerate(texts):
        document = {"passage_id": f"p{number}", "text": text, "title": text, "year": 2020}
        cluster.run(client.index(index=index, id=f"p{number}", document=document))
    cluster.run(client.indices.put_settings(index=index, settings=published_settings("0-1")))
    moves = [
        {"remove": {"index": f"{alias_of(prefix, name)}@*", "alias": alias_of(prefix, name)}},
        {"add": {"index": index, "alias": alias_of(prefix, name)}},
    ]
    cluster.run(client.indices.update_aliases(actions=moves if version > 1 else moves[1:]))
    cluster.run(client.indices.refresh(index=index))


def answers(cluster: Cluster, prefix: str, name: str, word: str) -> int:
    """Return how many passages of the version that answers hold a word."""
    found = cluster.run(
        cluster.client.search(index=alias_of(prefix, name), query={"term": {"text": word}}, size=0)
    )
    return int(found["hits"]["total"]["value"])


def holding(cluster: Cluster, prefix: str) -> dict[str, list[str]]:
    """Return the indices of the prefix with their aliases."""
    there = cluster.run(cluster.client.indices.get_alias(index=f"{prefix}*"))
    return {index: list(told["aliases"]) for index, told in sorted(there.body.items())}


def restore(cluster: Cluster, prefix: str, name: str) -> None:
    """Restore as the command does, of somebody who agrees."""
    found = snapshots.find_snapshot(cluster, prefix, name)
    snapshots.restore(cluster, prefix, found, snapshots.present(cluster, prefix))


def test_a_restore_brings_back_what_was_deleted_with_its_alias(cluster: Cluster, prefix: str):
    publish(cluster, prefix, "papers", 1, ["논에서 나오는 메탄", "methane from rice"])
    cluster.run(cluster.client.index(index=glossaries(prefix), id="1", document={"piece": "메탄\tmethane"}))
    taken = snapshots.backup(cluster, prefix, "first")
    assert taken.state == "SUCCESS"
    assert taken.indices == (f"{prefix}-papers@000001", f"{prefix}.glossaries")

    cluster.run(cluster.client.indices.delete(index=list(taken.indices)))
    restore(cluster, prefix, "first")

    assert holding(cluster, prefix) == {
        f"{prefix}-papers@000001": [f"{prefix}-papers"],
        f"{prefix}.glossaries": [],
    }
    assert answers(cluster, prefix, "papers", "메탄") == 1
    assert answers(cluster, prefix, "papers", "rice") == 1


def test_a_restore_takes_back_what_came_later(cluster: Cluster, prefix: str):
    publish(cluster, prefix, "papers", 1, ["old"])
    snapshots.backup(cluster, prefix, "before")
    publish(cluster, prefix, "papers", 2, ["new"])
    publish(cluster, prefix, "notes", 1, ["later"])
    assert answers(cluster, prefix, "papers", "new") == 1

    restore(cluster, prefix, "before")

    assert holding(cluster, prefix) == {f"{prefix}-papers@000001": [f"{prefix}-papers"]}
    assert answers(cluster, prefix, "papers", "old") == 1


def test_another_prefix_is_neither_saved_nor_touched(cluster: Cluster, prefix: str):
    publish(cluster, prefix, "papers", 1, ["ours"])
    publish(cluster, f"{prefix}x", "papers", 1, ["theirs"])
    assert snapshots.backup(cluster, prefix, "ours").indices == (f"{prefix}-papers@000001",)
    restore(cluster, prefix, "ours")
    assert answers(cluster, f"{prefix}x", "papers", "theirs") == 1


def test_indexes_that_others_called_alike_are_neither_saved_nor_touched(cluster: Cluster, prefix: str):
    publish(cluster, prefix, "papers", 1, ["ours"])
    foreign = [f"{prefix}-papers@notes", f"{prefix}-papers@000007", f"{prefix}-notes", f"{prefix}.notes"]
    for index in foreign:
        cluster.run(
            cluster.client.index(index=index, id="1", document={"note": "do not delete"}, refresh=True)
        )

    assert snapshots.backup(cluster, prefix, "ours").indices == (f"{prefix}-papers@000001",)
    restore(cluster, prefix, "ours")

    assert [cluster.run(cluster.client.count(index=index))["count"] for index in foreign] == [1] * len(
        foreign
    )
    assert answers(cluster, prefix, "papers", "ours") == 1


def test_an_index_of_others_in_the_place_of_a_saved_one_is_told_before_anything_is_deleted(cluster, prefix):
    publish(cluster, prefix, "papers", 1, ["ours"])
    publish(cluster, prefix, "notes", 1, ["ours"])
    snapshots.backup(cluster, prefix, "both")
    taken = f"{prefix}-notes@000001"
    cluster.run(cluster.client.indices.delete(index=taken))
    cluster.run(cluster.client.index(index=taken, id="1", document={"note": "do not delete"}, refresh=True))

    with pytest.raises(IndexNotWritten, match=taken):
        restore(cluster, prefix, "both")

    assert answers(cluster, prefix, "papers", "ours") == 1
    assert cluster.run(cluster.client.count(index=taken))["count"] == 1


def test_who_is_writing_is_neither_saved_nor_restored(cluster: Cluster, prefix: str):
    publish(cluster, prefix, "papers", 1, ["ours"])
    cluster.run(cluster.client.index(index=leases(prefix), id="papers", document={"holder": "somebody"}))
    assert snapshots.backup(cluster, prefix, "ours").indices == (f"{prefix}-papers@000001",)
    restore(cluster, prefix, "ours")
    assert leases(prefix) in holding(cluster, prefix)


def test_nothing_is_restored_while_somebody_writes(cluster: Cluster, prefix: str):
    publish(cluster, prefix, "papers", 1, ["ours"])
    snapshots.backup(cluster, prefix, "ours")
    held = {"holder": "desk-0123", "until": int(time.time()) + 60}
    cluster.run(cluster.client.index(index=leases(prefix), id=f"{prefix}-papers", document=held))
    with pytest.raises(IndexBusy, match=r"desk .*-papers"):
        restore(cluster, prefix, "ours")
    assert answers(cluster, prefix, "papers", "ours") == 1
    over = held | {"until": int(time.time()) - 1}
    cluster.run(cluster.client.index(index=leases(prefix), id=f"{prefix}-papers", document=over))
    restore(cluster, prefix, "ours")


def test_snapshots_are_listed_the_oldest_first(cluster: Cluster, prefix: str):
    assert snapshots.list_snapshots(cluster, prefix) == []
    publish(cluster, prefix, "papers", 1, ["one"])
    snapshots.backup(cluster, prefix, "zebra")
    snapshots.backup(cluster, prefix, "aardvark")
    assert [one.name for one in snapshots.list_snapshots(cluster, prefix)] == ["zebra", "aardvark"]


def test_a_snapshot_is_called_after_the_time_where_nobody_names_it(cluster: Cluster, prefix: str):
    publish(cluster, prefix, "papers", 1, ["one"])
    date, _, time = snapshots.backup(cluster, prefix).name.partition("-")
    assert len(date) == 8
    assert len(time) == 6


def test_nothing_to_back_up_is_told(cluster: Cluster, prefix: str):
    with pytest.raises(UnknownIndex, match="nothing"):
        snapshots.backup(cluster, prefix)


@pytest.mark.parametrize(
    ("options", "error", "told"),
    [
        ({"name": "once"}, InvalidCall, "'once'"),
        ({"name": "With Capitals"}, InvalidCall, "'With Capitals'"),
        ({"location": "/elsewhere"}, EngineRefused, r"cannot write there .*path\.repo"),
    ],
)
def test_a_backup_that_cannot_be_made_is_told(
    cluster: Cluster, prefix: str, options: dict[str, Any], error: type[Exception], told: str
):
    publish(cluster, prefix, "papers", 1, ["one"])
    snapshots.backup(cluster, prefix, "once")
    with pytest.raises(error, match=told):
        snapshots.backup(cluster, prefix, **options)


def test_a_missing_snapshot_is_told_with_those_there_are(cluster: Cluster, prefix: str):
    publish(cluster, prefix, "papers", 1, ["one"])
    snapshots.backup(cluster, prefix, "monday")
    with pytest.raises(InvalidCall, match=r"no snapshot 'tuesday' .* there are: monday"):
        restore(cluster, prefix, "tuesday")
    assert answers(cluster, prefix, "papers", "one") == 1


def test_a_snapshot_of_another_prefix_is_told(cluster: Cluster, prefix: str):
    publish(cluster, prefix, "papers", 1, ["one"])
    snapshots.backup(cluster, prefix, "ours", location="together")
    with pytest.raises(InvalidCall, match="'other'"):
        snapshots.find_snapshot(cluster, "other", "ours", location="together")


def test_a_server_without_path_repo_is_told(elasticsearch: Access):
    with (
        Cluster(settings_for(elasticsearch, "norepo")) as cluster,
        pytest.raises(EngineRefused, match=r"path\.repo"),
    ):
        snapshots.list_snapshots(cluster, "norepo")


def test_a_folder_that_the_server_cannot_write_to_is_told(cluster: Cluster, prefix: str, folder: Path):
    publish(cluster, prefix, "papers", 1, ["one"])
    (folder / prefix).write_text("a file where the folder should be", encoding="utf-8")
    with pytest.raises(EngineRefused, match=f"{prefix}-backups"):
        snapshots.backup(cluster, prefix)


def test_a_repository_that_is_gone_is_told_before_anything_is_deleted(
    cluster: Cluster, prefix: str, folder: Path
):
    publish(cluster, prefix, "papers", 1, ["one"])
    snapshots.backup(cluster, prefix, "once")
    shutil.rmtree(folder / prefix)
    with pytest.raises((EngineRefused, InvalidCall)):
        restore(cluster, prefix, "once")
    assert answers(cluster, prefix, "papers", "one") == 1


def test_a_damaged_snapshot_is_told_as_not_restored(
    cluster: Cluster, access: Access, prefix: str, folder: Path
):
    publish(cluster, prefix, "papers", 1, ["one"])
    snapshots.backup(cluster, prefix, "once")
    for shard in (folder / prefix / "indices").rglob("snap-*.dat"):
        shard.write_bytes(b"nothing of a snapshot")
    told = f"not restored: {prefix}-papers@000001 .*repeat the command"
    with (
        Cluster(settings_for(access, prefix, patience_s=2)) as hasty,
        pytest.raises(IndexNotWritten, match=told),
    ):
        restore(hasty, prefix, "once")
    cluster.run(cluster.client.indices.delete(index=f"{prefix}-papers@000001"))


def test_taking_snapshots_needs_no_more_than_create_snapshot_once_the_folder_is_registered(
    cluster: Cluster, prefix: str, access: Access
):
    publish(cluster, prefix, "papers", 1, ["one"])
    snapshots.list_snapshots(cluster, prefix)
    with Cluster(with_key(cluster, access, prefix, BACKUP_RIGHTS)) as limited:
        assert snapshots.backup(limited, prefix, "nightly").state == "SUCCESS"
        with pytest.raises(EngineRefused, match="required right"):
            restore(limited, prefix, "nightly")
    assert answers(cluster, prefix, "papers", "one") == 1


BACKUP_RIGHTS = {
    "cluster": ["create_snapshot"],
    "indices": [{"names": ["*"], "privileges": ["view_index_metadata"]}],
}


def with_key(
    cluster: Cluster, access: Access, prefix: str, rights: dict[str, object]
) -> ElasticsearchSettings:
    made = cluster.run(
        cluster.client.security.create_api_key(name=prefix, role_descriptors={"limited": rights})
    )
    return ElasticsearchSettings(
        url=access.url, api_key=SecretStr(made["encoded"]), prefix=prefix, patience_s=2
    )


@pytest.fixture
def environment(access: Access, prefix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "SHRAG_ENGINE": "elasticsearch",
        "SHRAG_ELASTICSEARCH__URL": access.url,
        "SHRAG_ELASTICSEARCH__USER": access.username,
        "SHRAG_ELASTICSEARCH__PASSWORD": access.password,
        "SHRAG_ELASTICSEARCH__PREFIX": prefix,
    }.items():
        monkeypatch.setenv(name, value)


def run(command: click.Command, *arguments: str, answer: str = "") -> tuple[str, str]:
    done = CliRunner().invoke(command, arguments, input=answer, catch_exceptions=False)
    return done.stdout, done.stderr


@pytest.mark.usefixtures("environment")
def test_the_commands_take_list_and_restore(cluster: Cluster, prefix: str):
    publish(cluster, prefix, "papers", 1, ["one"])
    told, _ = run(commands.backup, "monday")
    assert told.startswith("snapshot 'monday': 1 index in 2 shards")
    told, _ = run(commands.backups, "--json")
    assert [one["name"] for one in json.loads(told)["backups"]] == ["monday"]

    publish(cluster, prefix, "papers", 2, ["two"])
    told, asked = run(commands.restore, "monday", answer="n\n")
    assert not told
    assert f": {prefix}-papers@000002" in asked
    assert answers(cluster, prefix, "papers", "two") == 1

    told, _ = run(commands.restore, "monday", "--yes")
    assert "'monday'" in told
    assert answers(cluster, prefix, "papers", "one") == 1


def documented_rights() -> dict[str, dict[str, Any]]:
    """Return the keys of docs/how-to/cluster.md, as they stand there."""
    blocks = re.findall(r"```json\n(.*?)```", DOCUMENTATION.read_text("utf-8"), re.DOTALL)
    return {key["name"]: key for key in map(json.loads, blocks)}


def test_the_documented_keys_index_search_and_back_up(
    cluster: Cluster, access: Access, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    keys = {
        name: cluster.run(cluster.client.security.create_api_key(**key))["encoded"]
        for name, key in documented_rights().items()
    }
    # The first key of all makes the server's index of keys.
    cluster.run(cluster.client.cluster.health(wait_for_no_initializing_shards=True, timeout="30s"))
    monkeypatch.setenv("SHRAG_HOME", str(tmp_path))
    monkeypatch.setenv("SHRAG_ENGINE", "elasticsearch")
    monkeypatch.setenv("SHRAG_ELASTICSEARCH__URL", access.url)
    monkeypatch.setenv("SHRAG_WORKERS", "1")
    snapshots.list_snapshots(cluster, "shrag")  # registers the repository

    def shrag_with(key: str, *arguments: str) -> str:
        monkeypatch.setenv("SHRAG_ELASTICSEARCH__API_KEY", keys[key])
        return CliRunner().invoke(cli, arguments, catch_exceptions=False).stdout

    assert "index 'papers', version 1" in shrag_with("shrag-index", "index", SAMPLE, "--name", "papers")
    assert "version 2" in shrag_with("shrag-index", "index", SAMPLE, "--name", "papers", "--rebuild")
    assert "version 1" in shrag_with("shrag-index", "indexes", "rollback", "papers")
    assert "SAMPLE-" in shrag_with("shrag-index", "search", "methane", "--name", "papers")
    assert "SAMPLE-" in shrag_with("shrag-search", "search", "methane", "--name", "papers")
    assert "SAMPLE-" in shrag_with("shrag-search", "ask", "methane from rice", "--name", "papers")
    with pytest.raises(EngineRefused, match="required right"):
        shrag_with("shrag-search", "index", SAMPLE, "--name", "papers")
    monkeypatch.setenv("SHRAG_ELASTICSEARCH__API_KEY", keys["shrag-backup"])
    told, _ = run(commands.backup, "nightly")
    assert told.startswith("snapshot 'nightly'")
    assert "deleted" in shrag_with("shrag-index", "indexes", "delete", "papers", "--yes")
