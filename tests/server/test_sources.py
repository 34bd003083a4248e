"""Sources through the server: offered, asked, failing, limited by keys; nothing tells where they are."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.generator.sample_index import ENGLISH, NAME
from tests.http_server import Handler
from tests.http_server import serving as serving_http
from tests.server.running import UNLIMITED, add_key, application, events_of, tool_call, wait_for

FOREIGN: dict[str, Any] = {
    "_id": "B17",
    "_score": 3.0,
    "_source": {
        "titel": "Aerogel barriers against thermal runaway from cell to cell",
        "inhalt": "Aerogel between cells of a pack slowed the spread of thermal runaway by 40 minutes.",
        "jahr": 2021,
        "adresse": "javascript:alert(1)",
        "doi": "10.1234/aero.17",
    },
}
SECRET = "sehr-geheim-0815"
DOI = "https://doi.org/10.1234/aero.17"


class Theirs(Handler):
    """Somebody else's Elasticsearch with one book, which answers whatever is searched."""

    def post(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        answer: dict[str, Any] = {"hits": {"hits": [FOREIGN]}}
        if self.path.endswith("/_msearch"):
            self.answer(200, {"responses": [answer] * (content.count(b"\n") // 2)})
            return
        counted = json.loads(content).get("aggs", {}).get("counts", {}).get("filters", {}).get("filters", {})
        buckets = {name: {"doc_count": 1} for name in counted}
        self.answer(200, answer | {"aggregations": {"counts": {"buckets": buckets}}})


class Broken(Handler):
    """One that answers something else, once it may."""

    go_on = threading.Event()

    def post(self) -> None:
        self.go_on.wait(60)
        self.answer(200, {"hits": "inhalt at 10.0.0.7"})


def source(name, **keys):
    """Return the variables of a source."""
    return {f"sources__{name}__{key}": str(value) for key, value in keys.items()}


def elsewhere(name, url, **keys):
    """Return the variables of somebody else's index."""
    fields = {"title": "titel", "abstract": "inhalt", "year": "jahr", "url": "adresse", "doi": "doi"}
    mapped = {f"fields__{field}": value for field, value in fields.items()}
    return source(name, kind="elasticsearch", url=url, index="books", **mapped, **keys)


def declare(patch, variables):
    for name, value in variables.items():
        patch.setenv(f"SHRAG_{name.upper()}", value)


@pytest.fixture(scope="module")
def theirs():
    with serving_http(Theirs) as url:
        yield url


@pytest.fixture
def declared(theirs, monkeypatch):
    """Declare the sample as two sources, and somebody else's server."""
    for name in ("ours", "hidden"):
        declare(monkeypatch, source(name, kind="index", index=NAME))
    declare(monkeypatch, elsewhere("theirs", theirs, api_key=SECRET))


@pytest.fixture
def client(sample_home, declared):
    """Offer the sample as a source, and somebody else's server."""
    with application(sample_home, sources="ours,theirs", **UNLIMITED) as client:
        yield client


def found(client, *sources, **call):
    answer = client.post("/api/v1/search", json={"question": ENGLISH, "sources": sources, "k": 5} | call)
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(client, status, code, path="search", **call):
    answer = client.post(f"/api/v1/{path}", json={"question": ENGLISH} | call)
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    return answer.json()["detail"]


def test_a_search_of_listed_sources_names_them_and_where_each_paper_is(client):
    listed = client.get("/api/v1/sources").json()["sources"]
    kinds = {"ours": "index", "theirs": "elasticsearch"}
    assert listed == [{"name": name, "kind": kind, "private": True} for name, kind in kinds.items()]
    result = found(client, "ours", "theirs")
    assert (result["index"], result["sources"]) == (None, ["ours", "theirs"])
    by_id = {hit["doc_id"]: hit for hit in result["hits"]}
    assert by_id["theirs:B17"]["found_in"] == [{"source": "theirs", "id": "B17"}]
    assert by_id["theirs:B17"]["url"] == DOI  # its own is no web address
    assert "ours:SAMPLE-BAT-011" in by_id


@pytest.mark.parametrize("name", ["hidden", "", "../ours", "library.toml", "/etc/passwd", "x" * 5_000])
def test_what_is_not_offered_is_not_there(client, name):
    said = refused(client, 404, "unknown-source", sources=["ours", name])
    assert said.endswith(" ours, theirs")
    assert len(said) < 300


def test_papers_of_sources_are_exported_by_question_and_by_id(client):
    def exported(**call):
        return client.post("/api/v1/export", json={"sources": ["ours", "theirs"], "format": "jsonl"} | call)

    records = [json.loads(line) for line in exported(question=ENGLISH).text.splitlines()]
    assert FOREIGN["_source"]["titel"] in {record["title"] for record in records}
    ids = ["theirs:B17", "ours:SAMPLE-BAT-011", "ours:none", "B17"]
    marked = exported(ids=ids)
    assert [json.loads(line)["doc_id"] for line in marked.text.splitlines()] == ids[:2]
    assert marked.headers["X-Missing-Papers"] == "2"
    assert marked.headers["Content-Disposition"].count("ours-theirs.jsonl")
    one = exported(ids=["SAMPLE-BAT-011"], sources=["ours"], format="ris")
    assert one.text.startswith("TY  - ")


@pytest.mark.parametrize("hangs", [False, True])
def test_a_source_that_fails_is_a_note_tells_nothing_of_itself_and_leaves_slots_for_others(
    sample_home, declared, monkeypatch, hangs
):
    monkeypatch.setattr(Broken, "go_on", go_on := threading.Event())
    if not hangs:
        go_on.set()
    call = {"question": ENGLISH, "sources": ["broken"]}
    offered: dict[str, Any] = {"sources": "ours,broken", "searches_at_once": 1, "sources_at_once": 4}
    with serving_http(Broken) as url:
        declare(monkeypatch, elsewhere("broken", url, api_key=SECRET, timeout_s=60, answer_bytes=1_000_000))
        with (
            application(sample_home, **offered, **UNLIMITED) as client,
            ThreadPoolExecutor(4) as threads,
        ):
            if hangs:
                asked = [threads.submit(client.post, "/api/v1/search", json=call) for _ in range(3)]
                wait_for(lambda: sum(each.done() for each in asked), lambda done: done == 1)
                assert client.post("/api/v1/search", json={"question": ENGLISH}).status_code == 200
                go_on.set()
                codes = sorted(each.result().json()["code"] for each in asked)
                assert codes == ["source-failed", "source-failed", "too-busy"]
            result = found(client, "ours", "broken")
            assert [note for note in result["notes"] if "'broken'" in note]
            assert result["hits"][0]["doc_id"].startswith("ours:")
            alone = refused(client, 502, "source-failed", sources=["broken"])
            streamed = client.post("/api/v1/ask", json=call, headers={"Accept": "text/event-stream"})
            *_, last = events_of(streamed.text.splitlines())
            assert (last.name, last.data["code"]) == ("error", "source-failed")
    told = f"{result['notes']} {alone} {last.data}"
    for hidden in (url, url.rpartition(":")[2], "inhalt", "10.0.0.7", "books", SECRET, "elsewhere"):
        assert hidden not in told


@pytest.mark.parametrize(
    ("rights", "sources", "index"),
    [
        ({}, ["ours", "theirs"], True),
        ({"indexes": (NAME,)}, [], True),
        ({"sources": ("theirs",)}, ["theirs"], False),
        ({"indexes": (NAME,), "sources": ("ours",)}, ["ours"], True),
    ],
)
def test_a_key_that_is_limited_opens_the_sources_that_it_names(home, declared, rights, sources, index):
    headers = {"X-API-Key": add_key(home, **rights)}
    with application(home, sources="ours,theirs", headers=headers, **UNLIMITED) as client:
        listed = client.get("/api/v1/sources").json()["sources"]
        assert [each["name"] for each in listed] == sources
        for name, value, opens in (
            ("sources", ["ours"], "ours" in sources),
            ("sources", ["theirs"], "theirs" in sources),
            ("index", NAME, index),
        ):
            answer = client.post("/api/v1/search", json={"question": ENGLISH, name: value})
            assert answer.status_code == (200 if opens else 404)


def chat(client, model, **given):
    messages = [{"role": "user", "content": ENGLISH}]
    return client.post("/v1/chat/completions", json={"model": model, "messages": messages} | given)


def test_a_source_is_a_model_whose_citations_lead_to_the_web(client):
    listed = [model["id"] for model in client.get("/v1/models").json()["data"]]
    assert listed == [NAME, "source:ours", "source:theirs"]
    for model in ("source:theirs", "theirs"):
        made = chat(client, model).json()
        message = made["choices"][0]["message"]
        assert made["model"] == model
        assert DOI in message["content"]
        assert {each["url_citation"]["url"] for each in message["annotations"]} == {DOI}
    without = chat(client, "source:ours").json()["choices"][0]["message"]
    assert "/papers/" not in without["content"]
    refusal = chat(client, "source:hidden")
    assert (refusal.status_code, refusal.json()["error"]["code"]) == (404, "model_not_found")
    assert "source:ours" in refusal.json()["error"]["message"]


def test_tools_search_fetch_and_answer_over_sources(client):
    def called(tool, **arguments):
        return tool_call(client, tool, arguments)["structuredContent"]

    asked = {"question": ENGLISH, "sources": ["ours", "theirs"]}
    results = called("search", query=ENGLISH, sources=["ours", "theirs"])["results"]
    [theirs] = [paper for paper in results if paper["id"] == "source:theirs:B17"]
    assert theirs["url"] == DOI
    fetched = called("fetch", id=theirs["id"])
    assert (fetched["id"], fetched["text"]) == (theirs["id"], FOREIGN["_source"]["inhalt"])
    [book] = [paper for paper in called("find_papers", **asked)["papers"] if paper["id"] == theirs["id"]]
    assert book["url"] == theirs["url"]
    references = called("ask", **asked)["references"]
    assert {each["id"].split(":")[1] for each in references} <= {*asked["sources"]}
    for tool, arguments in (
        ("search", {"query": ENGLISH, "sources": ["hidden"]}),
        ("find_papers", {"question": ENGLISH, "sources": ["hidden"]}),
        ("fetch", {"id": "source:ours:none"}),
        ("fetch", {"id": "source:hidden:SAMPLE-BAT-011"}),
    ):
        assert tool_call(client, tool, arguments)["isError"]


def test_papers_are_found_in_sources_and_the_search_is_gone_on_with_there(client, theirs):
    path = "/api/v1/find-papers"
    call = {"question": ENGLISH, "sources": ["ours", "theirs"], "max_papers": 5}
    found = client.post(path, json=call).json()
    assert (found["index"], found["sources"]) == (None, ["ours", "theirs"])
    assert found["spent"]["papers"] == 5
    resumed = client.post(path, json={"resume": found["search"], "max_papers": 300}).json()
    assert resumed["sources"] == ["ours", "theirs"]
    [book] = [paper for paper in resumed["papers"] if paper["id"] == "theirs:B17"]
    assert book["url"] == DOI  # its own begins with javascript:
    streamed = client.post(path, json=call, headers={"Accept": "text/event-stream"}).text
    *_, last = events_of(streamed.splitlines())
    assert [paper["id"] for paper in last.data["papers"]] == [paper["id"] for paper in found["papers"]]
    for text in (client.get(f"{path}/{found['search']}").text, streamed):
        assert theirs not in text
        assert SECRET not in text
    for other in ({"sources": ["ours"]}, {"index": NAME}):
        assert "None" not in refused(
            client, 422, "invalid-call", "find-papers", resume=found["search"], **other
        )
    refused(client, 404, "unknown-source", "find-papers", sources=["hidden"])
