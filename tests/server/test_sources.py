"""Sources through the server: offered, asked, failing, limited by keys; nothing tells where they are."""

import asyncio
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from indexer.settings import IndexerSettings
from retriever.sources import Source
from retriever.sources.configuration import DeclaredSource
from retriever.sources.settings import SourceSettings
from server.sources.kept_source import KeptSource
from tests.generator.sample_index import ENGLISH, NAME, shrag
from tests.http_server import Handler
from tests.http_server import serving as serving_http
from tests.indexer.made_corpora import build, write_jsonl
from tests.server.conftest import UNLIMITED
from tests.server.running import START_S, application, serving, wait_for
from tests.server.sse import events_of
from tests.server.test_description import assert_as_described

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


class Hanging(Handler):
    """One that takes the call, and does not answer."""

    def post(self) -> None:
        time.sleep(60)


class Garbage(Handler):
    """One that answers something else."""

    def post(self) -> None:
        self.answer(200, {"hits": "inhalt at 10.0.0.7"})


class Redirecting(Handler):
    """One that sends callers elsewhere."""

    def post(self) -> None:
        self.send_response(302)
        self.send_header("Location", "http://127.0.0.1:1/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()


class Endless(Handler):
    """One whose answer is larger than is read."""

    def post(self) -> None:
        self.answer(200, {"hits": ["x" * 5_000_000]})


def declare(patch, name, **keys):
    for key, value in keys.items():
        patch.setenv(f"SHRAG_SOURCES__{name.upper()}__{key.upper()}", str(value))


def declare_theirs(patch, name, url, **keys):
    fields = {"title": "titel", "abstract": "inhalt", "year": "jahr", "url": "adresse", "doi": "doi"}
    mapped = {f"fields__{field}": value for field, value in fields.items()}
    declare(patch, name, kind="elasticsearch", url=url, index="books", api_key=SECRET, **mapped | keys)


def offering(home, names, **server):
    """Run the application, which offers these sources, in this process."""
    return application(home, sources=names, **{**UNLIMITED, **server})


@pytest.fixture(scope="module")
def theirs():
    with serving_http(Theirs) as url:
        yield url


@pytest.fixture
def client(sample_home, theirs, monkeypatch):
    """Offer the sample as a source, and somebody else's server."""
    declare(monkeypatch, "ours", kind="index", index=NAME)
    declare_theirs(monkeypatch, "theirs", theirs)
    declare(monkeypatch, "hidden", kind="index", index=NAME)
    with offering(sample_home, "ours,theirs") as client:
        yield client


def found(client, *sources, **call):
    answer = client.post("/api/v1/search", json={"question": ENGLISH, "sources": sources, "k": 5} | call)
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(client, status, code, path="search", **call):
    answer = client.post(f"/api/v1/{path}", json={"question": ENGLISH} | call)
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    return answer.json()["detail"]


def test_sources_are_listed_without_where_they_are(client, theirs):
    listed = client.get("/api/v1/sources")
    assert listed.json()["sources"] == [
        {"name": "ours", "kind": "index", "private": True},
        {"name": "theirs", "kind": "elasticsearch", "private": True},
    ]


def test_what_a_source_says_that_it_holds_is_listed_too(sample_home, monkeypatch):
    declare(monkeypatch, "ours", kind="index", index=NAME, description="Theses of our institute")
    with offering(sample_home, "ours") as client:
        [listed] = client.get("/api/v1/sources").json()["sources"]
    assert listed["description"] == "Theses of our institute"


def test_none_is_offered_unless_the_settings_say_so(sample_home, monkeypatch):
    declare(monkeypatch, "ours", kind="index", index=NAME)
    with offering(sample_home, "") as client:
        assert client.get("/api/v1/sources").json() == {"sources": []}
        assert "no source 'ours'" in refused(client, 404, "unknown-source", sources=["ours"])


def test_a_search_of_sources_names_them_and_where_each_paper_is(client):
    result = found(client, "ours", "theirs")
    assert (result["index"], result["sources"]) == (None, ["ours", "theirs"])
    by_id = {hit["doc_id"]: hit for hit in result["hits"]}
    assert by_id["theirs:B17"]["found_in"] == [{"source": "theirs", "id": "B17"}]
    assert by_id["theirs:B17"]["url"] == "https://doi.org/10.1234/aero.17"  # its own is no web address
    assert "ours:SAMPLE-BAT-011" in by_id


def test_a_call_is_asked_of_an_index_or_of_sources(client):
    assert "not both" in refused(client, 422, "invalid-call", sources=["ours"], index=NAME)


@pytest.mark.parametrize("name", ["hidden", "", "../ours", "library.toml", "/etc/passwd", "x" * 5_000])
def test_what_is_not_offered_is_not_there(client, name):
    said = refused(client, 404, "unknown-source", sources=["ours", name])
    assert said.endswith(" ours, theirs")
    assert len(said) < 300


def test_keywords_and_queries_are_those_of_the_search(client):
    result = found(client, "ours")
    call = {"question": ENGLISH, "sources": ["ours"]}
    planned = client.post("/api/v1/queries", json=call).json()
    assert (planned["index"], planned["sources"]) == (None, ["ours"])
    assert planned["keywords"] == result["keywords"]
    assert client.post("/api/v1/keywords", json=call).json()["keywords"] == result["keywords"]


def test_papers_of_sources_are_exported_by_question_and_by_id(client):
    sources = ["ours", "theirs"]
    asked = client.get("/api/v1/export", params={"question": ENGLISH, "sources": sources, "format": "jsonl"})
    titles = [json.loads(line)["title"] for line in asked.text.splitlines()]
    assert FOREIGN["_source"]["titel"] in titles
    ids = ["theirs:B17", "ours:SAMPLE-BAT-011", "ours:none", "B17"]
    marked = client.post("/api/v1/export", json={"ids": ids, "sources": sources, "format": "jsonl"})
    records = [json.loads(line) for line in marked.text.splitlines()]
    assert [record["doc_id"] for record in records] == ids[:2]
    assert marked.headers["X-Missing-Papers"] == "2"
    assert marked.headers["Content-Disposition"].count("ours-theirs.jsonl")
    one = client.post(
        "/api/v1/export", json={"ids": ["SAMPLE-BAT-011"], "sources": ["ours"], "format": "ris"}
    )
    assert one.text.startswith("TY  - ")


@pytest.mark.parametrize("path", ["explain", "facets", "record"])
def test_what_sources_cannot_give_takes_none(client, path):
    assert "unknown field" in refused(client, 422, "bad-request", path, sources=["ours"], passage_id="x")


def test_an_answer_over_sources_arrives_with_its_evidence(client):
    call = {"question": ENGLISH, "sources": ["ours", "theirs"]}
    with client.stream("POST", "/api/v1/ask", json=call, headers={"Accept": "text/event-stream"}) as answer:
        events = list(events_of(answer.iter_lines()))
    assert events[-1].name == "done"
    [evidence] = [event.data for event in events if event.name == "evidence"]
    done = events[-1].data
    assert done["sources"] == ["ours", "theirs"]
    assert done["answer"]["sentences"]
    texts = {hit["passage_id"]: hit["text"] for hit in evidence["hits"]}
    cited = {cited for sentence in done["answer"]["sentences"] for cited in sentence["citations"]}
    assert cited <= texts.keys()
    whole = client.post("/api/v1/ask", json=call).json()
    assert whole["answer"] == done["answer"]


@pytest.mark.parametrize("server", [Hanging, Garbage, Redirecting, Endless])
def test_a_source_that_fails_is_a_note_and_tells_nothing_of_itself(sample_home, monkeypatch, server):
    with serving_http(server) as url:
        declare(monkeypatch, "ours", kind="index", index=NAME)
        declare_theirs(monkeypatch, "broken", url, timeout_s=0.5, answer_bytes=1_000_000)
        with offering(sample_home, "ours,broken") as client:
            result = found(client, "ours", "broken")
            assert [note for note in result["notes"] if "'broken'" in note]
            assert result["hits"][0]["doc_id"].startswith("ours:")
            alone = refused(client, 502, "source-failed", sources=["broken"])
            call = {"question": ENGLISH, "sources": ["broken"]}
            headers = {"Accept": "text/event-stream"}
            with client.stream("POST", "/api/v1/ask", json=call, headers=headers) as answer:
                *_, last = events_of(answer.iter_lines())
            assert (last.name, last.data["code"]) == ("error", "source-failed")
    told = f"{result['notes']} {alone} {last.data}"
    for hidden in (url, url.rpartition(":")[2], "inhalt", "10.0.0.7", "books", SECRET, "elsewhere"):
        assert hidden not in told


def test_a_source_that_cannot_be_opened_is_tried_again(sample_home, monkeypatch, tmp_path):
    declare(monkeypatch, "ours", kind="index", index=NAME)
    declare(monkeypatch, "late", kind="index", index=NAME, home=tmp_path / "later")
    with offering(sample_home, "ours,late") as client:
        [_, late] = client.get("/api/v1/sources").json()["sources"]
        assert "'late'" in late.pop("error")
        assert late == {"name": "late", "kind": "index"}
        result = found(client, "ours", "late")
        assert [note for note in result["notes"] if "'late'" in note]
        assert result["hits"][0]["doc_id"].startswith("ours:")
        (tmp_path / "later").symlink_to(sample_home)
        assert found(client, "late")["hits"]


def test_a_source_that_opens_while_its_caller_leaves_stays_open_for_the_next():
    go_on, opened = threading.Event(), []

    class Late(Source):
        def __init__(self, *_: object) -> None:
            go_on.wait(60)
            opened.append(self)

    async def leave_and_come_back() -> Source:
        declared = DeclaredSource("late", SourceSettings(kind="late"), Late)
        kept = KeptSource(declared, IndexerSettings())
        leaving = asyncio.ensure_future(kept.opened())
        await asyncio.sleep(0)  # it has begun
        leaving.cancel()
        asyncio.get_running_loop().call_later(0.1, go_on.set)
        await asyncio.wait((leaving,))
        return await kept.opened()

    assert [asyncio.run(leave_and_come_back())] == opened


def test_an_index_as_a_source_goes_on_to_what_is_published(monkeypatch, tmp_path):
    def publish(paper_id):
        record = {"id": paper_id, "title": "Aerogel barriers", "abstract": "Aerogel slowed thermal runaway."}
        build(tmp_path, write_jsonl(tmp_path / "papers.jsonl", [record]), name="few")

    publish("FIRST")
    declare(monkeypatch, "ours", kind="index", index="few")
    with offering(tmp_path, "ours") as client:
        assert [hit["doc_id"] for hit in found(client, "ours")["hits"]] == ["FIRST"]
        publish("SECOND")
        assert {hit["doc_id"] for hit in found(client, "ours")["hits"]} == {"FIRST", "SECOND"}


def test_a_stream_that_is_broken_off_leaves_nothing_behind(sample_home, tmp_path):
    folder = tmp_path / "temporary"
    folder.mkdir()
    with serving_http(Hanging) as url:
        declared = {"kind": "elasticsearch", "url": url, "index": "x", "fields__title": "t", "timeout_s": 60}
        variables = {f"sources__slow__{key}": value for key, value in declared.items()}
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("TMPDIR", str(folder))
            served = serving(sample_home, tmp_path / "log", server__sources="slow", **variables)
            with served as server:
                call = {"question": ENGLISH, "sources": ["slow"]}
                headers = {"Accept": "text/event-stream"}
                with httpx.stream(
                    "POST", f"{server.url}/api/v1/ask", json=call, headers=headers, timeout=START_S
                ) as answer:
                    assert answer.status_code == 200
                    wait_for(lambda: [*folder.glob("shrag-sources-*")], bool)
                wait_for(lambda: [*folder.glob("shrag-sources-*")], lambda left: not left)
                assert server.get("/healthz").status_code == 200
                assert "error" not in server.log.read_text()


def test_a_source_that_hangs_leaves_slots_for_others(sample_home, monkeypatch):
    go_on = threading.Event()

    class HangingForNow(Garbage):
        def post(self) -> None:
            go_on.wait(60)
            super().post()

    with serving_http(HangingForNow) as url:
        declare_theirs(monkeypatch, "broken", url, timeout_s=60)
        with (
            offering(sample_home, "broken", searches_at_once=1, sources_at_once=4) as client,
            ThreadPoolExecutor(4) as threads,
        ):
            call = {"question": ENGLISH, "sources": ["broken"]}
            asked = [threads.submit(client.post, "/api/v1/search", json=call) for _ in range(3)]
            wait_for(lambda: sum(each.done() for each in asked), lambda done: done == 1)
            itself = client.post("/api/v1/search", json={"question": ENGLISH})
            assert itself.status_code == 200
            go_on.set()
            codes = sorted(each.result().json()["code"] for each in asked)
    assert codes == ["source-failed", "source-failed", "too-busy"]


def test_a_source_that_hangs_is_waited_for_once_a_question(sample_home, monkeypatch):
    class Counting(Hanging):
        calls = 0

        def post(self) -> None:
            Counting.calls += 1
            super().post()

    with serving_http(Counting) as url:
        declare(monkeypatch, "ours", kind="index", index=NAME)
        declare_theirs(monkeypatch, "slow", url, timeout_s=1)
        with offering(sample_home, "ours,slow") as client:
            assert found(client, "ours", "slow")["hits"]
            wait_for(lambda: Counting.calls, bool)
    assert Counting.calls == 1


@pytest.mark.slow
def test_a_slow_source_has_time_for_records_and_for_their_full_texts(sample_home, monkeypatch):
    class Slow(Theirs):
        def post(self) -> None:
            time.sleep(0.6 * timeout_s)
            super().post()

    for timeout_s in (3, 20):  # on a slow machine the first leaves too little besides
        with serving_http(Slow) as url:
            fields = {"fields__abstract": "none", "fields__body": "inhalt"}
            declare_theirs(monkeypatch, "slow", url, timeout_s=timeout_s, **fields)
            with offering(sample_home, "slow") as client:
                answer = client.post("/api/v1/search", json={"question": ENGLISH, "sources": ["slow"]}).json()
        if [hit["doc_id"] for hit in answer.get("hits", ())] == ["B17"]:
            break
    else:
        pytest.fail(str(answer))


def test_the_audit_log_says_which_sources_were_asked(sample_home, monkeypatch, tmp_path):
    for name in ("ours", "again"):
        declare(monkeypatch, name, kind="index", index=NAME)
    with offering(sample_home, "ours,again", audit_file=tmp_path / "audit") as client:
        found(client, "ours", "again")
        refused(client, 404, "unknown-source", sources=["hidden"])
    asked, unknown = map(json.loads, (tmp_path / "audit").read_text("utf-8").splitlines())
    assert (asked["index"], asked["status"]) == ("source:again,ours", 200)
    assert (unknown["index"], unknown["status"]) == (None, 404)


def test_a_key_that_is_limited_opens_the_sources_that_it_names(sample_home, theirs, monkeypatch, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / NAME).symlink_to(sample_home / NAME)
    declare(monkeypatch, "ours", kind="index", index=NAME)
    declare_theirs(monkeypatch, "theirs", theirs)
    made = {
        options: shrag("keys", "create", *options, home=home).stdout.strip()
        for options in [(), ("--index", NAME), ("--source", "theirs"), ("--index", NAME, "--source", "ours")]
    }
    opened = {
        (): (["ours", "theirs"], True),
        ("--index", NAME): ([], True),
        ("--source", "theirs"): (["theirs"], False),
        ("--index", NAME, "--source", "ours"): (["ours"], True),
    }
    with offering(home, "ours,theirs") as client:
        for options, (sources, index) in opened.items():
            client.headers["Authorization"] = f"Bearer {made[options]}"
            listed = client.get("/api/v1/sources").json()["sources"]
            assert [each["name"] for each in listed] == sources
            for name in ("ours", "theirs"):
                answer = client.post("/api/v1/search", json={"question": ENGLISH, "sources": [name]})
                assert answer.status_code == (200 if name in sources else 404)
            answer = client.post("/api/v1/search", json={"question": ENGLISH, "index": NAME})
            assert answer.status_code == (200 if index else 404)
    listed = json.loads(shrag("keys", "list", "--json", home=home).stdout)["keys"]
    assert [(key["indexes"], key["sources"]) for key in listed][2:] == [([], ["theirs"]), ([NAME], ["ours"])]


@pytest.mark.parametrize(
    ("options", "said"),
    [(("--source", "../x"), "source"), (("--role", "operator", "--source", "x"), "allows every")],
)
def test_a_key_names_sources_as_they_are_named(tmp_path, options, said):
    done = shrag("keys", "create", *options, home=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr


@pytest.mark.parametrize(
    ("kind", "said"),
    [({}, "no source 'library'"), ({"sources__library__kind": "oracle"}, "'oracle'")],
)
def test_a_server_that_offers_what_is_not_declared_does_not_start(tmp_path, kind, said):
    done = shrag("serve", "--port", "0", home=tmp_path, server__sources="library", **kind)
    assert done.returncode == 2
    assert said in done.stderr


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
        assert "https://doi.org/10.1234/aero.17" in message["content"]
        assert {each["url_citation"]["url"] for each in message["annotations"]} == {
            "https://doi.org/10.1234/aero.17"
        }
    without = chat(client, "source:ours").json()["choices"][0]["message"]
    assert "/papers/" not in without["content"]
    refusal = chat(client, "source:hidden")
    assert (refusal.status_code, refusal.json()["error"]["code"]) == (404, "model_not_found")
    assert "source:ours" in refusal.json()["error"]["message"]


def test_a_chat_chooses_way_and_hops_by_metadata(client):
    plain, by_way = (
        chat(client, NAME, metadata=metadata).json()["choices"][0]["message"]["content"]
        for metadata in ({"session": "7"}, {"way": "paper-qa-1", "hops": "never"})
    )
    assert plain != by_way
    for metadata, param in (({"way": "x"}, "metadata.way"), ({"hops": ["auto"]}, "metadata.hops")):
        refusal = chat(client, NAME, metadata=metadata)
        assert (refusal.status_code, refusal.json()["error"]["param"]) == (400, param)


def called(client, tool, arguments):
    """Call a tool over HTTP."""
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }
    headers = {"Accept": "application/json, text/event-stream"}
    result = client.post("/mcp", json=message, headers=headers).json()["result"]
    return result if result.get("isError") else result["structuredContent"]


@pytest.mark.parametrize("sources", [["theirs"], ["ours", "theirs"]])
def test_tools_search_fetch_and_answer_over_sources(client, sources):
    found = called(client, "search", {"query": ENGLISH, "sources": sources})["results"]
    [theirs] = [paper for paper in found if paper["id"] == "source:theirs:B17"]
    assert theirs["url"] == "https://doi.org/10.1234/aero.17"
    fetched = called(client, "fetch", {"id": theirs["id"]})
    assert (fetched["id"], fetched["text"]) == (theirs["id"], FOREIGN["_source"]["inhalt"])
    listed = called(client, "find_papers", {"question": ENGLISH, "sources": sources})["papers"]
    [book] = [paper for paper in listed if paper["id"] == theirs["id"]]
    assert book["url"] == theirs["url"]
    answer = called(client, "ask", {"question": ENGLISH, "sources": sources})
    assert {each["id"].split(":")[1] for each in answer["references"]} <= {*sources}
    for tool, arguments in [
        ("search", {"query": ENGLISH, "sources": ["hidden"]}),
        ("find_papers", {"question": ENGLISH, "sources": ["hidden"]}),
        ("fetch", {"id": "source:ours:none"}),
        ("fetch", {"id": "source:hidden:SAMPLE-BAT-011"}),
    ]:
        assert called(client, tool, arguments)["isError"]


def test_answers_of_sources_are_as_described(client):
    description = client.get("/openapi.json").json()
    call = {"question": ENGLISH, "sources": ["ours", "theirs"]}
    for path, shape in [("search", "SearchResult"), ("queries", "PlannedSearch"), ("ask", "AnswerResult")]:
        answer = client.post(f"/api/v1/{path}", json=call).json()
        assert_as_described(description, {"$ref": f"#/components/schemas/{shape}"}, answer)


def test_results_without_scripts_link_to_the_web_alone(client):
    page = client.get("/plain", params={"q": ENGLISH, "index": "source:theirs"}).text
    assert 'href="https://doi.org/10.1234/aero.17"' in page
    assert "javascript:" not in page
    assert "/papers/" not in page


def test_papers_are_found_in_sources_and_the_search_is_gone_on_with_there(client, theirs):
    call = {"question": ENGLISH, "sources": ["ours", "theirs"], "max_papers": 5}
    found = client.post("/api/v1/find-papers", json=call).json()
    assert (found["index"], found["sources"]) == (None, ["ours", "theirs"])
    assert found["spent"]["papers"] == 5
    resumed = client.post("/api/v1/find-papers", json={"resume": found["search"], "max_papers": 300}).json()
    assert resumed["sources"] == ["ours", "theirs"]
    book = next(paper for paper in resumed["papers"] if paper["id"] == "theirs:B17")
    assert book["url"] == "https://doi.org/10.1234/aero.17"  # its own begins with javascript:
    streamed = client.post("/api/v1/find-papers", json=call, headers={"Accept": "text/event-stream"})
    *events, last = events_of(streamed.text.splitlines())
    told = {
        paper["id"]: paper for event in events if event.name == "papers" for paper in event.data["papers"]
    }
    assert told["theirs:B17"]["url"] == book["url"]
    assert [paper["id"] for paper in last.data["papers"]] == [paper["id"] for paper in found["papers"]]
    for text in (client.get(f"/api/v1/find-papers/{found['search']}").text, streamed.text):
        assert theirs not in text
        assert SECRET not in text
    for other in (
        {"index": NAME, "sources": ["ours"]},
        {"resume": found["search"], "sources": ["ours"]},
        {"resume": found["search"], "index": NAME},
    ):
        refused = client.post("/api/v1/find-papers", json={"question": ENGLISH} | other).json()
        assert refused["code"] == "invalid-call"
        assert "None" not in refused["detail"]
    hidden = client.post("/api/v1/find-papers", json={"question": ENGLISH, "sources": ["hidden"]})
    assert hidden.json()["code"] == "unknown-source"
