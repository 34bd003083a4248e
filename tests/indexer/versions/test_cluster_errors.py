"""Errors of a client of a cluster: certificates, other servers, refusals; each with the next step."""

import json
import shutil
from typing import ClassVar

import pytest
from pydantic import SecretStr

from indexer.errors import EngineRefused, EngineUnreachable, VersionGone
from indexer.settings import ElasticsearchSettings
from tests.http_server import Handler, certificate_for, serving

pytest.importorskip("elasticsearch")
from indexer.versions.cluster.connection import connect
from retriever.engines.elasticsearch import ManySearches

PRODUCT = {"X-Elastic-Product": "Elasticsearch", "Content-Type": "application/json"}
KEY = SecretStr("c2VjcmV0OmtleQ==")


class Server(Handler):
    """Answers everything with `status`, `headers_sent` and `body`."""

    status = 200
    headers_sent = PRODUCT
    body = b'{"nodes": {}}'
    seen: ClassVar[list[str]] = []

    def get(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.seen.append(self.headers.get("Authorization", ""))
        self.send_response(self.status)
        for name, value in self.headers_sent.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(self.body)

    post = get


def server(**changed):
    return type("Answering", (Server,), {"seen": [], **changed})


def asked(url, **settings):
    with connect(ElasticsearchSettings(url=url, **settings)) as client:
        return client.nodes.info()


@pytest.fixture
def certificate(tmp_path):
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificates of this test")
    return lambda names: certificate_for(names, tmp_path / "server.crt")


@pytest.mark.parametrize("names", ["DNS:elsewhere.example", "IP:127.0.0.2", "DNS:127.0.0.1"])
def test_a_certificate_of_another_server_is_refused_before_a_key_is_sent(certificate, names):
    own = certificate("IP:127.0.0.1")
    with serving(server(), own) as url:
        assert asked(url, ca_certs=own)["nodes"] == {}
    answering, other = server(), certificate(names)
    with serving(answering, other) as url:
        with pytest.raises(EngineUnreachable, match=r"certificate .* is rejected .*mismatch"):
            asked(url, ca_certs=other, api_key=KEY)
        searches = ManySearches(ElasticsearchSettings(url=url, ca_certs=other, api_key=KEY), "papers", {})
        with pytest.raises(EngineUnreachable, match=r"certificate .* is rejected"):
            searches.send([{}])
        searches.close()
    assert answering.seen == []


def refusal(kind, reason):
    return json.dumps({"error": {"type": kind, "reason": reason, "root_cause": []}}).encode()


NORI, NO_NORI = "Unknown tokenizer type [nori_tokenizer]", "lacks the plugin analysis-nori"
REFUSALS = [
    (400, "illegal", NORI, EngineRefused, rf"{NO_NORI}.*\(bin/elasticsearch-plugin install analysis-nori\)"),
    (400, "illegal", "Invalid index name [shrag-nori*]", EngineRefused, "refused: Invalid index name"),
    (400, "media_type_header_exception", "Accept", EngineRefused, "major version.*use Elasticsearch 9"),
    (401, "security_exception", "no", EngineRefused, "does not accept these credentials.*…__API_KEY"),
    (403, "security_exception", "action [x] is", EngineRefused, r"required right: action \[x\]"),
    (403, "cluster_block_exception", "read-only", EngineRefused, "is read-only.*disk"),
    (404, "index_not_found_exception", "index [a]", VersionGone, r"gone .*\[a\].*SHRAG_KEEP_VERSIONS"),
    (429, "es_rejected_execution_exception", "queue", EngineRefused, "is overloaded"),
    (503, "cluster_block_exception", "master", EngineRefused, "is not ready.*master.*_cluster/health"),
]


@pytest.mark.parametrize(("status", "kind", "reason", "error", "told"), REFUSALS)
def test_a_refusal_is_described_with_the_next_step(status, kind, reason, error, told):
    with serving(server(status=status, body=refusal(kind, reason))) as url, pytest.raises(error, match=told):
        asked(url)
