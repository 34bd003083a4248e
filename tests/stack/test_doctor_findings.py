"""What `shrag doctor` finds of servers that answer so: each row has the settings and one finding."""

import json
import os
import time
from contextlib import nullcontext
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from generator.pipeline import Settings
from indexer.backups import FolderBackup
from server.access.keys import Keys, make_key
from server.store import Store
from stack.doctor import indexes
from stack.doctor.findings import Examined
from stack.doctor.indexes import check_engine
from tests.generator.sample_index import shrag
from tests.http_server import Handler, serving
from tests.stack.asking_the_doctor import doctor
from tests.stack.model_server import model_server

pytest.importorskip("elasticsearch")


def answering(answers, asked=None, **headers):
    """Run a server: its status and body by a part of the path, the first that fits; `{url}` is its own."""

    class Answering(Handler):
        def get(self):
            if asked is not None:
                asked.append(self.path)
            status, body = next(answers[part] for part in answers if part in self.path)
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.answer(status, content.replace(b"{url}", f"http://{self.headers['Host']}".encode()))

        post = get

        def end_headers(self):
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            super().end_headers()

    return serving(Answering)


HEALTH = {"cluster_name": "c", "status": "green", "number_of_nodes": 1}
NODES = {"nodes": {"n": {"name": "n", "version": "9.2.0"}}}


def cluster(asked=None, *, nodes=NODES, health=(200, HEALTH), analysis=(200, {"tokens": []}), snapshots=()):
    """Run a node of a cluster."""
    answers = {"_nodes": (200, nodes), "health": health, "_analyze": analysis}
    answers |= {"_snapshot": (200, {"snapshots": [*snapshots]}), "": (200, {})}
    return answering(answers, asked, X_Elastic_Product="Elasticsearch")


def public(status, body, **headers):
    return answering({"": (status, body)}, **headers)


def errors(*codes):
    return {"status": "ok", "errors": [*codes]}


KEY = "sehr-geheim-0815"
NOWHERE = "http://127.0.0.1:9/v1"  # the discard port: nothing listens
HERE = "https://127.0.0.1:9"
ELSEWHERE = "http://other.example/"
LLM = {"llm__base_url": "{url}", "llm__model": "tiny-writer", "llm__api_key": KEY}
ENGINE = {"engine": "elasticsearch", "elasticsearch__url": "{url}"}
PUBLIC = {"server__public_url": "{url}"}
SIGN_IN = PUBLIC | {
    "server__sign_in__issuer": "{url}",
    "server__sign_in__client_id": "shrag",
    "server__sign_in__groups": '{"*": "reader"}',
}
FENCED = '```json\n{"season": "winter", "waves": "calm", "lines": ["salt"]}\n```'
NOT_KNOWN = 400, {"error": {"type": "illegal_argument_exception", "reason": "no [nori_tokenizer]"}}
FORBIDDEN = 403, {"error": {"type": "security_exception", "reason": "action [cluster:admin/analyze]"}}
OLD = {"nodes": {"n": {"name": "n", "version": "9.1.3"}}}
URL, PARSER = "SHRAG_ELASTICSEARCH__URL", "--reasoning-parser"
SNAPSHOTS = [
    {"snapshot": "s", "indices": ["shrag-papers@000001"], "shards": {"total": 1}}
    | {"state": state, "start_time": f"{day}T00:00:00.000Z", "duration_in_millis": 1}
    for state, day in (("FAILED", "2026-01-09"), ("SUCCESS", "2020-01-02"))
]


def model(subject, judged, *said, settings=None, **server):
    """Return a row of a model's server: what it is, and what of it is found."""
    return lambda: model_server(**server), LLM | (settings or {}), ("language model", subject), judged, *said


def engine(subject, status, *said, **changed):
    return lambda: cluster(**changed), ENGINE, ("engine", subject), status, *said


def address(status, body, *said):
    good = "wrong" if said[1:] else "ok"
    return lambda: public(status, body, Location=ELSEWHERE), PUBLIC, ("server", "public address"), good, *said


def setting(subject, status, **settings):
    given = {f"server__{name}": value for name, value in settings.items()}
    return nullcontext, given, ("server", subject), status


def issuer(issuer, status):
    body = {"issuer": issuer, "status": "ok"}
    return lambda: public(200, body), SIGN_IN, ("server", "sign-in"), status


def backup(snapshots, said):
    return lambda: cluster(snapshots=snapshots), ENGINE, ("backup", "last backup"), "warning", said


def warned_of_http(check, table, **beside):
    given = {"base_url": "http://192.0.2.1.invalid/v1", "api_key": KEY, "allow_plain_http": "true"}
    settings = {f"{table}__{name}": value for name, value in given.items()} | beside
    return nullcontext, settings, (check, "encryption"), "warning"


NO_MODELS: list[Any] = [b"<h1>It works!</h1>", [], {"data": [1]}, b"[" * 100_000]
NO_NODES: list[Any] = [{}, [], {"nodes": [1]}, {"nodes": {"n": {"version": "new"}}}]

# What runs, the settings, the finding, its status, and words of what is found and of its remedy.
ROWS: list[Any] = [
    model("JSON schema", "wrong", "answered", PARSER, message={"content": "Grey swell,\ngrey sky."}),
    model("JSON schema", "wrong", "answered", PARSER, message={"content": FENCED}),
    model("JSON schema", "wrong", "reasoning", PARSER, message={"content": "", "reasoning": "x"}),
    model("JSON schema", "wrong", "answered 400", "vLLM", status=400),
    model("context", "warning", "4,096 tokens", "--max-model-len", max_model_len=4096),
    model("model", "wrong", ": tiny-writer", "SHRAG_LLM__MODEL", settings={"llm__model": "Qwen"}),
    model("model", "wrong", "", "SHRAG_LLM__OTHER_MODELS", settings={"llm__other_models": "Qwen"}),
    model("reachable", "wrong", "401", key="b"),
    model("reachable", "wrong", "", "start the server", settings={"llm__base_url": NOWHERE}),
    *(
        (
            lambda body=body: public(200, body),
            LLM,
            ("language model", "reachable"),
            "wrong",
            "application/json",
        )
        for body in NO_MODELS
    ),
    engine("nori", "wrong", "nori_tokenizer", analysis=NOT_KNOWN),
    engine("nori", "warning", analysis=FORBIDDEN),
    engine("nori", "ok"),
    engine("version", "wrong", nodes=OLD),
    *(engine("reachable", "wrong", "", URL, nodes=nodes) for nodes in NO_NODES),
    *(
        engine("health", status, health=(200, HEALTH | {"status": colour}))
        for colour, status in (("yellow", "warning"), ("red", "wrong"), ("grey", "warning"))
    ),
    backup([], "there is none"),
    backup(SNAPSHOTS, "2020-01-02"),
    address(200, {"status": "ok"}, "SHRAG answers"),
    address(200, errors("keys-unreadable"), "keys-unreadable", "read the log of shrag serve"),
    address(200, ["another"], '["another"]', "let the proxy forward all paths"),
    address(404, {}, "(404)", "let the proxy forward all paths"),
    address(421, {}, "name", "let the proxy forward the name"),
    address(502, {}, "(502)", "start shrag serve"),
    address(302, {}, ELSEWHERE, "set SHRAG_SERVER__PUBLIC_URL"),
    setting("proxy", "not configured"),
    setting("proxy", "ok", proxies="10.0.0.5, 10.1.0.0/16"),
    setting("proxy", "wrong", proxies="0.0.0.0/0"),
    setting("proxy", "wrong", proxies="::/0"),
    setting("proxy", "warning", public_url=HERE),
    setting("public address", "wrong", public_url=HERE),
    setting("proxy", "ok", public_url=HERE, proxies="127.0.0.1"),
    *(setting(subject, "not configured") for subject in ("public address", "sign-in", "keys")),
    issuer("{url}", "ok"),
    issuer("https://id.example.org", "wrong"),
    issuer(None, "wrong"),
    warned_of_http("language model", "llm", llm__model="m"),
    warned_of_http("encoder", "encoder", encoder__provider="endpoint"),
]


@pytest.mark.parametrize(
    "row", ROWS, ids=[f"{number} {row[2][1]} {row[3]}" for number, row in enumerate(ROWS)]
)
def test_a_server_and_its_settings_are_judged(tmp_path, row):
    run, settings, key, status, found, remedy = (*row, "", "")[:6]
    with run() as server:
        url = getattr(server, "base_url", server)
        given = {name: url if value == "{url}" else value for name, value in settings.items()}
        code, findings = doctor(tmp_path, **given)
    finding = findings[key]
    assert finding["status"] == status, finding
    assert code == ("wrong" in {each["status"] for each in findings.values()})
    assert found in finding["found"]
    assert remedy in finding["configured"] + finding["remedy"]
    assert KEY not in json.dumps(list(findings.values()))


def test_a_cluster_without_a_master_is_wrong_and_is_not_waited_for_again(tmp_path):
    no_master = {"error": {"type": "master_not_discovered_exception", "reason": None}, "status": 503}
    asked: list[str] = []
    with cluster(asked, health=(503, no_master)) as url:
        code, found = doctor(tmp_path, engine="elasticsearch", elasticsearch__url=url)
    assert (code, found["engine", "reachable"]["status"]) == (1, "wrong")
    assert found["index", "list"]["found"].startswith("not checked")
    assert [path.partition("?")[0] for path in asked] == ["/_nodes/plugins", "/_cluster/health"]
    assert "master_timeout=4s" in asked[1]


def test_a_password_that_goes_unencrypted_to_another_machine_is_a_warning(monkeypatch):
    monkeypatch.setattr(indexes, "LOOK_S", 0.1)
    given = {"url": "http://192.0.2.1:9200", "password": "x", "allow_plain_http": "true"}
    for name, value in given.items():
        monkeypatch.setenv(f"SHRAG_ELASTICSEARCH__{name.upper()}", value)
    monkeypatch.setenv("SHRAG_ENGINE", "elasticsearch")
    found = {finding.subject: finding for finding in check_engine(Examined(Settings.from_environment()))}
    assert found["encryption"].status == "warning"
    assert "192.0.2.1" in found["encryption"].found


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
    ("files", "status", "found"),
    [
        ({"old": 30, "new": 2}, "ok", "2.0 days ago"),
        ({"old": 30, ".hidden": 1}, "warning", "30.0 days ago"),
        ({}, "warning", "there is none"),
        ({"new": -30}, "warning", "-30.0 days ago"),
    ],
)
def test_the_newest_file_of_the_backups_has_their_age(tmp_path, files, status, found):
    (folder := tmp_path / "backups").mkdir()
    (folder / "latest").symlink_to(folder / "gone")
    for name, days in files.items():
        (folder / name).write_text("x")
        os.utime(folder / name, (then := time.time() - days * 86_400, then))
    finding = doctor(tmp_path / "home", backups=folder)[1]["backup", "last backup"]
    assert (finding["status"], finding["found"].endswith(found)) == (status, True)


def test_a_backup_may_be_incomplete_or_missing(tmp_path):
    def found(place, subject="last backup"):
        return doctor(tmp_path / "home", backups=place)[1]["backup", subject]

    assert found(tmp_path / "nowhere")["status"] == "wrong"
    (folder := tmp_path / "backups" / "1").mkdir(parents=True)
    made = FolderBackup("1", "2026-11-28T00:00:00+00:00", (), 0, 0, failed={"papers": "damaged"})
    (folder / "backup.json").write_text(json.dumps(asdict(made)))
    assert found(folder.parent, "incomplete backup")["found"] == "it is without papers"
