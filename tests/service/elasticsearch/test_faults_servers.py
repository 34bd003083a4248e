"""A server that is down, is another, hangs, or dies under a search."""

import re
import threading
import time
from collections.abc import Iterator

import pytest

from indexer.errors import EngineRefused, EngineUnreachable
from indexer.settings import IndexerSettings
from retriever.index import open_index
from tests.http_server import Handler, serving
from tests.retriever.made_papers import found
from tests.service.elasticsearch.faults import (
    NAME,
    Command,
    answers,
    build,
    command,
    corpus,
    settings_for,
)
from tests.service.elasticsearch.server import Access, Server
from tests.service.processes import free_ports

__all__ = ["command"]

QUESTION = "지식 그래프 검색"
STARTING = "no Elasticsearch answers|is not ready|cannot search all|did not answer|just started"
COMMANDS = {
    "index": ("index", "CORPUS", "--name", NAME),
    "search": ("search", QUESTION, "--name", NAME),
    "ask": ("ask", QUESTION, "--name", NAME),
    "explain": ("explain", QUESTION, "P00001", "--name", NAME),
    "list": ("indexes", "list"),
    "show": ("indexes", "show", NAME),
    "rollback": ("indexes", "rollback", NAME),
    "remove": ("indexes", "remove", NAME, "P00001"),
    "delete": ("indexes", "delete", NAME, "--yes"),
}


def arguments_of(name: str, path) -> list[str]:
    return [str(path) if one == "CORPUS" else one for one in COMMANDS[name]]


@pytest.mark.parametrize("name", COMMANDS)
def test_where_nothing_listens_the_address_and_its_setting_are_told(name: str, tmp_path, command: Command):
    settings = settings_for(Access(f"http://127.0.0.1:{free_ports(1)[0]}", "elastic", "x"), tmp_path)

    told = command.told(settings, *arguments_of(name, corpus(tmp_path, 3)))

    assert re.match(f"EngineUnreachable: .*{settings.elasticsearch.url}.*SHRAG_ELASTICSEARCH__URL", told)


def test_a_host_that_has_no_address_is_told(tmp_path, command: Command):
    access = Access("http://nowhere.invalid:9200", "elastic", "x")
    settings = settings_for(access, tmp_path, allow_plain_http=True)
    told = command.told(settings, "search", QUESTION, "--name", NAME)
    assert "http://nowhere.invalid:9200" in told


@pytest.fixture(params=["a page for everything", "404 for everything", "JSON for everything"])
def another_server(request: pytest.FixtureRequest) -> Iterator[str]:
    code, kind, body = {
        "a page for everything": (200, "text/html", b"<h1>It works!</h1>"),
        "404 for everything": (404, "text/html", b"<h1>Not found</h1>"),
        "JSON for everything": (200, "application/json", b"{}"),
    }[request.param]

    class Another(Handler):
        def say(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.send_response(code)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

    for method in ("GET", "POST", "PUT", "HEAD", "DELETE"):
        setattr(Another, f"do_{method}", Another.say)
    with serving(Another) as url:
        yield url


@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_no_elasticsearch_is_told_as_such(name: str, another_server: str, tmp_path, command: Command):
    settings = settings_for(Access(another_server, "elastic", "x"), tmp_path)

    told = command.told(settings, *arguments_of(name, corpus(tmp_path, 3)))

    assert f"the server at {another_server} is not Elasticsearch" in told
    assert "SHRAG_ELASTICSEARCH__URL" in told


@pytest.fixture
def indexed(own_server: Server, tmp_path) -> IndexerSettings:
    settings = settings_for(own_server.access, tmp_path, timeout_s=60)
    build(settings, corpus(tmp_path, 30))
    return settings


def test_a_server_that_hangs_is_told_with_the_setting_and_later_answers(
    own_server: Server, indexed: IndexerSettings, command: Command
):
    before = answers(indexed)
    hasty = settings_for(own_server.access, indexed.home, timeout_s=2)
    own_server.pause()
    for name in ("search", "index", "list"):
        told = command.told(hasty, *arguments_of(name, indexed.home / "papers.jsonl"))
        assert re.search(r" 2 s; .* SHRAG_ELASTICSEARCH__TIMEOUT_S", told)
    own_server.resume()
    assert answers(indexed) == before


@pytest.mark.nightly
def test_a_search_ends_with_one_error_when_the_server_dies_and_the_opened_index_outlives_it(
    own_server: Server, indexed: IndexerSettings
):
    with open_index(indexed, NAME) as index:
        before = found(index, QUESTION)
        own_server.pause()
        threading.Timer(0.5, own_server.kill).start()
        for _ in ("under way", "begun later"):
            with pytest.raises(EngineUnreachable, match="no Elasticsearch answers"):
                found(index, QUESTION)
        own_server.restart()
        after = found(index, QUESTION)
    assert [hit.passage_id for hit in after.hits] == [hit.passage_id for hit in before.hits]
    assert len(after.hits) == 10


@pytest.mark.nightly
def test_while_a_server_starts_nothing_false_is_told(own_server: Server, indexed: IndexerSettings):
    before = answers(indexed)
    own_server.kill()
    own_server.launch()
    told: list[str] = []
    while True:
        try:
            assert answers(indexed) == before
        except (EngineUnreachable, EngineRefused) as error:
            told.append(str(error))
            time.sleep(0.2)  # it needs the processor itself
        else:
            break
    own_server.wait_until_ready()
    for one in set(told):
        assert re.search(STARTING, one), one
