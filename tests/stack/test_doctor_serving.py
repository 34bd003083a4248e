"""What `shrag doctor` finds of the server's keys, its public address, the proxy before it and the backups."""

import json
import os
import time
from dataclasses import asdict
from datetime import UTC, datetime, timedelta

import pytest

from indexer.versions.folder_backups import FolderBackup
from server.access.keys import Keys, make_key
from server.store import Store
from tests.generator import sample_index
from tests.generator.sample_index import shrag
from tests.http_server import Handler, serving
from tests.stack.asking_the_doctor import doctor

pytest_plugins = ["tests.generator.sample_index"]


def answering(status, body, **headers):
    """Return a server that answers every GET alike."""

    class Answering(Handler):
        def get(self):
            self.answer(status, body)

        def end_headers(self):
            for name, value in headers.items():
                self.send_header(name, value)
            super().end_headers()

    return Answering


@pytest.mark.parametrize(
    ("status", "body", "headers", "found"),
    [
        (200, {"status": "ok"}, {}, ("ok", "SHRAG answers")),
        (200, {"status": "ok", "errors": ["keys-unreadable"]}, {}, ("wrong", "keys-unreadable")),
        (200, ["another"], {}, ("wrong", '["another"]')),
        (404, {}, {}, ("wrong", "(404)")),
        (421, {}, {}, ("wrong", "name")),
        (502, {}, {}, ("wrong", "(502)")),
        (302, {}, {"Location": "http://other.example/"}, ("wrong", "http://other.example/")),
    ],
)
def test_the_public_address_is_asked(tmp_path, status, body, headers, found):
    with serving(answering(status, body, **headers)) as url:
        _, findings = doctor(tmp_path, server__public_url=url)

    finding = findings["server", "public address"]
    assert (finding["status"], finding["configured"]) == (found[0], url)
    assert found[1] in finding["found"]


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        ("keys-unreadable", "let the server use .server.sqlite"),
        ("another", "read the log of shrag serve"),
    ],
)
def test_a_code_that_the_public_address_answers_with_has_its_own_remedy(tmp_path, code, remedy):
    with serving(answering(200, {"status": "ok", "errors": [code]})) as url:
        _, findings = doctor(tmp_path, server__public_url=url)

    assert findings["server", "public address"]["mend"].startswith(remedy)


def test_a_public_address_where_nothing_listens_is_wrong(tmp_path):
    code, findings = doctor(tmp_path, server__public_url="http://127.0.0.1:9")

    assert (code, findings["server", "public address"]["status"]) == (1, "wrong")
    assert "resolves" in findings["server", "public address"]["mend"]


@pytest.mark.parametrize(
    ("settings", "status"),
    [
        ({}, "not configured"),
        ({"server__proxies": "10.0.0.5, 10.1.0.0/16"}, "ok"),
        ({"server__proxies": "0.0.0.0/0"}, "wrong"),
        ({"server__proxies": "::/0"}, "wrong"),
        ({"server__public_url": "https://127.0.0.1:9"}, "warning"),
        ({"server__public_url": "https://127.0.0.1:9", "server__proxies": "127.0.0.1"}, "ok"),
    ],
)
def test_the_proxies_that_are_believed_fit_the_address(tmp_path, settings, status):
    assert doctor(tmp_path, **settings)[1]["server", "proxy"]["status"] == status


def test_an_empty_file_of_keys_is_wrong(tmp_path):
    (tmp_path / ".server.sqlite").touch()

    code, findings = doctor(tmp_path)

    assert code == 1
    assert "empty" in findings["server", "keys"]["found"]
    assert "restore" in findings["server", "keys"]["mend"]


def test_keys_are_counted_and_a_damaged_file_of_them_is_wrong(tmp_path):
    key = shrag("keys", "create", home=tmp_path).stdout
    made = doctor(tmp_path)[1]["server", "keys"]
    shrag("keys", "revoke", key.split("_")[1], home=tmp_path)
    revoked = doctor(tmp_path)[1]["server", "keys"]
    (tmp_path / ".server.sqlite").write_text("no database" * 100)

    assert (made["status"], made["found"]) == ("ok", "1 active")
    assert (revoked["status"], revoked["found"].split()[0]) == ("warning", "all")
    assert doctor(tmp_path)[1]["server", "keys"]["status"] == "wrong"


def test_an_expired_key_is_not_usable(tmp_path):
    begins = datetime(2020, 1, 1, tzinfo=UTC)
    store = Keys(Store(tmp_path))
    store.add(make_key(expires=begins + timedelta(days=1), now=begins)[1])
    expired = doctor(tmp_path)[1]["server", "keys"]
    store.add(make_key(expires=datetime.now(UTC) + timedelta(days=1))[1])
    usable = doctor(tmp_path)[1]["server", "keys"]

    assert (expired["status"], expired["mend"]) == ("warning", "create a key (shrag keys create)")
    assert (usable["status"], usable["found"]) == ("ok", "1 active")


def backup_of(tmp_path, *files, **environment):
    """Return what is found of a folder of files, given by name, content and age in days."""
    folder = tmp_path / "backups"
    folder.mkdir()
    for name, content, days in files:
        (folder / name).write_text(content)
        os.utime(folder / name, (then := time.time() - days * 86_400, then))
    return doctor(tmp_path / "home", backups=folder, **environment)[1]


@pytest.mark.parametrize(
    ("files", "status", "found"),
    [
        ([("old", "x", 30), ("new", "x", 2)], "ok", "2.0 days ago"),
        ([("old", "x", 30), (".hidden", "x", 1)], "warning", "30.0 days ago"),
        ([], "warning", "there is none"),
    ],
)
def test_the_newest_file_of_the_backups_has_their_age(tmp_path, files, status, found):
    finding = backup_of(tmp_path, *files)["backup", "last backup"]

    assert (finding["status"], finding["found"].endswith(found)) == (status, True)


def test_an_empty_file_is_no_backup(tmp_path):
    finding = backup_of(tmp_path, ("cut.tar", "", 1))["backup", "empty backup"]

    assert (finding["status"], finding["found"].split()[-1]) == ("warning", "cut.tar")


def test_a_backup_from_the_future_has_no_age(tmp_path):
    finding = backup_of(tmp_path, ("new", "x", -30))["backup", "last backup"]

    assert (finding["status"], "future" in finding["found"]) == ("warning", True)


def test_an_incomplete_backup_is_named(tmp_path):
    (folder := tmp_path / "backups" / "1").mkdir(parents=True)
    made = FolderBackup("1", "2026-11-28T00:00:00+00:00", (), 0, 0, failed={"papers": "damaged"})
    (folder / "backup.json").write_text(json.dumps(asdict(made)))

    finding = doctor(tmp_path / "home", backups=folder.parent)[1]["backup", "incomplete backup"]
    assert (finding["status"], finding["found"]) == ("warning", "it is without papers")


def test_a_dangling_link_beside_a_backup_is_passed_over(tmp_path):
    folder = tmp_path / "backups"
    folder.mkdir()
    (folder / "whole").write_text("x")
    (folder / "latest").symlink_to(folder / "gone")

    finding = doctor(tmp_path / "home", backups=folder)[1]["backup", "last backup"]
    assert (finding["status"], finding["found"].endswith("0.0 days ago")) == ("ok", True)
    (folder / "whole").unlink()
    assert doctor(tmp_path / "home", backups=folder)[1]["backup", "last backup"]["status"] == "wrong"


def test_a_backup_that_is_named_may_be_hidden(tmp_path):
    (file := tmp_path / ".bk.tar").write_text("x")

    assert doctor(tmp_path / "home", backups=file)[1]["backup", "last backup"]["status"] == "ok"


def test_files_of_backups_are_looked_at_while_the_engine_does_not_answer(tmp_path):
    pytest.importorskip("elasticsearch")
    (file := tmp_path / "backup.tar").write_text("x")
    settings = {"engine": "elasticsearch", "elasticsearch__url": "http://127.0.0.1:9", "backups": file}
    done = sample_index.shrag("doctor", "--json", home=tmp_path / "home", **settings)
    findings = [each for each in json.loads(done.stdout)["findings"] if each["check"] == "backup"]

    assert [finding["status"] for finding in findings] == ["ok", "wrong"]
    assert findings[1]["found"].startswith("not checked")


def test_a_folder_of_backups_that_is_not_there_is_wrong(tmp_path):
    assert doctor(tmp_path, backups=tmp_path / "nowhere")[1]["backup", "last backup"]["status"] == "wrong"


def test_without_a_place_of_backups_doctor_says_how_to_name_one(tmp_path):
    finding = doctor(tmp_path)[1]["backup", "last backup"]

    assert (finding["status"], "SHRAG_BACKUPS" in finding["mend"]) == ("not configured", True)


@pytest.mark.parametrize(
    ("snapshots", "status", "found"),
    [
        ((200, {"snapshots": []}), "warning", "there is none"),
        ((403, {"error": {"type": "security_exception", "reason": "no"}}), "warning", "EngineRefused"),
        (
            (200, {"snapshots": [("FAILED", "2026-01-09"), ("SUCCESS", "2020-01-02")]}),
            "warning",
            "2020-01-02",
        ),
    ],
)
def test_the_last_whole_snapshot_of_a_cluster_is_its_backup(tmp_path, snapshots, status, found):
    pytest.importorskip("elasticsearch")
    code, body = snapshots
    if code == 200:
        body = {
            "snapshots": [
                {
                    "snapshot": "s",
                    "state": state,
                    "start_time": f"{day}T00:00:00.000Z",
                    "indices": ["shrag-papers@000001"],
                    "shards": {"total": 1},
                    "duration_in_millis": 1,
                }
                for state, day in body["snapshots"]
            ]
        }

    class Node(Handler):
        def get(self):
            if "_snapshot" in self.path:
                self.answer(code, body)
            elif "health" in self.path:
                self.answer(200, {"cluster_name": "c", "status": "green", "number_of_nodes": 1})
            else:
                self.answer(200, {"cluster_name": "c", "nodes": {"n": {"name": "n", "version": "9.2.0"}}})

        def end_headers(self):
            self.send_header("X-Elastic-Product", "Elasticsearch")
            super().end_headers()

    with serving(Node) as url:
        _, findings = doctor(tmp_path, engine="elasticsearch", elasticsearch__url=url)

    finding = findings["backup", "last backup"]
    assert (finding["status"], found in finding["found"]) == (status, True)


@pytest.mark.parametrize(
    ("issuer", "status"), [("{url}", "ok"), ("https://id.example.org", "wrong"), (None, "wrong")]
)
def test_the_metadata_of_the_sign_in_provider_is_compared_with_the_settings(tmp_path, issuer, status):
    class Provider(Handler):
        def get(self):
            self.answer(200, {"issuer": issuer and issuer.format(url=url), "status": "ok"})

    with serving(Provider) as url:
        settings = {"server__sign_in__issuer": url, "server__sign_in__client_id": "shrag"}
        groups = {"server__sign_in__groups": '{"*": "reader"}', "server__public_url": url}
        _, findings = doctor(tmp_path, **settings, **groups)

    assert findings["server", "sign-in"]["status"] == status
