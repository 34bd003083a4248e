"""An open index while versions of an embedded index are published."""

import os
import signal
import subprocess
import sys

import pytest

from indexer.settings import IndexerSettings
from indexer.store.folder import FolderStore
from retriever.index import open_index
from tests.indexer.corpora import ROOT, edit_manifest, environment_of
from tests.retriever.following_contract import *  # noqa: F403
from tests.retriever.following_contract import NAME, answered, publish

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
def settings_for():
    return lambda home, **options: IndexerSettings(home=home, workers=1, **options)


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
        with open_index(settings, NAME) as index:
            assert answered(index) == 1
    finally:
        for path in [settings.home, *settings.home.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
