"""The HTTP server before a real cluster that dies and comes back."""

import time
from contextlib import ExitStack

import httpx
import pytest

from indexer.settings import IndexerSettings
from tests.indexer.made_corpora import paper, write_jsonl
from tests.server.running import Served, serving
from tests.service.elasticsearch.builds import build
from tests.service.elasticsearch.own_prefix import environment_of, own_prefix
from tests.service.elasticsearch.server import Server

BACK_S = 120  # a loaded machine's


def before(settings: IndexerSettings, log, **options):
    """Serve what lies in a cluster."""
    named = {name.removeprefix("SHRAG_"): value for name, value in environment_of(settings).items()}
    return serving(settings.home, log, **named, **options)


def asked(server: Served, call) -> httpx.Response:
    return httpx.post(f"{server.url}/api/v1/search", json=call, timeout=120)


@pytest.mark.nightly
def test_a_cluster_that_is_gone_is_told_with_the_next_step_and_answers_when_it_is_back(
    own_server: Server, tmp_path
):
    call = {"question": "지식 그래프"}
    with own_prefix(own_server.access) as make, ExitStack() as stack:
        settings = make(tmp_path / "home", cluster={"patience_s": 3})
        build(settings, write_jsonl(tmp_path / "papers.jsonl", map(paper, range(20))))
        server = stack.enter_context(before(settings, tmp_path / "log"))
        found = asked(server, call).json()["hits"]
        assert found
        own_server.kill()
        refused = asked(server, call)
        described = refused.json()
        assert (refused.status_code, described["code"]) == (503, "engine-unreachable")
        assert own_server.access.url not in refused.text
        assert own_server.access.url in server.log.read_text("utf-8")
        streamed = httpx.post(
            f"{server.url}/api/v1/ask", json=call, headers={"Accept": "text/event-stream"}, timeout=120
        )
        assert "engine-unreachable" in streamed.text
        assert httpx.get(f"{server.url}/healthz", timeout=240).status_code == httpx.codes.OK
        own_server.restart()
        ends = time.monotonic() + BACK_S
        while (again := asked(server, call)).status_code != httpx.codes.OK and time.monotonic() < ends:
            time.sleep(0.5)
        assert [hit["passage_id"] for hit in again.json()["hits"]] == [hit["passage_id"] for hit in found]
        assert "Traceback" not in server.log.read_text("utf-8")
