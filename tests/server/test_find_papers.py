"""Finding papers through the server: as they come, cut off, kept, gone on with, and by whom."""

import json
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from server.access.callers import Caller
from server.errors import SearchRunning, StoreUnusable
from server.kept_searches.searches import KeptSearches
from server.settings import ServerSettings
from server.store import Store
from tests.generator.finding.test_finding_ends_early import JUDGED, WaitsInTheMiddle
from tests.generator.finding_model import FindingModel, serving_model, value_of
from tests.generator.sample_index import ENGLISH, KOREAN, NAME, shrag
from tests.indexer.made_corpora import ROOT, build
from tests.server.running import START_S as WAIT_S
from tests.server.running import application, serving, wait_for
from tests.server.sse import events_of

LOCAL = Caller("127.0.0.1", is_local=True)
STREAM = {"Accept": "text/event-stream"}
PLAIN = {"question": ENGLISH, "without": ["query-writing", "evolver"]}
REVIEW = {"question": "cobalt of spent batteries: a review", "rounds": 2, "layers": 2}


def find(url, headers=None, **call):
    """Find papers, and return the answer."""
    return httpx.post(f"{url}/api/v1/find-papers", json=call, headers=headers, timeout=WAIT_S, verify=False)


def streamed(url, **call):
    """Find papers, and return the events."""
    address = f"{url}/api/v1/find-papers"
    with httpx.stream("POST", address, json=call, headers=STREAM, timeout=WAIT_S) as answer:
        assert answer.status_code == 200, answer.read()
        return list(events_of(answer.iter_lines()))


def kept(url, search_id="kept", headers=None):
    return httpx.get(f"{url}/api/v1/find-papers/{search_id}", headers=headers, timeout=WAIT_S)


def ids(record):
    return [paper["id"] for paper in record["papers"]]


def untimed(record):
    """Leave out what differs from search to search."""
    spent = {name: value for name, value in record["spent"].items() if name != "seconds"}
    return {**record, "milliseconds": 0, "spent": spent, "search": ""}


@pytest.mark.parametrize("call", [{"question": KOREAN}, REVIEW, {"question": "🙂"}])
def test_a_stream_is_numbered_ended_once_and_says_what_the_plain_answer_says(unlimited, call):
    events = streamed(unlimited.url, **call)
    assert [event.number for event in events] == list(range(1, len(events) + 1))
    names = [event.name for event in events]
    assert names[0] == "search"
    assert [name for name in names if name in {"done", "error"}] == [names[-1]] == ["done"]
    done = events[-1].data
    assert done["search"] == events[0].data["id"]
    assert (done["index"], done["question"]) == (NAME, call["question"])
    plain = find(unlimited.url, **call)
    assert untimed(plain.json()) == untimed(done)
    printed = shrag("find-papers", call["question"], "--json", *options_of(call), home=unlimited.home)
    assert ids(json.loads(printed.stdout)) == ids(done)
    by_address = unlimited.get("/api/v1/find-papers", params=call)
    assert untimed(by_address.json()) == untimed(done)


def options_of(call):
    return [part for name in ("rounds", "layers") if name in call for part in (f"--{name}", str(call[name]))]


def test_a_search_is_gone_on_with_as_it_was_asked_within_a_larger_budget(unlimited):
    whole = find(unlimited.url, **REVIEW, papers=50).json()
    small = find(unlimited.url, **REVIEW, papers=50, max_papers=5).json()
    assert not small["complete"]
    assert small["spent"]["papers"] == 5
    again = find(unlimited.url, resume=small["search"]).json()
    assert again["spent"]["papers"] == 5  # the budget is as it was
    resumed = find(unlimited.url, resume=small["search"], max_papers=None).json()
    assert resumed["search"] == small["search"]
    assert resumed["complete"]
    assert ids(resumed) == ids(whole)
    assert kept(unlimited.url, small["search"]).json()["request"]["layers"] == REVIEW["layers"]
    for other in ({"question": "another"}, {"index": "another"}, {"sources": ["another"]}):
        refused = find(unlimited.url, resume=small["search"], **other).json()
        assert refused["code"] == "invalid-call"
        assert "None" not in refused["detail"]
        assert refused["note"]["code"] in {"kept_of_another_question", "kept_in_index"}


def test_a_kept_search_is_shown_listed_saved_for_the_command_and_deleted(unlimited, tmp_path):
    small = find(unlimited.url, **REVIEW, max_papers=5).json()
    shown = kept(unlimited.url, small["search"]).json()
    assert shown["papers"] == small["papers"]
    assert shown["tree"] == small["tree"]
    assert shown["notes"] == small["notes"]
    assert not shown["running"]
    assert shown["request"] == {**REVIEW, "max_papers": 5, "index": NAME}
    newest = kept(unlimited.url).json()["searches"][0]
    assert newest["id"] == small["search"]
    assert (newest["known"], newest["relevant"]) == (small["known"], small["relevant"])
    state = tmp_path / "state.json"
    state.write_bytes(kept(unlimited.url, f"{small['search']}/state").content)
    resumed = shrag("find-papers", "--resume", state, "--name", NAME, "--json", home=unlimited.home)
    assert set(ids(small)) <= set(ids(json.loads(resumed.stdout)))
    address = f"/api/v1/find-papers/{small['search']}"
    assert unlimited.delete(address).status_code == 204
    assert kept(unlimited.url, small["search"]).json()["code"] == "unknown-search"
    assert unlimited.delete(address).status_code == 404
    assert small["search"] not in str(kept(unlimited.url).json())


@contextmanager
def search_in_the_middle(url, model):
    """Yield the id of a streamed search when what the model judged until it waits is kept."""
    with httpx.stream(
        "POST", f"{url}/api/v1/find-papers", json=PLAIN, headers=STREAM, timeout=WAIT_S
    ) as answer:
        arriving = events_of(answer.iter_lines())
        search_id = next(arriving).data["id"]
        wait_for(lambda: judged_of(url, search_id), lambda judged: len(judged) == JUDGED)
        yield search_id, arriving


def judged_of(url, search_id):
    """Return the papers of a kept search that are judged."""
    answer = kept(url, f"{search_id}/state")
    papers = answer.raise_for_status().json()["papers"] if answer.is_success else {}
    return {paper_id for paper_id, known in papers.items() if known["judgement"]}


@pytest.fixture
def with_model(home, tmp_path):
    """Serve the sample by two processes, with a model that waits in the middle of judging."""
    model = WaitsInTheMiddle()
    with (
        serving_model(model) as settings,
        serving(home, tmp_path / "log", "--workers", "2", **settings) as server,
    ):
        yield server, model, settings
        model.go_on.set()


@pytest.mark.slow
def test_what_was_found_is_kept_when_the_reader_leaves_and_gone_on_with_once_at_a_time(with_model):
    server, model, _ = with_model
    with search_in_the_middle(server.url, model) as (search_id, _):
        assert kept(server.url, search_id).json()["running"]
        refused = find(server.url, resume=search_id)
        assert (refused.status_code, refused.json()["code"]) == (409, "search-running")
        assert server.delete(f"/api/v1/find-papers/{search_id}").json()["code"] == "search-running"
    wait_for(lambda: kept(server.url, search_id).json(), lambda shown: not shown["running"])
    assert len(judged_of(server.url, search_id)) == JUDGED
    asked = len(model.prompts)
    model.go_on.set()
    with ThreadPoolExecutor() as threads:
        both = list(threads.map(lambda _: find(server.url, resume=search_id), range(2)))
    resumed = next(answer for answer in both if answer.is_success)
    assert {answer.status_code for answer in both} <= {200, 409}  # or one behind the other
    assert resumed.json()["complete"]
    titles = [value_of("title", prompt) for prompt in model.prompts[asked:] if "<title>" in prompt]
    assert titles
    assert len(set(titles)) == len(titles)


@pytest.mark.slow
def test_a_killed_server_has_kept_what_was_judged(home, tmp_path):
    model = WaitsInTheMiddle()
    with (
        serving_model(model) as settings,
        serving(home, tmp_path / "log", **settings) as server,
        search_in_the_middle(server.url, model) as (search_id, arriving),
    ):
        os.kill(server.process.pid, signal.SIGKILL)
        server.process.wait()
        model.go_on.set()
        with pytest.raises(httpx.TransportError):
            list(arriving)
    again = FindingModel()
    with serving_model(again) as settings, serving(home, tmp_path / "log", **settings) as server:
        judged = judged_of(server.url, search_id)
        assert len(judged) == JUDGED
        shown = wait_for(lambda: kept(server.url, search_id).json(), lambda shown: not shown["running"])
        assert not shown["complete"]
        resumed = find(server.url, resume=search_id).json()
        assert resumed["complete"]
        before = {paper["title"] for paper in shown["papers"]}
        assert not before & {value_of("title", prompt) for prompt in again.prompts}
        assert again.calls["judgement"] == resumed["spent"]["papers"] - JUDGED


def both_ways(threads, url):
    """Find papers as a stream and as a whole; return what is to come of both."""
    arriving = threads.submit(lambda: streamed(url, **PLAIN)[-1].data)
    return [arriving, threads.submit(lambda: find(url, **PLAIN).json())]


@pytest.mark.slow
def test_what_was_found_is_given_when_the_time_is_over(home, tmp_path):
    model = WaitsInTheMiddle()
    with (
        serving_model(model) as settings,
        serving(home, tmp_path / "log", **settings, server__ask_s=4) as server,
        ThreadPoolExecutor() as threads,
    ):
        for found in both_ways(threads, server.url):
            done = found.result()
            assert not done["complete"]
            assert "ended_by_server" in {note["code"] for note in done["note_codes"]}
            again = kept(server.url, done["search"]).json()
            assert (again["notes"], again["note_codes"]) == (done["notes"], done["note_codes"])
        model.go_on.set()


@pytest.fixture(scope="module")
def keyed(sample_home, tmp_path_factory):
    """Serve two indexes to three keys: two of all, and one of the index `other`."""
    home = tmp_path_factory.mktemp("keyed")
    (home / NAME).symlink_to(sample_home / NAME)
    build(home, ROOT / "sample" / "held-out" / "papers.jsonl", name="other")
    made = [
        shrag("keys", "create", *options, home=home).stdout.strip()
        for options in ((), (), ("--index", "other"))
    ]
    with serving(home, home / "log", server__kept_searches=3) as server:
        yield server, *({"X-API-Key": key} for key in made)


def test_a_kept_search_is_there_for_the_key_that_made_it_alone(keyed):
    server, mine, others, limited = keyed
    made = find(server.url, mine, question=ENGLISH, index=NAME, max_papers=5).json()["search"]
    for headers in (others, limited):
        assert kept(server.url, made, headers).json()["code"] == "unknown-search"
        assert kept(server.url, f"{made}/state", headers).json()["code"] == "unknown-search"
        assert find(server.url, headers, resume=made).json()["code"] == "unknown-search"
        assert (
            server.delete(f"/api/v1/find-papers/{made}", headers=headers).json()["code"] == "unknown-search"
        )
        assert made not in kept(server.url, headers=headers).text
    assert kept(server.url, made).status_code == 401
    assert kept(server.url, made, mine).status_code == 200


@pytest.mark.parametrize(
    "damage",
    [
        "head = x''",
        'head = CAST(replace(CAST(head AS TEXT), \'"max_papers":3\', \'"max_papers":"x"\') AS BLOB)',
        "head = CAST(replace(CAST(head AS TEXT), '\"max_papers\":3', '\"max_papers\":NaN') AS BLOB)",
        "state = CAST('{\"question\": 3}' AS BLOB)",
        "state = substr(state, 1, 100)",
        "result = CAST('[' AS BLOB)",
    ],
)
def test_a_damaged_search_is_one_clear_error_and_can_be_deleted(home, damage):
    address = "/api/v1/find-papers"
    with application(home, address="127.0.0.1") as client:
        made = client.post(address, json={"question": ENGLISH, "max_papers": 3}).json()["search"]
        assert Store(home).change(f"UPDATE searches SET {damage}") == 1
        resumed = client.post(address, json={"resume": made})
        for answer in (client.get(f"{address}/{made}"), resumed):
            assert (answer.status_code, answer.json()["code"]) == (503, "search-unusable")
        assert client.get(f"{address}/kept").status_code == 200
        assert client.delete(f"{address}/{made}").status_code == 204
        assert client.get(f"{address}/kept").json() == {"searches": []}


@pytest.mark.parametrize(
    ("settings", "left"),
    [
        ({"kept_searches": 0}, []),
        ({"kept_searches": 2}, [2, 3]),
        ({"all_kept_searches": 2}, [2, 3]),
        ({"kept_searches_days": 1}, [3]),  # the others are made two days older
        ({"kept_searches_mb": 1}, [3]),  # the others are made large
        ({}, [0, 1, 2, 3]),
    ],
)
def test_how_much_is_kept_has_bounds(home, settings, left):
    searches, changes = [], Store(home)
    old = (datetime.now(UTC) - timedelta(days=2)).isoformat()
    with application(home, address="127.0.0.1", **settings) as client:
        for _ in range(4):
            if "kept_searches_days" in settings:
                changes.change("UPDATE searches SET updated = ?", old)
            if "kept_searches_mb" in settings:
                changes.change("UPDATE searches SET state = zeroblob(600000), result = zeroblob(600000)")
            found = client.post("/api/v1/find-papers", json={"question": ENGLISH, "max_papers": 1}).json()
            searches.append(found.get("search"))
        kept_now = {search["id"] for search in client.get("/api/v1/find-papers/kept").json()["searches"]}
    assert kept_now == {searches[number] for number in left}


def test_a_search_runs_once_and_its_lease_ends_by_itself(home, monkeypatch):
    monkeypatch.setattr("server.kept_searches.searches.LEASE_S", 1.0)
    monkeypatch.setattr("server.kept_searches.searches.PATIENCE_S", 0.1)
    here, there = (KeptSearches(Store(home), ServerSettings()) for _ in range(2))
    killed = here.begin(LOCAL)
    assert killed
    killed.save()
    for use in (there.resume, there.delete):
        with pytest.raises(SearchRunning):
            use(LOCAL, killed.id)
    time.sleep(1.1)
    with ThreadPoolExecutor(2) as threads:
        taken = [threads.submit(each.resume, LOCAL, killed.id) for each in (here, there)]
    (search,) = [each.result() for each in taken if each.exception() is None]
    search.save()
    with pytest.raises(ValueError, match="another call"):
        killed.save()
    killed.release()
    KeptSearches(Store(home), ServerSettings(kept_searches=1)).begin(LOCAL)  # a running one stays
    with pytest.raises(SearchRunning):
        there.delete(LOCAL, killed.id)
    search.release()
    there.delete(LOCAL, killed.id)
    deleted = here.begin(LOCAL)
    assert deleted
    deleted.save()
    assert Store(home).change("DELETE FROM searches") == 1
    with pytest.raises(ValueError, match="deleted it"):
        deleted.save()


def test_a_resumed_search_keeps_its_result_until_more_is_found(home):
    with application(home, address="127.0.0.1") as client:
        made = client.post("/api/v1/find-papers", json={"question": ENGLISH}).json()
    searches = KeptSearches(Store(home), ServerSettings())
    search = searches.resume(LOCAL, made["search"])
    search.save()
    _, result = searches.read(LOCAL, search.id)
    assert (ids(result), result["complete"]) == (ids(made), True)
    assert search.state
    search.note(search.state)
    search.save()
    head, result = searches.read(LOCAL, search.id)
    assert (head.complete, head.notes, head.note_codes) == (False, (), [])
    assert not result["complete"]


def test_a_search_is_resumed_although_the_store_cannot_be_written(home, monkeypatch):
    def refuse(*_):
        raise StoreUnusable("read-only")

    with application(home, address="127.0.0.1") as client:
        made = client.post("/api/v1/find-papers", json={"question": ENGLISH, "max_papers": 3}).json()
        monkeypatch.setattr(Store, "changing", refuse)
        resumed = client.post("/api/v1/find-papers", json={"resume": made["search"], "max_papers": None})
    assert resumed.json()["complete"]
    assert "search_not_kept" in {note["code"] for note in resumed.json()["note_codes"]}


def test_what_was_asked_stands_in_no_log_and_no_metric(home, tmp_path):
    secret = "quorvex blandim trosset"
    audit = tmp_path / "audit.jsonl"
    with serving(home, tmp_path / "log", server__audit_file=audit) as server:
        made = find(server.url, question=f"{secret} thermal runaway").json()["search"]
        kept(server.url, made)
        find(server.url, resume=made, rounds=2)
        metrics = server.get("/metrics").text
    lines = [json.loads(line) for line in audit.read_text().splitlines()]
    assert [line["route"] for line in lines[:3]] == [
        "/api/v1/find-papers",
        "/api/v1/find-papers/{search_id}",
        "/api/v1/find-papers",
    ]
    assert lines[0]["index"] == NAME
    assert lines[0]["known"] > 0
    assert 'shrag_paper_searches_total{complete="true",index="sample",judged_by="rules"} 2.0' in metrics
    for text in (audit.read_text(), metrics, (tmp_path / "log").read_text()):
        assert "quorvex" not in text
        assert made not in text
