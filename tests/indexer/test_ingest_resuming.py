"""What a build that broke off leaves, and what the same command makes of it."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from indexer.errors import IndexDamaged
from indexer.ingest import IngestRequest, build_index
from indexer.settings import IndexerSettings
from indexer.versions.store.build_folder import SPOOL
from indexer.versions.store.folder import FolderStore
from tests.indexer.made_corpora import (
    answers,
    build,
    command,
    environment_of,
    forward_files,
    paper,
    stored_records,
    write_jsonl,
)
from tests.interrupts import interrupts_heeded

STAGES = ["reading", "indexing", "merging", "glossary", "publishing"]


class PowerCut(BaseException):
    """Ends a build as nothing in it expects."""


@pytest.fixture
def corpus(tmp_path):
    return write_jsonl(tmp_path / "corpus.jsonl", [paper(number) for number in range(80)])


def break_off(home, corpus, stage="merging"):
    def cut(now, done, total):
        if now == stage:
            raise PowerCut

    with pytest.raises(PowerCut):
        build_index(IngestRequest("papers", [str(corpus)]), IndexerSettings(home=home, workers=1), cut)


def stages_of(home, corpus):
    told = []
    settings = IndexerSettings(home=home, workers=1)
    build_index(IngestRequest("papers", [str(corpus)]), settings, lambda stage, *_: told.append(stage))
    return list(dict.fromkeys(told))


def test_a_resumed_build_reads_no_corpus_and_answers_as_an_undisturbed_one(home, corpus, tmp_path):
    for stage in ("indexing", "publishing"):
        break_off(home, corpus, stage)

    assert stages_of(home, corpus) == STAGES[1:]
    build(tmp_path / "undisturbed", corpus)
    assert stored_records(home) == stored_records(tmp_path / "undisturbed")
    assert forward_files(home) == forward_files(tmp_path / "undisturbed")
    assert answers(home) == answers(tmp_path / "undisturbed")


def test_a_corpus_that_changed_is_read_from_the_start(home, corpus):
    break_off(home, corpus)
    write_jsonl(corpus, [paper(number, version=1) for number in range(50)])

    assert stages_of(home, corpus)[0] == "reading"
    assert FolderStore(home, "papers").manifest().papers == 50


def test_a_killed_update_is_resumed_and_the_version_answers_meanwhile(home, corpus, tmp_path):
    build(home, corpus)
    before = answers(home)
    update = write_jsonl(tmp_path / "update.jsonl", [paper(number, version=1) for number in range(60, 100)])

    break_off(home, update, "glossary")

    assert answers(home) == before
    assert stages_of(home, update) == STAGES[1:]
    assert FolderStore(home, "papers").manifest().papers == 100


def test_records_that_were_damaged_are_read_again(home, corpus):
    break_off(home, corpus)
    spool = FolderStore(home, "papers").local.building / SPOOL
    spool.write_bytes(spool.read_bytes()[:-9])

    with pytest.raises(IndexDamaged, match="repeat the command"):
        build(home, corpus)
    assert stages_of(home, corpus) == STAGES


@pytest.mark.parametrize(
    ("ending", "code"), [(signal.SIGKILL, -9), (signal.SIGTERM, -15), (signal.SIGINT, 130)]
)
def test_workers_do_not_outlive_the_process_that_started_them(home, tmp_path, ending, code):
    corpus = write_jsonl(tmp_path / "corpus.jsonl", [paper(number, words=300) for number in range(3_000)])
    with interrupts_heeded():
        process = subprocess.Popen(
            command("index", corpus, "--name", "papers", "--workers", "2"),
            env=environment_of(home),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,  # the group that Ctrl-C of a terminal would reach
        )
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while len(children.read_text().split()) < 3:  # two workers, and what hands their resources back
        time.sleep(0.05)

    (os.killpg if ending == signal.SIGINT else os.kill)(process.pid, ending)
    _, told = process.communicate(timeout=120)  # ends when the last who holds the pipes has ended

    assert process.returncode == code
    assert ending != signal.SIGINT or told.count("\n") == 1
