"""An open index while versions of an embedded index are published."""

import asyncio
import logging
import os
import signal
import subprocess
import sys

import pytest

from indexer.versions.store.folder import FolderStore
from retriever.index import open_index
from tests.indexer.made_corpora import ROOT, as_others_may, edit_manifest, environment_of
from tests.retriever.following_contract import *  # noqa: F403
from tests.retriever.following_contract import NAME, ask, publish

SEARCH = """
from indexer.settings import IndexerSettings
from indexer.versions.store.engines import open_store
from retriever.index import open_index
from tests.retriever.following_contract import NAME, answered

with open_index(IndexerSettings(), NAME) as index:
    print(answered(index))
with open_store(IndexerSettings(), NAME) as store:
    print(len(list(store.stored_passages(store.manifest()))))
"""
# Opens an index, says so, and asks nothing.
READER = """
import sys
from indexer.settings import IndexerSettings
from retriever.index import open_index

with open_index(IndexerSettings(), "papers"):
    print("open", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def spoil():
    def edit(settings, version):
        folder = FolderStore(settings.home, NAME).version_path(version)
        edit_manifest(folder, fingerprint={"tokens": "others"})

    return edit


@pytest.fixture
def remains():
    def numbers(settings):
        folder = settings.home / NAME / "versions"
        return sorted(int(path.name.removeprefix(".")) for path in folder.iterdir())

    return numbers


def test_what_another_process_has_open_stays_until_that_is_killed(settings, remains):
    with subprocess.Popen(
        [sys.executable, "-c", READER],
        env=environment_of(settings.home) | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as reader:
        assert reader.stdout
        assert reader.stdout.readline() == "open\n"
        publish(settings, 2)
        assert remains(settings) == [1, 2]
        os.kill(reader.pid, signal.SIGKILL)
    publish(settings, 3)
    assert remains(settings) == [3]


def test_an_index_is_opened_where_nothing_may_be_written(settings):
    for path in [settings.home, *settings.home.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        searched = subprocess.run(
            [*as_others_may(), sys.executable, "-c", SEARCH],
            env=environment_of(settings.home),
            capture_output=True,
            text=True,
            check=False,
        )
        assert (searched.returncode, searched.stdout) == (0, "1\n5\n"), searched.stderr
    finally:
        for path in [settings.home, *settings.home.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)


def test_a_pointer_that_cannot_be_read_leaves_the_version_before_answering_with_a_note(settings, caplog):
    with open_index(settings, NAME, follow=True) as index, caplog.at_level(logging.WARNING, "shrag"):
        assert asyncio.run(ask(index)).notes == ()
        (settings.home / NAME / "CURRENT").write_bytes(b"one")
        for _ in range(2):
            [note] = asyncio.run(ask(index)).notes
            assert note.startswith(
                "answered by version 1: the current version cannot be opened (index 'papers'"
            )
        assert caplog.text.count("version not opened") == 1
