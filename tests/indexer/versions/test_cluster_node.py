"""What is refused of whatever answers at a cluster's address: foreign names, long answers, other servers."""

import json
import resource
import shutil
import socket
import subprocess
import sys
import time
import zlib
from typing import Any, ClassVar

import pytest
from pydantic import SecretStr

from indexer.errors import EngineRefused, EngineUnreachable
from indexer.settings import ElasticsearchSettings
from tests.http_server import Handler, certificate_for, serving

pytest.importorskip("elasticsearch")
from indexer.versions.cluster.connection import Cluster

PRODUCT = {"X-Elastic-Product": "Elasticsearch"}
KEY = SecretStr("c2VjcmV0OmtleQ==")
MIB = 1 << 20


class Server(Handler):
    """Answers everything with `status`, `headers` and `body`, or with `parts` until it is hung up on."""

    status = 200
    headers_sent = PRODUCT | {"Content-Type": "application/json"}
    body = b'{"nodes": {}}'
    parts = None
    seen: ClassVar[list[str]] = []

    def get(self):
        self.seen.append(self.headers.get("Authorization", ""))
        self.send_response(self.status)
        for name, value in self.headers_sent.items():
            self.send_header(name, value)
        if self.parts is None:
            self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        try:
            self.wfile.write(self.body)
            while self.parts:
                self.wfile.write(self.parts)
        except OSError:
            pass

    post = get


def server(**changed):
    """Return a server that answers so."""
    return type("Answering", (Server,), {"seen": [], **changed})


def asked(url, **settings):
    with Cluster(ElasticsearchSettings(url=url, **settings)) as cluster:
        return cluster.run(cluster.client.nodes.info())


@pytest.fixture
def certificate(tmp_path):
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificates of this test")
    return lambda names: certificate_for(names, tmp_path / "server.crt")


def test_a_certificate_for_the_number_of_the_address_is_trusted(certificate):
    own = certificate("IP:127.0.0.1")
    with serving(server(), own) as url:
        assert asked(url, ca_certs=own)["nodes"] == {}


@pytest.mark.parametrize("names", ["DNS:elsewhere.example", "IP:127.0.0.2", "DNS:127.0.0.1"])
def test_a_certificate_of_another_server_is_refused_before_a_key_is_sent(certificate, names):
    answering, other = server(), certificate(names)
    with (
        serving(answering, other) as url,
        pytest.raises(EngineUnreachable, match=r"certificate .* is rejected") as told,
    ):
        asked(url, ca_certs=other, api_key=KEY)
    assert "mismatch" in str(told.value)
    assert answering.seen == []


def test_a_certificate_that_nobody_trusted_signed_is_refused_with_the_setting(certificate):
    with serving(server(), certificate("IP:127.0.0.1")) as url, pytest.raises(EngineUnreachable) as told:
        asked(url)
    assert "SHRAG_ELASTICSEARCH__CA_CERTS" in str(told.value)


def test_tls_to_a_server_without_is_no_matter_of_trust():
    with serving(server()) as url, pytest.raises(EngineUnreachable, match="TLS") as told:
        asked(url.replace("http:", "https:"))
    assert "use http:// in SHRAG_ELASTICSEARCH__URL" in str(told.value)
    assert "CA_CERTS" not in str(told.value)


def test_no_tls_to_a_server_with_it_is_told_as_possible(certificate):
    with serving(server(), certificate("IP:127.0.0.1")) as url, pytest.raises(EngineUnreachable) as told:
        asked(url.replace("https:", "http:"))
    assert "SHRAG_ELASTICSEARCH__URL" in str(told.value)


def test_a_redirection_is_not_followed():
    elsewhere = server()
    with serving(elsewhere) as other:
        headers = {"Location": f"{other}/_nodes"}
        with (
            serving(server(status=302, headers_sent=headers)) as url,
            pytest.raises(EngineRefused, match="is not El"),
        ):
            asked(url, api_key=KEY)
    assert elsewhere.seen == []


PACKER = zlib.compressobj(wbits=31)  # whose pieces may follow each other in any number
ENDLESS: dict[str, dict[str, Any]] = {
    "an answer": {"body": b'{"nodes": "', "parts": b"x" * MIB},
    "a refusal": {"status": 503, "body": b'{"error": "', "parts": b"x" * MIB},
    "a page": {"headers_sent": {"Content-Type": "text/html"}, "parts": b"x" * MIB},
    "a proxy": {"status": 502, "headers_sent": {"Content-Type": "text/html"}, "parts": b"x" * MIB},
    "packed": {
        "headers_sent": Server.headers_sent | {"Content-Encoding": "gzip"},
        "body": PACKER.compress(b'{"nodes": "') + PACKER.flush(zlib.Z_FULL_FLUSH),
        "parts": PACKER.compress(b"x" * 16 * MIB) + PACKER.flush(zlib.Z_FULL_FLUSH),
    },
    "many values": {"body": b"[" + b"{}," * 5_000_000 + b"1]"},
}
ASK = """
import re, sys
from pathlib import Path
from indexer.versions.cluster.connection import Cluster
from indexer.errors import ResourceError
from indexer.settings import ElasticsearchSettings

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])

with Cluster(ElasticsearchSettings(url=sys.argv[1])) as cluster:
    before = peak()
    try:
        cluster.run(cluster.client.nodes.info())
    except ResourceError as error:
        print((peak() - before) // 1024, error)
"""


@pytest.mark.parametrize("name", ENDLESS)
def test_an_answer_without_end_is_given_up_with_little_memory(name):
    with serving(server(**ENDLESS[name])) as url:
        command = [sys.executable, "-c", ASK, url]
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=120, preexec_fn=_with_limited_memory
        )
    megabytes, told = done.stdout.split(maxsplit=1)
    assert int(megabytes) < 300
    assert f"at {url}" in told


def _with_limited_memory():
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))


def test_an_answer_that_trickles_is_given_up_in_time():
    class Trickling(Server):
        def get(self):
            self.send_response(200)
            for name, value in self.headers_sent.items():
                self.send_header(name, value)
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b" ")
                    time.sleep(0.1)
            except OSError:
                pass

    with serving(Trickling) as url, pytest.raises(EngineUnreachable, match="1 s"):
        asked(url, timeout_s=1)


def test_the_limit_is_a_setting():
    body = json.dumps({"nodes": "x" * 1_500_000}).encode()
    with serving(server(body=body)) as url:
        assert asked(url)["nodes"]
        with pytest.raises(EngineRefused, match="SHRAG_ELASTICSEARCH__ANSWER_BYTES"):
            asked(url, answer_bytes=1_000_000)


def test_what_does_not_say_that_it_is_elasticsearch_is_no_cluster_that_is_red():
    page = server(
        status=503, headers_sent={"Content-Type": "text/html"}, body=b"<h1>Service Unavailable</h1>"
    )
    with (
        serving(page) as url,
        pytest.raises(EngineRefused, match="Elasticsearch") as told,
    ):
        asked(url)
    assert "red" not in str(told.value)


def test_of_several_nodes_one_that_takes_no_connection_is_passed_over(monkeypatch):
    monkeypatch.setattr("indexer.versions.cluster.node.CONNECT_S", 2)
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        port = full.getsockname()[1]
        fillers = [socket.socket() for _ in range(2)]
        try:
            for filler in fillers:  # its queue is full: what comes next waits
                filler.setblocking(False)
                filler.connect_ex(("127.0.0.1", port))
            with serving(server()) as url:
                for _ in range(3):
                    assert asked(f"http://127.0.0.1:{port},{url}", timeout_s=120)["nodes"] == {}
        finally:
            for filler in fillers:
                filler.close()
