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
    """Return a server that answers so."""
    return type("Answering", (Server,), {"seen": [], **changed})


def asked(url, **settings):
    with connect(ElasticsearchSettings(url=url, **settings)) as client:
        return client.nodes.info()


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
    with serving(answering, other) as url:
        with pytest.raises(EngineUnreachable, match=r"certificate .* is rejected .*mismatch"):
            asked(url, ca_certs=other, api_key=KEY)
        searches = ManySearches(ElasticsearchSettings(url=url, ca_certs=other, api_key=KEY), "papers", {})
        with pytest.raises(EngineUnreachable, match=r"certificate .* is rejected"):
            searches.send([{}])
        searches.close()
        searches.close()  # again
    assert answering.seen == []


def test_what_is_wrong_with_tls_is_told_with_the_setting(certificate):
    with serving(server(), certificate("IP:127.0.0.1")) as url:
        with pytest.raises(EngineUnreachable, match="SHRAG_ELASTICSEARCH__CA_CERTS"):
            asked(url)
        with pytest.raises(EngineUnreachable, match="use https:// in SHRAG_ELASTICSEARCH__URL"):
            asked(url.replace("https:", "http:"))
    with serving(server()) as url, pytest.raises(EngineUnreachable, match="use http://") as told:
        asked(url.replace("http:", "https:"))
    assert "CA_CERTS" not in str(told.value)


def test_a_redirection_is_not_followed():
    elsewhere = server()
    with serving(elsewhere) as other:
        redirecting = server(status=302, headers_sent={"Location": f"{other}/_nodes"})
        with serving(redirecting) as url, pytest.raises(EngineRefused, match="not identify as Elasticsearch"):
            asked(url, api_key=KEY)
    assert elsewhere.seen == []


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


def test_a_proxy_s_page_is_no_red_cluster():
    page = server(status=503, headers_sent={"Content-Type": "text/html"}, body=b"<h1>Unavailable</h1>")
    with serving(page) as url, pytest.raises(EngineRefused, match="Elasticsearch") as told:
        asked(url)
    assert "red" not in str(told.value)


def test_a_search_that_is_refused_is_told_in_one_line_without_secrets():
    reason = "메탄 \x1b[2J\r\nGET http://elastic:changeme@10.0.0.5:9200 " + "x" * 1_000_000
    cause = {"type": "query_shard_exception", "reason": reason}
    answer = {"responses": [{"error": {"root_cause": [cause]}, "status": 400}]}

    refusing = server(body=json.dumps(answer).encode(), do_HEAD=Handler.do_GET)
    with serving(refusing) as url:
        searches = ManySearches(ElasticsearchSettings(url=url), "papers", {})
        with pytest.raises(EngineRefused, match=r"refused a search: 메탄 \[2J GET") as raised:
            searches.send([{"query": {"match_all": {}}}])
        searches.close()
    said = str(raised.value)
    assert "changeme" not in said
    assert said.isprintable()
    assert len(said) < 500
