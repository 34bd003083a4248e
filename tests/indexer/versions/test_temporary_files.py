"""What a process leaves that is killed while it writes a file: it is ours, never published, and goes."""

import fcntl
import os
import random
import shutil
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from base.files.output_files import write_output
from indexer.versions.store.folder import FolderStore
from tests.indexer.made_corpora import ROOT, build, paper, write_jsonl

KILLS = 20
WRITES = """
import os, sys
from pathlib import Path
from base.files.durable import replacing

Path.replace = lambda *_: os._exit(9)  # the file has a name of its own by now
with replacing(Path(sys.argv[1])) as file:
    file.write(b"whole")
"""
WRITES_HALF = """
import os, sys
from pathlib import Path
from base.files.durable import replacing

with replacing(Path(sys.argv[1])) as file:
    file.write(b"half")
    file.flush()
    os._exit(9)
"""
WRITES_ON = """
import sys
from pathlib import Path
from base.files.durable import write_durably

print("started", flush=True)
while True:
    write_durably(Path(sys.argv[1]), "new" * 100_000)
"""
WRITES_A_GLOSSARY = """
import os, sys
from pathlib import Path
from indexer.glossary.storage import write_glossary

def pairs():
    os._exit(9)
    yield

write_glossary(Path(sys.argv[1]), pairs())
"""


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def corpus(tmp_path):
    return write_jsonl(tmp_path / "papers.jsonl", [paper(1), paper(2)])


def killed_writing(path, script=WRITES):
    """Let a process be killed while it writes the file at `path`; return what that leaves."""
    before = set(path.parent.glob("*")) if path.parent.exists() else set()
    run = subprocess.run([sys.executable, "-c", script, str(path)], cwd=ROOT, check=False)
    assert run.returncode == 9
    (left,) = set(path.parent.glob("*")) - before
    return left


def test_a_process_that_is_killed_in_the_middle_of_a_file_leaves_none(tmp_path):
    (tmp_path / "out").write_text("old")

    run = subprocess.run([sys.executable, "-c", WRITES_HALF, str(tmp_path / "out")], cwd=ROOT, check=False)

    assert run.returncode == 9
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"out": "old"}


def test_whenever_a_process_is_killed_the_next_output_finds_a_whole_file_and_leaves_no_other(tmp_path, tried):
    draw = random.Random(7)
    for _ in range(KILLS):
        writes = subprocess.Popen(
            [sys.executable, "-c", WRITES_ON, str(tmp_path / "out")], cwd=ROOT, stdout=subprocess.PIPE
        )
        assert writes.stdout
        assert writes.stdout.readline()
        time.sleep(draw.random() / 50)
        writes.kill()
        writes.communicate()
        tried("kills")
    assert (tmp_path / "out").stat().st_size == 300_000

    write_output(tmp_path / "other", b"")

    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "out"]


def test_a_leftover_goes_with_the_next_output_and_what_a_process_still_writes_stays(tmp_path):
    left = killed_writing(tmp_path / "first")
    being_written = tmp_path / ".1.0123abcd.partial"
    with being_written.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        write_output(tmp_path / "second", b"second")

    assert (left.exists(), being_written.exists()) == (False, True)


@pytest.mark.parametrize("name", ["CURRENT", "holder"])
def test_an_index_that_a_process_was_killed_in_is_deleted(home, corpus, name):
    build(home, corpus)
    killed_writing(home / "papers" / name)

    FolderStore(home, "papers").delete()

    assert list(home.iterdir()) == []


@pytest.mark.parametrize("script", [WRITES, WRITES_A_GLOSSARY])
def test_what_was_half_written_in_a_build_is_not_published(home, corpus, script):
    store = FolderStore(home, "papers")
    build(home, corpus)
    whole = dict(store.manifest().files)
    shutil.copytree(
        store.version_path(1), store.local.building
    )  # of a build that goes on, as it is published
    left = killed_writing(store.local.building / "glossary.sqlite", script)

    with store.writing():
        manifest = store.publish(replace(store.manifest(), version=2), keep=1)

    assert manifest.files == whole
    assert not left.exists()


def test_a_deletion_passes_the_leftover_of_one_with_the_same_process_number(home, corpus):
    build(home, corpus)
    shutil.copytree(home / "papers", home / f".deleted-papers-{os.getpid()}")

    FolderStore(home, "papers").delete()

    assert list(home.iterdir()) == []
