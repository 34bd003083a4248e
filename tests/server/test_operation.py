"""What an operator does on the server: jobs of their own processes, and keys."""

import fcntl
import json
import os
import signal
from pathlib import Path

import pytest

from indexer.settings import IndexerSettings
from server.errors import Forbidden, JobRunning
from server.jobs.job import JobCall
from server.jobs.store import FOLDER, JobStore
from tests.generator.sample_index import shrag
from tests.indexer.made_corpora import paper, write_jsonl
from tests.server.running import application, wait_for


@pytest.fixture
def home(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "corpora").mkdir()
    write_jsonl(tmp_path / "corpora" / "papers.jsonl", map(paper, range(3)))
    return home


@pytest.fixture
def server(home, tmp_path):
    made = json.loads(
        shrag("keys", "create", "--role", "operator", "--label", "Kim", "--json", home=home).stdout
    )
    headers = {"X-API-Key": made["key"]}
    with application(home, headers=headers, corpora=str(tmp_path / "corpora")) as client:
        yield client


def ended(server, job):
    """Wait for the end of a job, and return it with its log."""
    ask = lambda: server.get(f"/api/v1/jobs/{job['id']}").json()  # noqa: E731
    return wait_for(ask, lambda found: found["job"]["state"] != "running")


@pytest.mark.slow
def test_a_build_runs_in_its_own_process_and_its_index_is_verified_and_backed_up(
    server, tmp_path, monkeypatch
):
    monkeypatch.setenv("SHRAG_BACKUPS", str(tmp_path / "backups"))
    build = {"kind": "build", "index": "papers", "paths": [str(tmp_path / "corpora" / "papers.jsonl")]}
    started = server.post("/api/v1/jobs", json=build)
    assert (started.status_code, started.json()["state"], started.json()["by"]) == (201, "running", "Kim")
    found = ended(server, started.json())
    assert found["job"]["state"] == "done", found
    assert found["log"][0].startswith("index 'papers', version 1: 4 passages of 3 papers")
    for call in ({"kind": "verify", "index": "papers"}, {"kind": "backup"}):
        found = ended(server, server.post("/api/v1/jobs", json=call).json())
        assert found["job"]["state"] == "done", found
    assert [job["kind"] for job in server.get("/api/v1/jobs").json()["jobs"]].count("backup") == 1
    assert len(list((tmp_path / "backups").glob("*/papers"))) == 1


@pytest.mark.slow
def test_a_failed_job_has_its_message_in_the_log(server, tmp_path):
    (tmp_path / "corpora" / "empty.jsonl").write_text("")
    call = {"kind": "build", "index": "papers", "paths": [str(tmp_path / "corpora" / "empty.jsonl")]}
    found = ended(server, server.post("/api/v1/jobs", json=call).json())
    assert (found["job"]["state"], found["job"]["exit_code"]) == ("failed", 1)
    assert found["log"][-1].startswith("EmptyCorpus")


@pytest.fixture
def in_background():
    """Ignore SIGINT, as a program does that a script started in the background."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.slow
@pytest.mark.usefixtures("in_background")
def test_a_running_job_excludes_another_one_of_its_index_and_can_be_stopped(server, tmp_path):
    write_jsonl(tmp_path / "corpora" / "more.jsonl", map(paper, range(5_000)))
    call = {"kind": "build", "index": "papers", "paths": [str(tmp_path / "corpora")]}
    job = server.post("/api/v1/jobs", json=call).json()
    again = server.post("/api/v1/jobs", json=call)
    assert (again.status_code, again.json()["code"]) == (409, "job-running")
    assert server.delete(f"/api/v1/jobs/{job['id']}").status_code == 202
    stopped = ended(server, job)["job"]
    assert (stopped["state"], stopped["exit_code"]) in {("stopped", code) for code in (130, -signal.SIGINT)}


def left_over(home, job_id="20260101000000-00000000", **values):
    """Write a job of an earlier server."""
    folder = home / FOLDER / job_id
    folder.mkdir(parents=True)
    stored = {
        "kind": "build",
        "index": "papers",
        "paths": ["/a"],
        "rebuild": False,
        "by": "Kim",
        "started": "x",
    }
    (folder / "job.json").write_text(json.dumps(stored | values))
    return folder


def test_a_job_whose_processes_were_killed_is_interrupted(server, home):
    left_over(home)
    assert [job["state"] for job in server.get("/api/v1/jobs").json()["jobs"]] == ["interrupted"]


def test_a_job_that_is_running_elsewhere_excludes_another_one_of_its_index(home, tmp_path):
    store = JobStore(IndexerSettings(home=home), [str(tmp_path / "corpora")])
    with (left_over(home) / "lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert store.jobs()[0]["state"] == "running"
        with pytest.raises(JobRunning):
            store.start(JobCall(kind="build", index="papers", paths=(str(tmp_path / "corpora"),)), "Kim")


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"kind": "build"}', "x" * 300_000])
def test_damaged_files_of_a_job_are_no_job(server, home, content):
    (left_over(home) / "job.json").write_text(content)
    assert server.get("/api/v1/jobs").json()["jobs"] == []
    answer = server.get("/api/v1/jobs/20260101000000-00000000")
    assert (answer.status_code, answer.json()["code"]) == (404, "unknown-job")


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "papers.jsonl",
        "{corpora}/../home",
        "{corpora}/link",
        "{corpora}/none",
        "{corpora}/unreadable",
        "\0",
    ],
)
def test_only_files_below_the_listed_folders_are_indexed(server, tmp_path, path):
    (tmp_path / "corpora" / "link").symlink_to("/etc")
    (tmp_path / "corpora" / "unreadable").symlink_to(os.fsdecode(b"caf\xe9"))
    Path(os.fsdecode(bytes(tmp_path / "corpora") + b"/caf\xe9")).write_text("")
    given = path.format(corpora=tmp_path / "corpora")
    answer = server.post("/api/v1/jobs", json={"kind": "build", "index": "papers", "paths": [given]})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid-call")


@pytest.mark.parametrize(
    "call",
    [
        {"kind": "build", "index": "papers"},
        {"kind": "build", "index": "--rebuild", "paths": ["/a"]},
        {"kind": "build", "paths": ["/a"]},
        {"kind": "backup", "index": "papers"},
        {"kind": "verify", "index": "papers", "rebuild": True},
    ],
)
def test_a_contradictory_job_is_refused(server, call):
    answer = server.post("/api/v1/jobs", json=call)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid-call")


def test_an_unknown_index_is_not_verified(server):
    assert server.post("/api/v1/jobs", json={"kind": "verify", "index": "none"}).status_code == 404


def test_without_listed_folders_nothing_is_built(home):
    with pytest.raises(Forbidden):
        JobStore(IndexerSettings(home=home), []).start(JobCall(kind="build", index="x", paths=("/a",)), "Kim")


@pytest.mark.parametrize("job_id", ["..", "20260101000000-0000000g", "lock"])
def test_an_id_of_another_form_is_no_job(server, job_id):
    assert server.get(f"/api/v1/jobs/{job_id}").status_code == 404


def test_a_key_is_created_used_and_revoked(server):
    made = server.post("/api/v1/keys", json={"label": "reading room", "expires": "30d"}).json()
    header = {"X-API-Key": made["key"]}
    assert server.get("/api/v1/session", headers=header).json()["label"] == "reading room"
    assert server.get("/api/v1/jobs", headers=header).status_code == 403
    revoked = server.delete(f"/api/v1/keys/{made['record']['id']}")
    assert (revoked.status_code, revoked.json()["state"]) == (200, "revoked")
    wait_for(lambda: server.get("/api/v1/indexes", headers=header).status_code, lambda status: status == 401)
    assert server.delete("/api/v1/keys/aaaaaaaaaa").json()["code"] == "unknown-key"


@pytest.mark.parametrize("call", [{"expires": "soon"}, {"role": "root"}, {"indexes": ["../x"]}])
def test_an_invalid_key_is_not_created(server, call):
    assert server.post("/api/v1/keys", json=call).status_code == 422


@pytest.mark.parametrize("path", ["jobs", "keys"])
@pytest.mark.parametrize("origin", ["https://evil.example", "http://["])
def test_a_page_of_another_site_starts_nothing(server, path, origin):
    answer = server.post(f"/api/v1/{path}", json={"kind": "backup"}, headers={"Origin": origin})
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
