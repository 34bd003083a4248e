"""Searches of which some fail within a request that is answered: a node was lost in the middle of them."""

from collections.abc import Iterator

import pytest

from indexer.errors import EngineRefused
from retriever.index import open_index
from retriever.settings import RetrieverSettings
from tests.retriever.made_papers import found
from tests.service.elasticsearch.faults import NAME, build, clean, corpus, settings_for
from tests.service.elasticsearch.proxy import Answer, Proxy, proxy_before
from tests.service.elasticsearch.server import Access

QUESTION = "지식 그래프"
ALONE = RetrieverSettings(drop_incomplete=False)  # else papers without a text are counted beside the search
DISCONNECTED = "[node-3][127.0.0.1:27884][indices:data/read/search[phase/query/id]] disconnected"


@pytest.fixture
def proxy(elasticsearch: Access) -> Iterator[Proxy]:
    with proxy_before(elasticsearch) as proxy:
        yield proxy


@pytest.fixture
def index(proxy: Proxy, tmp_path):
    settings = settings_for(proxy.access, tmp_path, "searches")
    build(settings, corpus(tmp_path, 40))
    with open_index(settings, NAME) as index:
        yield index
    proxy.answers = lambda *_: None
    clean(settings)


def all_fail(body: bytes, kind: str, reason: str) -> Answer:
    """Answer each search of a request with this failure."""
    cause = {"type": kind, "reason": reason}
    failure = {
        "type": "search_phase_execution_exception",
        "reason": "all shards failed",
        "root_cause": [cause],
    }
    return 200, {"responses": [{"error": failure, "status": 500}] * (len(body.splitlines()) // 2)}


@pytest.fixture
def spoil(proxy: Proxy):
    """Return what lets the searches of the next requests fail, and counts the searches of each request."""

    def spoil(kind: str, times: int) -> list[int]:
        sizes: list[int] = []

        def answers(method: str, path: str, body: bytes) -> Answer | None:
            del method
            if "_msearch" not in path:
                return None
            sizes.append(len(body.splitlines()) // 2)
            return all_fail(body, kind, DISCONNECTED) if len(sizes) <= times else None

        proxy.answers = answers
        return sizes

    return spoil


@pytest.mark.parametrize(
    "kind", ["node_disconnected_exception", "node_not_connected_exception", "connect_transport_exception"]
)
def test_a_search_whose_node_was_lost_is_sent_again(index, spoil, kind):
    before = [(hit.passage_id, hit.score) for hit in found(index, QUESTION).hits]

    spoil(kind, 2)

    assert [(hit.passage_id, hit.score) for hit in found(index, QUESTION).hits] == before


def test_a_node_that_stays_lost_is_told_after_four_times(index, spoil):
    sizes = spoil("node_disconnected_exception", 1000)

    with pytest.raises(EngineRefused, match=r"\(.*disconnected\)"):
        found(index, QUESTION, settings=ALONE)

    assert len(sizes) == 4


def test_another_failure_is_told_at_once(index, spoil):
    sizes = spoil("too_many_clauses", 1000)

    with pytest.raises(EngineRefused, match="refused a search"):
        found(index, QUESTION, settings=ALONE)

    assert len(sizes) == 1
