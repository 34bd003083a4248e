"""A cluster that turns requests away, loses nodes, hangs or dies: who tries again, and what is told."""

import json
import re
from collections.abc import Callable, Iterator

import pytest

from indexer.errors import EngineRefused
from indexer.settings import IndexerSettings
from retriever.index import open_index
from retriever.settings import RetrieverSettings
from tests.indexer.made_corpora import answers
from tests.needs import mostly_nightly
from tests.retriever.made_papers import found
from tests.service.elasticsearch.cluster import NAME, build, corpus, failure_of, own_prefix, some, state
from tests.service.elasticsearch.proxy import Answer, Proxy, proxy_before
from tests.service.elasticsearch.server import Access

QUESTION = "지식 그래프"
ALONE = RetrieverSettings(drop_incomplete=False)  # else papers without a text are counted beside the search
BUSY = {"type": "es_rejected_execution_exception", "reason": "rejected execution of coordinating operation"}
WAITED_S = 240  # however slow the machine; below the time that a test may take


def refusal(status: int) -> Callable[[bytes], Answer]:
    return lambda _: (status, {"error": BUSY | {"root_cause": [BUSY]}, "status": status})


def turned_away(share: int) -> Callable[[bytes], Answer]:
    """Turn every so many-th document of a bulk request away, and lose the others."""

    def answer(body: bytes) -> Answer:
        names = [json.loads(action)["index"]["_id"] for action in body.decode().splitlines()[::2]]
        told = [{"status": 201} if n % share else {"status": 429, "error": BUSY} for n in range(len(names))]
        items = [{"index": {"_id": name} | each} for name, each in zip(names, told, strict=True)]
        return 200, {"took": 1, "errors": True, "items": items}

    return answer


def lost(kind: str) -> Callable[[bytes], Answer]:
    """Let all searches of a request fail."""
    cause = {"type": kind, "reason": "[node-3][127.0.0.1:27884] disconnected"}
    failure = {"type": "search_phase_execution_exception", "reason": "all", "root_cause": [cause]}
    each = {"error": failure, "status": 500}
    return lambda body: (200, {"responses": [each] * (len(body.splitlines()) // 2)})


@pytest.fixture
def proxy(elasticsearch: Access) -> Iterator[Proxy]:
    with proxy_before(elasticsearch) as proxy:
        yield proxy


@pytest.fixture
def settings(proxy: Proxy, tmp_path) -> Iterator[IndexerSettings]:
    """Return settings that reach the cluster through the proxy, and a corpus in the home."""
    cluster = {"patience_s": WAITED_S, "request_bytes": 20_000, "settle_s": 0.0}
    with own_prefix(proxy.access) as make:
        corpus(tmp_path, some(0, 40))
        yield make(tmp_path, cluster=cluster)
        proxy.answers = lambda *_: None


def changed(settings: IndexerSettings, **of_cluster: float) -> IndexerSettings:
    cluster = settings.elasticsearch.model_copy(update=of_cluster)
    return settings.model_copy(update={"elasticsearch": cluster})


@pytest.mark.parametrize("status", mostly_nightly([429, 503], by_day={429}))
def test_a_search_is_sent_four_times(status: int, proxy: Proxy, settings):
    build(settings, settings.home / "papers.jsonl")
    with open_index(settings, NAME) as index:
        wanted = index.engine.passages(["P00001"])
        proxy.fail("_msearch", refusal(status), times=3)
        assert index.engine.passages(["P00001"]) == wanted

        proxy.fail("_msearch", refusal(status), times=1_000)
        told = "is overloaded.*try again" if status == 429 else "is not ready.*_cluster/health"
        with pytest.raises(EngineRefused, match=told):
            index.engine.passages(["P00001"])
        assert proxy.seen["_msearch"] == 4


@pytest.mark.parametrize("status", mostly_nightly([429, 503], by_day={503}))
def test_a_build_goes_on_when_whole_requests_are_turned_away(status: int, proxy: Proxy, settings):
    build(settings, settings.home / "papers.jsonl", "undisturbed")
    proxy.fail("_bulk", refusal(status), times=2)
    build(settings, settings.home / "papers.jsonl")
    assert state(settings) == state(settings, "undisturbed")


def test_when_patience_ends_the_build_ends_with_a_line_and_the_same_command_resumes(proxy: Proxy, settings):
    proxy.fail("_bulk", refusal(429), times=1_000)
    told = failure_of(
        changed(settings, patience_s=3), "index", settings.home / "papers.jsonl", "--name", NAME
    )
    assert "is overloaded" in told

    proxy.fail("_bulk", turned_away(share=1), times=1_000)
    told = failure_of(
        changed(settings, patience_s=3), "index", settings.home / "papers.jsonl", "--name", NAME
    )
    assert re.search(r"does not take passage 'P\d+' \(429: .*repeat the command", told)

    proxy.answers = lambda *_: None
    assert build(settings, settings.home / "papers.jsonl").manifest.papers == 40


def test_of_a_bulk_request_only_documents_turned_away_are_sent_again(proxy: Proxy, settings):
    proxy.fail("_bulk", turned_away(share=3), times=1)
    report = build(changed(settings, request_bytes=5_000_000), settings.home / "papers.jsonl")
    assert (report.manifest.passages, proxy.seen["_bulk"]) == (16, 2)  # 32 of 48 are lost


def test_documents_whose_answer_got_lost_are_there_once(proxy: Proxy, settings):
    build(settings, settings.home / "papers.jsonl", "undisturbed")
    proxy.cut = 3
    build(settings, settings.home / "papers.jsonl")
    assert proxy.cut == 0
    assert state(settings)["documents"] == state(settings, "undisturbed")["documents"]


def test_a_search_whose_node_was_lost_is_sent_again_and_told_after_four_times(proxy: Proxy, settings):
    build(settings, settings.home / "papers.jsonl")
    with open_index(settings, NAME) as index:
        before = [(hit.passage_id, hit.score) for hit in found(index, QUESTION).hits]
        for kind in ("node_disconnected_exception", "connect_transport_exception"):
            proxy.fail("_msearch", lost(kind), times=2)
            assert [(hit.passage_id, hit.score) for hit in found(index, QUESTION).hits] == before
        for kind, told, times in (
            ("node_not_connected_exception", r"cannot search all of .*disconnected", 4),
            ("too_many_clauses", "refused a search", 1),
        ):
            proxy.fail("_msearch", lost(kind), times=1_000)
            with pytest.raises(EngineRefused, match=told):
                found(index, QUESTION, settings=ALONE)
            assert proxy.seen["_msearch"] == times


def test_a_server_that_hangs_is_told_with_the_setting_and_later_answers(proxy: Proxy, settings):
    path = settings.home / "papers.jsonl"
    build(settings, path)
    before = answers(settings)
    proxy.answering.clear()
    for arguments in (("search", QUESTION), ("index", path)):
        told = failure_of(changed(settings, timeout_s=2, patience_s=3), *arguments, "--name", NAME)
        assert re.search(r" 2 s; .* SHRAG_ELASTICSEARCH__TIMEOUT_S", told)
    proxy.answering.set()
    assert answers(settings) == before
