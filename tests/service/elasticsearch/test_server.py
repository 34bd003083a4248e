"""The HTTP server before a real cluster: the same hits as embedded, and a cluster that comes back."""

import time
from contextlib import ExitStack

import httpx
import pytest

from indexer.settings import IndexerSettings
from tests.generator.sample_index import ENGLISH, ENGLISH_OF_KOREAN, NAME
from tests.indexer.made_corpora import ROOT, paper, write_jsonl
from tests.server.running import Served, serving
from tests.service.elasticsearch.builds import build
from tests.service.elasticsearch.own_prefix import environment_of, own_prefix
from tests.service.elasticsearch.server import Access, Server

pytest_plugins = ["tests.generator.sample_index"]

# Not S03: it is about the one record of the sample in which nori finds another word.
KOREAN = "논에 물을 대고 빼는 방식을 바꾸면 메탄이 얼마나 줄고, 그때 쌀 수확량도 함께 떨어지는가?"
CALLS = [
    {"question": KOREAN},
    {"question": ENGLISH, "method": "or", "year": "2015..2024"},
    {"question": ENGLISH_OF_KOREAN, "keywords": ["hard carbon", "나트륨"], "skip": ["SQ1"]},
    {"question": '제목:"고체 전해질" OR moisture', "method": "boolean"},
    {"question": "battery without cobalt", "lang": "en", "method": "paper"},
]
BACK_S = 120  # a loaded machine's


def before(settings: IndexerSettings, log, **options):
    """Serve what lies in a cluster."""
    named = {name.removeprefix("SHRAG_"): value for name, value in environment_of(settings).items()}
    return serving(settings.home, log, **named, **options)


def asked(server: Served, call) -> httpx.Response:
    return httpx.post(f"{server.url}/api/v1/search", json=call, timeout=120)


@pytest.mark.nightly
def test_both_engines_give_the_same_hits(elasticsearch: Access, sample_home, tmp_path):
    with own_prefix(elasticsearch) as make:
        settings = make(tmp_path / "home")
        build(settings, ROOT / "sample" / "papers.jsonl", name=NAME)
        with (
            serving(sample_home, tmp_path / "embedded") as embedded,
            before(settings, tmp_path / "cluster") as cluster,
        ):
            for call in CALLS:
                both = [asked(server, call).json() for server in (embedded, cluster)]
                hits = [
                    [(hit["passage_id"], hit["snippet"], hit["found_by_names"]) for hit in each["hits"]]
                    for each in both
                ]
                assert hits[0]
                assert hits[1] == hits[0], call
                assert both[1]["queries"] == both[0]["queries"]
                scores = [[hit["score"] for hit in each["hits"]] for each in both]
                assert scores[1] == pytest.approx(scores[0], rel=1e-3)


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
