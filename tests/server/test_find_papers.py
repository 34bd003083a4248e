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
from server.kept_searches import KeptSearches
from server.settings import ServerSettings
from server.store import Store
from tests.generator.finding.test_finding_ends_early import JUDGED, WaitsInTheMiddle
from tests.generator.finding_model import FindingModel, serving_model, value_of
from tests.generator.sample_index import ENGLISH, KOREAN, NAME, shrag
from tests.server.running import START_S as WAIT_S
from tests.server.running import UNLIMITED, add_key, application, events_of, serving, wait_for

LOCAL = Caller("127.0.0.1", is_local=True)
STREAM = {"Accept": "text/event-stream"}
PLAIN = {"question": ENGLISH, "without": ["query-writing", "evolver"]}
REVIEW = {"question": "cobalt of spent batteries: a review", "rounds": 2, "layers": 2}
PATH = "/api/v1/find-papers"


@pytest.fixture(scope="module")
def local_api(sample_home):
    """Serve the sample to this machine, whose searches are its own."""
    with application(sample_home, address="127.0.0.1", **UNLIMITED) as client:
        yield client


def find(server, headers=None, **call):
    """Find papers, and return the answer."""
    return server.post(PATH, json=call, headers=headers)


def kept(server, search_id="kept", headers=None):
    return server.get(f"{PATH}/{search_id}", headers=headers)


def ids(record):
    return [paper["id"] for paper in record["papers"]]


def untimed(record):
    """Leave out what differs from search to search."""
    spent = {name: value for name, value in record["spent"].items() if name != "seconds"}
    return {**record, "milliseconds": 0, "spent": spent, "search": ""}


@pytest.mark.parametrize("call", [{"question": KOREAN}, REVIEW, {"question": "🙂"}])
def test_a_stream_is_numbered_ended_once_and_says_what_the_plain_answer_says(local_api, sample_home, call):
    events = list(events_of(local_api.post(PATH, json=call, headers=STREAM).text.splitlines()))
    assert [event.number for event in events] == list(range(1, len(events) + 1))
    names = [event.name for event in events]
    assert names[0] == "search"
    assert [name for name in names if name in {"done", "error"}] == [names[-1]] == ["done"]
    done = events[-1].data
    assert done["search"] == events[0].data["id"]
    assert (done["index"], done["question"]) == (NAME, call["question"])
    for plain in (find(local_api, **call), local_api.get(PATH, params=call)):
        assert untimed(plain.json()) == untimed(done)
    options = [part for name in call.keys() - {"question"} for part in (f"--{name}", str(call[name]))]
    printed = shrag("find-papers", call["question"], "--json", *options, home=sample_home)
    assert ids(json.loads(printed.stdout)) == ids(done)


def test_a_search_is_gone_on_with_as_it_was_asked_within_a_larger_budget(local_api):
    whole = find(local_api, **REVIEW, papers=50).json()
    small = find(local_api, **REVIEW, papers=50, max_papers=5).json()
    assert not small["complete"]
    assert small["spent"]["papers"] == 5
    again = find(local_api, resume=small["search"]).json()
    assert again["spent"]["papers"] == 5  # the budget is as it was
    resumed = find(local_api, resume=small["search"], max_papers=None).json()
    assert (resumed["search"], resumed["complete"]) == (small["search"], True)
    assert ids(resumed) == ids(whole)
    assert kept(local_api, small["search"]).json()["request"]["layers"] == REVIEW["layers"]
    for other in ({"question": "another"}, {"index": "another"}, {"sources": ["another"]}):
        refused = find(local_api, resume=small["search"], **other).json()
        assert refused["code"] == "invalid-call"
        assert refused["note"]["code"] in {"kept_of_another_question", "kept_in_index"}


def test_a_kept_search_is_shown_listed_saved_for_the_command_and_deleted(local_api, sample_home, tmp_path):
    small = find(local_api, **REVIEW, max_papers=5).json()
    shown = kept(local_api, small["search"]).json()
    assert {name: shown[name] for name in ("papers", "tree", "notes")}.items() <= small.items()
    assert not shown["running"]
    assert shown["request"] == {**REVIEW, "max_papers": 5, "index": NAME}
    newest = kept(local_api).json()["searches"][0]
    assert newest["id"] == small["search"]
    assert (newest["known"], newest["relevant"]) == (small["known"], small["relevant"])
    state = tmp_path / "state.json"
    state.write_bytes(kept(local_api, f"{small['search']}/state").content)
    resumed = shrag("find-papers", "--resume", state, "--name", NAME, "--json", home=sample_home)
    assert set(ids(small)) <= set(ids(json.loads(resumed.stdout)))
    address = f"{PATH}/{small['search']}"
    assert [local_api.delete(address).status_code for _ in range(2)] == [204, 404]
    assert kept(local_api, small["search"]).json()["code"] == "unknown-search"
    assert small["search"] not in str(kept(local_api).json())


@contextmanager
def application_with(home, settings, **server):
    """Run the application for this machine, with settings of a model."""
    with pytest.MonkeyPatch.context() as patched:
        for name, value in settings.items():
            patched.setenv(f"SHRAG_{name.upper()}", str(value))
        with application(home, address="127.0.0.1", **server) as client:
            yield client


@contextmanager
def search_in_the_middle(server, model):
    """Yield the id of a streamed search when what the model judged until it waits is kept."""
    with httpx.stream("POST", f"{server.url}{PATH}", json=PLAIN, headers=STREAM, timeout=WAIT_S) as answer:
        arriving = events_of(answer.iter_lines())
        search_id = next(arriving).data["id"]
        wait_for(lambda: judged_of(server, search_id), lambda judged: len(judged) == JUDGED)
        yield search_id, arriving


def judged_of(server, search_id):
    """Return the papers of a kept search that are judged."""
    answer = kept(server, f"{search_id}/state")
    papers = answer.raise_for_status().json()["papers"] if answer.is_success else {}
    return {paper_id for paper_id, known in papers.items() if known["judgement"]}


@pytest.mark.slow
@pytest.mark.parametrize("end", ["reader leaves", "server is killed"])
def test_what_was_judged_is_kept_and_gone_on_with(home, tmp_path, end):
    model, again = WaitsInTheMiddle(), FindingModel()
    with serving_model(model) as settings, serving(home, tmp_path / "log", **settings) as server:
        with search_in_the_middle(server, model) as (search_id, arriving):
            assert kept(server, search_id).json()["running"]
            refused = find(server, resume=search_id)
            assert (refused.status_code, refused.json()["code"]) == (409, "search-running")
            assert server.delete(f"{PATH}/{search_id}").json()["code"] == "search-running"
            if end == "server is killed":
                os.kill(server.process.pid, signal.SIGKILL)
                server.process.wait()
                model.go_on.set()
                with pytest.raises(httpx.TransportError):
                    list(arriving)
        if end == "reader leaves":
            wait_for(lambda: kept(server, search_id).json(), lambda shown: not shown["running"])
        model.go_on.set()
    with serving_model(again) as settings, application_with(home, settings) as client:
        assert len(judged_of(client, search_id)) == JUDGED
        shown = wait_for(lambda: kept(client, search_id).json(), lambda shown: not shown["running"])
        assert not shown["complete"]
        resumed = find(client, resume=search_id).json()
    assert resumed["complete"]
    titles = [value_of("title", prompt) for prompt in again.prompts if "<title>" in prompt]
    assert len(titles) == len(set(titles)) == resumed["spent"]["papers"] - JUDGED
    assert not {*titles} & {paper["title"] for paper in shown["papers"]}


@pytest.mark.slow
def test_what_was_found_is_given_when_the_time_is_over(home):
    model = WaitsInTheMiddle()
    with serving_model(model) as settings, application_with(home, settings, ask_s=4) as client:
        streamed = client.post(PATH, json=PLAIN, headers=STREAM).text
        for done in (list(events_of(streamed.splitlines()))[-1].data, find(client, **PLAIN).json()):
            assert not done["complete"]
            assert "ended_by_server" in {note["code"] for note in done["note_codes"]}
            again = kept(client, done["search"]).json()
            assert (again["notes"], again["note_codes"]) == (done["notes"], done["note_codes"])
        model.go_on.set()


def test_a_kept_search_is_there_for_the_key_that_made_it_alone(shared_home):
    mine, *others = [{"X-API-Key": add_key(shared_home, indexes=each)} for each in ((), (), ("other",))]
    with application(shared_home, kept_searches=3) as server:
        made = find(server, mine, question=ENGLISH, index=NAME, max_papers=5).json()["search"]
        for headers in others:
            for refused in (
                kept(server, made, headers),
                kept(server, f"{made}/state", headers),
                find(server, headers, resume=made),
                server.delete(f"{PATH}/{made}", headers=headers),
            ):
                assert refused.json()["code"] == "unknown-search"
            assert made not in kept(server, headers=headers).text
        assert kept(server, made).status_code == 401
        assert kept(server, made, mine).status_code == 200


@pytest.mark.parametrize(
    "damage",
    [
        "head = x''",
        'head = CAST(replace(CAST(head AS TEXT), \'"max_papers":3\', \'"max_papers":"x"\') AS BLOB)',
        "state = CAST('{\"question\": 3}' AS BLOB)",
        "state = substr(state, 1, 100)",
        "result = CAST('[' AS BLOB)",
    ],
)
def test_a_damaged_search_is_one_clear_error_and_can_be_deleted(home, damage):
    with application(home, address="127.0.0.1") as client:
        made = find(client, question=ENGLISH, max_papers=3).json()["search"]
        assert Store(home).change(f"UPDATE searches SET {damage}") == 1
        for answer in (kept(client, made), find(client, resume=made)):
            assert (answer.status_code, answer.json()["code"]) == (503, "search-unusable")
        assert kept(client).status_code == 200
        assert client.delete(f"{PATH}/{made}").status_code == 204
        assert kept(client).json() == {"searches": []}


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
            searches.append(find(client, question=ENGLISH, max_papers=1).json().get("search"))
        kept_now = {search["id"] for search in kept(client).json()["searches"]}
    assert kept_now == {searches[number] for number in left}


def test_a_search_runs_once_and_its_lease_ends_by_itself(home):
    here, there = (KeptSearches(Store(home), ServerSettings()) for _ in range(2))
    killed = here.begin(LOCAL)
    assert killed
    killed.save()
    for use in (there.resume, there.delete):
        with pytest.raises(SearchRunning):
            use(LOCAL, killed.id)
    killed.lease = time.time()  # as if it were over
    Store(home).change("UPDATE searches SET running_until = ?", killed.lease)
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


def test_a_search_is_resumed_although_the_store_is_read_only(home, monkeypatch):
    def refuse(*_):
        raise StoreUnusable("read-only")

    with application(home, address="127.0.0.1") as client:
        made = find(client, question=ENGLISH, max_papers=3).json()
        monkeypatch.setattr(Store, "changing", refuse)
        resumed = find(client, resume=made["search"], max_papers=None).json()
    assert resumed["complete"]
    assert "search_not_kept" in {note["code"] for note in resumed["note_codes"]}
