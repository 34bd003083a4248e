"""What `shrag doctor` finds of a cluster that lacks nodes or a master, and of what poses as one."""

from typing import ClassVar

import pytest

from generator.pipeline import Settings
from stack.doctor import indexes
from stack.doctor.findings import Examined
from stack.doctor.indexes import check_engine
from tests.http_server import Handler, serving
from tests.service.processes import free_ports
from tests.stack.asking_the_doctor import doctor

pytest.importorskip("elasticsearch")

NODES = {
    "cluster_name": "c",
    "nodes": {"n": {"name": "n", "version": "9.2.0", "plugins": [{"name": "analysis-nori"}]}},
}
NOT_KNOWN = 400, {"error": {"type": "illegal_argument_exception", "reason": "no [nori_tokenizer]"}}
FORBIDDEN = 403, {"error": {"type": "security_exception", "reason": "action [cluster:admin/analyze]"}}
HEALTH = {"cluster_name": "c", "status": "green", "number_of_nodes": 1}
NO_MASTER = {"error": {"type": "master_not_discovered_exception", "reason": None}, "status": 503}


class Node(Handler):
    """A node of three, with a master or without one."""

    health = 200, HEALTH
    plugins = NODES
    analysis: tuple[int, dict[str, list[str]]] = (200, {"tokens": []})
    paths: ClassVar[list[str]] = []

    def get(self):
        self.paths.append(self.path)
        status, body = self.health if "health" in self.path else (200, self.plugins)
        if "_nodes" not in self.path and "health" not in self.path:
            status, body = 200, {}
        self.answer(status, body)

    def post(self):
        self.paths.append(self.path)
        self.answer(*self.analysis)

    def end_headers(self):
        self.send_header("X-Elastic-Product", "Elasticsearch")
        super().end_headers()


def node(**changed):
    return type("Answering", (Node,), {"paths": [], **changed})


def at(*urls):
    return {"engine": "elasticsearch", "elasticsearch__url": ",".join(urls)}


def down():
    return f"http://127.0.0.1:{free_ports(1)[0]}"


def test_nodes_that_are_down_are_named_and_the_others_answer(tmp_path):
    gone = down()
    with serving(node()) as url:
        code, found = doctor(tmp_path, **at(gone, url))
    assert (code, found["engine", "reachable"]["status"]) == (0, "warning")
    assert gone in found["engine", "reachable"]["found"]
    assert found["engine", "health"]["status"] == "ok"


def test_a_cluster_without_a_master_is_wrong_and_is_not_waited_for_again(tmp_path):
    lonely = node(health=(503, NO_MASTER))
    with serving(lonely) as url:
        code, found = doctor(tmp_path, **at(down(), url, down()))
    assert (code, found["engine", "reachable"]["status"]) == (1, "wrong")
    assert found["index", "list"]["found"].startswith("not checked")
    assert [path.partition("?")[0] for path in lonely.paths] == ["/_nodes/plugins", "/_cluster/health"]
    assert "master_timeout=4s" in lonely.paths[1]


OLD = {"nodes": {"n": {"name": "north", "version": "9.1.3", "plugins": []}}}
UNNAMED = {"nodes": {"n": {"name": "n", "version": "9.2.0"}}}
URL = "SHRAG_ELASTICSEARCH__URL"


@pytest.mark.parametrize(
    ("changed", "subject", "status", "told"),
    [
        ({"plugins": OLD, "analysis": NOT_KNOWN}, "nori", "wrong", "north"),
        ({"plugins": OLD, "analysis": NOT_KNOWN}, "version", "wrong", ""),
        ({"plugins": UNNAMED, "analysis": FORBIDDEN}, "nori", "warning", ""),
        ({"plugins": UNNAMED}, "nori", "ok", ""),
        ({"plugins": {}}, "reachable", "wrong", URL),
        ({"plugins": []}, "reachable", "wrong", URL),
        ({"plugins": {"nodes": [1]}}, "reachable", "wrong", URL),
        ({"plugins": {"nodes": {"n": {"version": "new"}}}}, "reachable", "wrong", URL),
        ({"health": (200, HEALTH | {"status": "yellow"})}, "health", "warning", ""),
        ({"health": (200, HEALTH | {"status": "red"})}, "health", "wrong", ""),
        ({"health": (200, HEALTH | {"status": "grey"})}, "health", "warning", ""),
    ],
)
def test_a_cluster_is_judged(tmp_path, changed, subject, status, told):
    with serving(node(**changed)) as url:
        code, found = doctor(tmp_path, **at(url))
    finding = found["engine", subject]
    assert (code, finding["status"]) == (status == "wrong", status)
    assert told in finding["configured"] + finding["remedy"]


def test_a_password_that_goes_unencrypted_to_another_machine_is_a_warning(tmp_path, monkeypatch):
    monkeypatch.setattr(indexes, "LOOK_S", 0.1)
    given = {"url": "http://192.0.2.1:9200", "password": "x", "allow_plain_http": "true"}
    for name, value in given.items():
        monkeypatch.setenv(f"SHRAG_ELASTICSEARCH__{name.upper()}", value)
    monkeypatch.setenv("SHRAG_ENGINE", "elasticsearch")
    found = {finding.subject: finding for finding in check_engine(Examined(Settings.from_environment()))}
    assert found["encryption"].status == "warning"
    assert "192.0.2.1" in found["encryption"].found
