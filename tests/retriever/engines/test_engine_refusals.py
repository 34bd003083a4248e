"""Searches that a cluster refuses one by one, in words that nothing bounds."""

import asyncio

import pytest

from indexer.errors import EngineRefused
from indexer.settings import ElasticsearchSettings
from tests.http_server import Handler, serving

pytest.importorskip("elasticsearch")
from indexer.versions.cluster.connection import Cluster
from retriever.engines.msearch import ManySearches


class Refusing(Handler):
    """Says that it is Elasticsearch, has every index, and refuses each search."""

    def end_headers(self):
        self.send_header("X-Elastic-Product", "Elasticsearch")
        super().end_headers()

    do_HEAD = Handler.do_GET  # noqa: N815 - as it is called

    def get(self):
        self.send_response(200)
        self.end_headers()

    def post(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        reason = "메탄 \x1b[2J\r\nGET http://elastic:changeme@10.0.0.5:9200 " + "x" * 1_000_000
        cause = {"type": "query_shard_exception", "reason": reason}
        self.answer(200, {"responses": [{"error": {"root_cause": [cause]}, "status": 400}]})


def test_what_it_says_is_one_line_that_holds_no_secret_of_its_own():
    with serving(Refusing) as url, Cluster(ElasticsearchSettings(url=url)) as cluster:
        searches = ManySearches(cluster, "papers", {})
        with pytest.raises(EngineRefused, match=r"refused a search: 메탄 \[2J GET") as raised:
            asyncio.run(searches.send([{"query": {"match_all": {}}}]))
    said = str(raised.value)
    assert "changeme" not in said
    assert said.isprintable()
    assert len(said) < 500
