"""What a process leaves that is killed while it writes a file: it is ours, never published, and goes."""

import shutil
import subprocess
import sys
from dataclasses import replace

import pytest

from indexer.versions.store.folder import FolderStore
from tests.indexer.made_corpora import ROOT, build, paper, write_jsonl

WRITES = """
import os, sys
from pathlib import Path
from base.files.durable import replacing

Path.replace = lambda *_: os._exit(9)  # the file has a name of its own by now
with replacing(Path(sys.argv[1])) as file:
    file.write(b"whole")
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
