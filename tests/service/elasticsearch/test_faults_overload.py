"""A cluster that turns requests away: who tries again, how often, and what is told in the end."""

import json
from collections.abc import Iterator

import pytest

from indexer.settings import IndexerSettings
from retriever.index import open_index
from tests.needs import mostly_nightly
from tests.retriever.made_papers import found
from tests.service.elasticsearch.faults import (
    NAME,
    WAITED_S,
    Command,
    build,
    clean,
    command,
    contents,
    corpus,
    settings_for,
)
from tests.service.elasticsearch.proxy import Proxy, proxy_before
from tests.service.elasticsearch.server import Access

__all__ = ["command"]

OVERLOADED = {
    "type": "es_rejected_execution_exception",
    "reason": "rejected execution of coordinating operation",
}
QUESTION = "지식 그래프"


def whole(status: int):
    return status, {"error": OVERLOADED | {"root_cause": [OVERLOADED]}, "status": status}


@pytest.fixture
def proxy(elasticsearch: Access) -> Iterator[Proxy]:
    with proxy_before(elasticsearch) as proxy:
        yield proxy


@pytest.fixture
def settings(proxy: Proxy, tmp_path) -> Iterator[IndexerSettings]:
    settings = settings_for(proxy.access, tmp_path, "overload", patience_s=WAITED_S)
    corpus(tmp_path, 40)
    yield settings
    proxy.answers = lambda *_: None
    clean(settings)


@pytest.fixture(scope="module")
def undisturbed(elasticsearch: Access, tmp_path_factory):
    settings = settings_for(elasticsearch, tmp_path_factory.mktemp("undisturbed"), "smooth")
    build(settings, corpus(settings.home, 40))
    yield contents(settings)
    clean(settings)


@pytest.mark.parametrize("status", mostly_nightly([429, 502, 503, 504], by_day={429}))
def test_a_search_is_sent_four_times(status: int, proxy: Proxy, settings):
    build(settings, settings.home / "papers.jsonl")
    with open_index(settings, NAME) as index:
        wanted = found(index, QUESTION)
        proxy.seen.clear()
        found(index, QUESTION)
        at_rest = proxy.seen["_msearch"]

        proxy.fail("_msearch", whole(status), times=3)
        assert found(index, QUESTION).hits == wanted.hits
        assert proxy.seen["_msearch"] == at_rest + 3


@pytest.mark.parametrize(("status", "message"), [(429, "overloaded"), (503, "is not ready")])
def test_the_fifth_time_a_search_is_given_up(
    status: int, message: str, proxy: Proxy, settings, command: Command, monkeypatch
):
    monkeypatch.setenv("SHRAG_DROP_INCOMPLETE", "false")  # else papers without a text are counted beside it
    build(settings, settings.home / "papers.jsonl")
    proxy.fail("_msearch", whole(status), times=1000)
    told = command.told(settings, "search", QUESTION, "--name", NAME)
    assert message in told
    assert "try again" in told
    assert proxy.seen["_msearch"] == 4


@pytest.mark.parametrize("status", mostly_nightly([429, 502, 503, 504], by_day={429}))
def test_a_bulk_request_is_tried_again_by_one_layer_alone(status: int, proxy: Proxy, settings, undisturbed):
    path = settings.home / "papers.jsonl"
    build(settings, path)
    in_peace = proxy.seen["_bulk"]

    proxy.fail("_bulk", whole(status), times=2)
    build(settings, path, rebuild=True)

    assert proxy.seen["_bulk"] == in_peace + 2
    assert contents(settings) == undisturbed


def test_a_cluster_that_stays_overloaded_is_told_when_patience_ends(
    proxy: Proxy, settings, undisturbed, command: Command
):
    proxy.fail("_bulk", whole(429), times=1000)
    told = command.told(impatient(settings), "index", settings.home / "papers.jsonl", "--name", NAME)
    assert "overloaded" in told

    proxy.answers = lambda *_: None
    build(settings, settings.home / "papers.jsonl")
    assert contents(settings) == undisturbed


def turn_away(proxy: Proxy, share: int, times: int) -> None:
    """Answer the next bulk requests with 429 for every so many-th document, and lose the others."""
    left = [times]

    def answers(method: str, path: str, body: bytes):
        del method
        if not path.endswith("_bulk") or left[0] == 0:
            return None
        left[0] -= 1
        lines = body.decode().splitlines()
        items = []
        for number, action in enumerate(lines[::2]):
            name = json.loads(action)["index"]["_id"]
            if number % share == 0:
                items.append({"index": {"_id": name, "status": 429, "error": OVERLOADED}})
            else:
                items.append({"index": {"_id": name, "status": 201, "result": "created"}})
        return 200, {"took": 1, "errors": True, "items": items}

    proxy.seen.clear()
    proxy.answers = answers


def test_of_a_bulk_request_only_documents_turned_away_are_sent_again(proxy: Proxy, settings):
    turn_away(proxy, 3, times=1)
    settings = changed(settings, request_bytes=5_000_000)
    with pytest.raises(
        Exception, match=r"the cluster contains 16 passages in .* instead of the 48 that it accepted"
    ) as told:
        build(settings, settings.home / "papers.jsonl")
    assert "nothing was published" in str(told.value)
    assert "starts over" in str(told.value)
    assert proxy.seen["_bulk"] == 2

    proxy.answers = lambda *_: None
    assert build(settings, settings.home / "papers.jsonl").manifest.papers == 40


def changed(settings: IndexerSettings, **of_cluster: float) -> IndexerSettings:
    return settings.model_copy(update={"elasticsearch": settings.elasticsearch.model_copy(update=of_cluster)})


def impatient(settings: IndexerSettings) -> IndexerSettings:
    return changed(settings, patience_s=3)


def test_documents_turned_away_until_patience_ends_are_told(
    proxy: Proxy, settings, undisturbed, command: Command
):
    turn_away(proxy, 1, times=1000)
    told = command.told(impatient(settings), "index", settings.home / "papers.jsonl", "--name", NAME)
    assert "429" in told
    assert "overloaded" in told
    assert "repeat the command" in told

    proxy.answers = lambda *_: None
    build(settings, settings.home / "papers.jsonl")
    assert contents(settings) == undisturbed


def test_documents_whose_answer_got_lost_are_there_once(proxy: Proxy, settings, undisturbed):
    proxy.cut = 3
    build(settings, settings.home / "papers.jsonl")
    assert proxy.cut == 0
    assert contents(settings) == undisturbed
