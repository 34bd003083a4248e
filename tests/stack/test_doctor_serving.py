"""`shrag doctor`: the server's keys, its public address, the proxy before it, sign-in and the backups."""

import json
import os
import time
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from indexer.backups import FolderBackup
from server.access.keys import Keys, make_key
from server.store import Store
from tests.generator.sample_index import shrag
from tests.http_server import Handler, serving
from tests.stack.asking_the_doctor import doctor

pytest_plugins = ["tests.generator.sample_index"]

HERE = "https://127.0.0.1:9"  # the discard port: nothing listens
ELSEWHERE = "http://other.example/"


def answering(status, body, **headers) -> Any:
    """Return a server that answers every GET alike; `{url}` in the body is its address."""

    class Answering(Handler):
        def get(self):
            address = f"http://{self.headers['Host']}"
            self.answer(status, json.loads(json.dumps(body).replace("{url}", address)))

        def end_headers(self):
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            super().end_headers()

    return Answering


def errors(*codes):
    return {"status": "ok", "errors": [*codes]}


@pytest.mark.parametrize(
    ("status", "body", "found", "remedy"),
    [
        (200, {"status": "ok"}, "SHRAG answers", ""),
        (200, errors("keys-unreadable"), "", "let the server use .server.sqlite"),
        (200, errors("another"), "another", "read the log of shrag serve"),
        (200, ["another"], '["another"]', "let the proxy forward all paths"),
        (404, {}, "(404)", "let the proxy forward all paths"),
        (421, {}, "name", "let the proxy forward the name"),
        (502, {}, "(502)", "start shrag serve"),
        (302, {}, ELSEWHERE, "set SHRAG_SERVER__PUBLIC_URL"),
    ],
)
def test_the_public_address_is_called(tmp_path, status, body, found, remedy):
    with serving(answering(status, body, Location=ELSEWHERE)) as url:
        _, findings = doctor(tmp_path, server__public_url=url)

    finding = findings["server", "public address"]
    assert (finding["status"], finding["configured"]) == ("wrong" if remedy else "ok", url)
    assert found in finding["found"]
    assert finding["remedy"].startswith(remedy)


@pytest.mark.parametrize(
    ("settings", "subject", "status"),
    [
        ({}, "proxy", "not configured"),
        ({"proxies": "10.0.0.5, 10.1.0.0/16"}, "proxy", "ok"),
        ({"proxies": "0.0.0.0/0"}, "proxy", "wrong"),
        ({"proxies": "::/0"}, "proxy", "wrong"),
        ({"public_url": HERE}, "proxy", "warning"),
        ({"public_url": HERE}, "public address", "wrong"),
        ({"public_url": HERE, "proxies": "127.0.0.1"}, "proxy", "ok"),
        ({}, "public address", "not configured"),
        ({}, "sign-in", "not configured"),
        ({}, "keys", "not configured"),
    ],
)
def test_settings_of_the_server_are_compared(tmp_path, settings, subject, status):
    given = {f"server__{name}": value for name, value in settings.items()}
    assert doctor(tmp_path, **given)[1]["server", subject]["status"] == status


def test_keys_are_counted_and_an_empty_or_damaged_store_is_wrong(tmp_path):
    file = tmp_path / ".server.sqlite"

    def keys():
        finding = doctor(tmp_path)[1]["server", "keys"]
        return finding["status"], finding["found"]

    store, begins = Keys(Store(tmp_path)), datetime(2020, 1, 1, tzinfo=UTC)
    store.add(make_key(expires=begins + timedelta(days=1), now=begins)[1])
    assert keys() == ("warning", "all keys are revoked or expired: no caller is admitted")
    key = shrag("keys", "create", home=tmp_path).stdout
    assert keys() == ("ok", "1 active")
    shrag("keys", "revoke", key.split("_")[1], home=tmp_path)
    assert keys()[0] == "warning"
    for content in ("no database" * 100, ""):
        file.write_text(content)
        assert keys()[0] == "wrong"
    assert "restore" in doctor(tmp_path)[1]["server", "keys"]["remedy"]


@pytest.mark.parametrize(
    ("issuer", "status"), [("{url}", "ok"), ("https://id.example.org", "wrong"), (None, "wrong")]
)
def test_the_metadata_of_the_sign_in_provider_is_compared_with_the_settings(tmp_path, issuer, status):
    with serving(answering(200, {"issuer": issuer, "status": "ok"})) as url:
        settings = {"server__sign_in__issuer": url, "server__sign_in__client_id": "shrag"}
        groups = {"server__sign_in__groups": '{"*": "reader"}', "server__public_url": url}
        _, findings = doctor(tmp_path, **settings, **groups)

    assert findings["server", "sign-in"]["status"] == status


@pytest.mark.parametrize(
    ("files", "status", "found"),
    [
        ([("old", "x", 30), ("new", "x", 2)], "ok", "2.0 days ago"),
        ([("old", "x", 30), (".hidden", "x", 1)], "warning", "30.0 days ago"),
        ([], "warning", "there is none"),
        ([("cut.tar", "", 1)], "warning", "cut.tar"),
        ([("new", "x", -30)], "warning", "-30.0 days ago"),
    ],
)
def test_the_newest_file_of_the_backups_has_their_age(tmp_path, files, status, found):
    (folder := tmp_path / "backups").mkdir()
    (folder / "latest").symlink_to(folder / "gone")
    for name, content, days in files:
        (folder / name).write_text(content)
        os.utime(folder / name, (then := time.time() - days * 86_400, then))
    finding = doctor(tmp_path / "home", backups=folder)[1]["backup", "last backup"]
    assert (finding["status"], finding["found"].endswith(found)) == (status, True)


def test_a_backup_may_be_one_hidden_file_or_incomplete_or_missing(tmp_path):
    def backup(place, subject="last backup"):
        return doctor(tmp_path / "home", backups=place)[1]["backup", subject]

    (file := tmp_path / ".bk.tar").write_text("x")
    assert backup(file)["status"] == "ok"
    assert backup(tmp_path / "nowhere")["status"] == "wrong"
    (folder := tmp_path / "backups" / "1").mkdir(parents=True)
    made = FolderBackup("1", "2026-11-28T00:00:00+00:00", (), 0, 0, failed={"papers": "damaged"})
    (folder / "backup.json").write_text(json.dumps(asdict(made)))
    assert backup(folder.parent, "incomplete backup")["found"] == "it is without papers"


def test_the_last_whole_snapshot_of_a_cluster_is_its_backup(tmp_path):
    pytest.importorskip("elasticsearch")
    node: Any = {"cluster_name": "c", "status": "green", "number_of_nodes": 1}
    node["nodes"] = {"n": {"name": "n", "version": "9.2.0"}}
    about = {"snapshot": "s", "indices": ["shrag-papers@000001"], "shards": {"total": 1}}
    snapshots = [
        about | {"state": state, "start_time": f"{day}T00:00:00.000Z", "duration_in_millis": 1}
        for state, day in (("FAILED", "2026-01-09"), ("SUCCESS", "2020-01-02"))
    ]
    for found, body in (("there is none", []), ("2020-01-02", snapshots)):
        whole = answering(200, {}, X_Elastic_Product="Elasticsearch")
        whole.get = lambda self, body=body: self.answer(
            200, {"snapshots": body} if "_snapshot" in self.path else node
        )
        with serving(whole) as url:
            finding = doctor(tmp_path, engine="elasticsearch", elasticsearch__url=url)[1][
                "backup", "last backup"
            ]
        assert (finding["status"], found in finding["found"]) == ("warning", True)
