"""What a build that broke off leaves, and what the same command makes of it."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from indexer.errors import IndexBusy, IndexNotWritten
from indexer.ingest import IngestRequest, build_index
from indexer.settings import IndexerSettings
from indexer.versions.store.folder import FolderStore
from tests.indexer.made_corpora import (
    ROOT,
    answers,
    build,
    environment_of,
    forward_files,
    paper,
    stored_records,
    write_jsonl,
)
from tests.interrupts import interrupts_heeded
from tests.test_damage import DAMAGES

STAGES = ["reading", "indexing", "merging", "glossary", "publishing"]


class PowerCut(BaseException):
    """Ends a build as nothing in it expects."""


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def corpus(tmp_path):
    return write_jsonl(tmp_path / "corpus.jsonl", [paper(number) for number in range(80)])


def break_off(home, corpus, stage="merging", **options):
    def cut(now, done, total):
        if now == stage:
            raise PowerCut

    request = IngestRequest("papers", [str(corpus)], **options)
    with pytest.raises(PowerCut):
        build_index(request, IndexerSettings(home=home, workers=1, commit_every=20), cut)


def stages_of(home, corpus, **options):
    told = []
    request = IngestRequest("papers", [str(corpus)], **options)
    settings = IndexerSettings(home=home, workers=1, commit_every=20)
    build_index(request, settings, lambda stage, done, total: told.append(stage))
    return list(dict.fromkeys(told))


@pytest.mark.parametrize("stage", ["committing", "merging", "glossary", "publishing"])
def test_a_resumed_build_reads_no_corpus(home, corpus, stage):
    break_off(home, corpus, stage)

    assert [name for name in stages_of(home, corpus) if name != "committing"] == STAGES[1:]
    assert len(set(stored_records(home))) == len(stored_records(home)) == 96


def test_a_resumed_build_answers_as_an_undisturbed_one(home, corpus, tmp_path):
    break_off(home, corpus, "committing")
    break_off(home, corpus, "glossary")
    build(home, corpus)
    build(tmp_path / "undisturbed", corpus)

    assert stored_records(home) == stored_records(tmp_path / "undisturbed")
    assert forward_files(home) == forward_files(tmp_path / "undisturbed")
    assert answers(home) == answers(tmp_path / "undisturbed")


@pytest.fixture(scope="module")
def broken_off(tmp_path_factory):
    """Return a build that broke off after commits, its corpus, and what an undisturbed one answers."""
    folder = tmp_path_factory.mktemp("broken-off")
    corpus = write_jsonl(folder / "corpus.jsonl", [paper(number) for number in range(80)])
    break_off(folder / "home", corpus)
    build(folder / "undisturbed", corpus)
    return folder / "home", corpus, answers(folder / "undisturbed")


@pytest.mark.parametrize("path", ["tantivy/meta.json", "forward/000000000000/rows"])
def test_what_cannot_be_opened_again_is_built_anew(broken_off, tmp_path, path, caplog):
    home, corpus, undisturbed = broken_off
    home = shutil.copytree(home, tmp_path / "home")
    DAMAGES["cut"](FolderStore(home, "papers").local.building / path)

    assert stages_of(home, corpus)[0] == "reading"
    assert "damaged" in caplog.text
    assert answers(home) == undisturbed


def test_an_error_later_in_a_resumed_build_costs_nothing_that_was_committed(home, corpus):
    break_off(home, corpus)
    break_off(home, corpus, "indexing")

    assert stages_of(home, corpus)[0] == "indexing"


def test_a_corpus_that_changed_is_read_from_the_start(home, corpus):
    break_off(home, corpus)
    write_jsonl(corpus, [paper(number, version=1) for number in range(50)])

    assert stages_of(home, corpus)[0] == "reading"
    assert FolderStore(home, "papers").manifest().papers == 50


def test_a_killed_update_starts_over_and_the_version_answers_meanwhile(home, corpus, tmp_path):
    build(home, corpus)
    before = answers(home)
    update = write_jsonl(tmp_path / "update.jsonl", [paper(number, version=1) for number in range(60, 100)])

    break_off(home, update, "glossary")

    assert answers(home) == before
    assert stages_of(home, update)[0] == "reading"
    assert FolderStore(home, "papers").manifest().papers == 100


def test_another_command_does_not_go_on_with_what_broke_off(home, corpus, tmp_path):
    break_off(home, corpus)
    other = write_jsonl(tmp_path / "other.jsonl", [paper(500)])

    build(home, other)

    assert FolderStore(home, "papers").manifest().papers == 1


def test_a_second_writer_is_refused_at_once_and_the_first_goes_on(home, corpus):
    refused = []

    def second(stage, done, total):
        if stage == "merging":
            with pytest.raises(IndexBusy, match="'papers'") as error:
                build(home, corpus)
            refused.append(error)

    build_index(IngestRequest("papers", [str(corpus)]), IndexerSettings(home=home, workers=1), second)

    assert len(refused) == 1
    assert FolderStore(home, "papers").manifest().papers == 80


# Two workers; as soon as they analyse, one of them is ended, as the system does when memory is short.
ENDS_A_WORKER = """
import contextlib, multiprocessing, os, signal, sys
from indexer.errors import IndexNotWritten
from indexer.ingest import IngestRequest, build_index
from indexer.settings import IndexerSettings

def end_a_worker(stage, done, total):
    workers = multiprocessing.active_children()
    if workers and done > total // 2:
        with contextlib.suppress(ProcessLookupError):  # the one of a call before, which is gone by now
            os.kill(workers[0].pid, signal.SIGKILL)

if __name__ == "__main__":
    try:
        build_index(IngestRequest("papers", sys.argv[1:]), IndexerSettings(), end_a_worker)
    except IndexNotWritten as error:
        print(error)
"""


@pytest.mark.slow
def test_a_worker_that_is_ended_is_one_error_and_the_same_command_goes_on(home, tmp_path):
    corpus = write_jsonl(tmp_path / "corpus.jsonl", [paper(number) for number in range(1_500)])
    script = tmp_path / "ends_a_worker.py"
    script.write_text(ENDS_A_WORKER)

    run = subprocess.run(
        [sys.executable, str(script), str(corpus)],
        env=environment_of(home, workers=2, commit_every=100),
        check=False,
        capture_output=True,
        text=True,
        timeout=240,
    )

    assert "1 of 2" in run.stdout or "one of 2" in run.stdout
    assert (run.stdout.count("\n"), run.stderr) == (1, "")
    assert build(home, corpus).manifest.papers == 1_500


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_workers_do_not_outlive_the_process_that_started_them(home, tmp_path, ending):
    corpus = write_jsonl(tmp_path / "corpus.jsonl", [paper(number, words=300) for number in range(3_000)])
    command = [sys.executable, str(ROOT / "shrag.py"), "index", str(corpus), "--name", "papers"]
    with interrupts_heeded():
        process = subprocess.Popen(
            [*command, "--workers", "2"],
            env=environment_of(home),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,  # the group that Ctrl-C of a terminal would reach
        )
    workers = children_that_analyse(process.pid)
    assert len(workers) == 2

    if ending == signal.SIGINT:
        os.killpg(process.pid, ending)
    else:
        process.send_signal(ending)
    _, told = process.communicate(timeout=120)  # ends when the last who holds the pipes has ended

    assert ended_within(workers, 60)
    if ending == signal.SIGINT:
        assert (process.returncode, told.count("\n")) == (130, 1)
    else:
        assert process.returncode == -ending


def children_that_analyse(pid):
    """Wait until the pool of a process has two children, and return their numbers."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        workers = [child for child in children_of(pid) if "spawn_main" in command_line_of(child)]
        if len(workers) == 2:
            time.sleep(0.7)
            return workers
        time.sleep(0.05)
    return []


def children_of(pid):
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def command_line_of(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""


def ended_within(processes, seconds):
    """Wait until all of these processes have ended; tell whether they did."""
    deadline = time.monotonic() + seconds
    while any(map(is_running, processes)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not any(map(is_running, processes))


def is_running(pid):
    """Tell whether a process runs; one that has ended and that nobody asked about yet does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_disk_error_names_the_next_step(home, corpus):
    home.mkdir()
    (home / "papers").write_text("a file where the folder should be")

    with pytest.raises(IndexNotWritten, match="'papers'"):
        build(home, corpus)
