"""An upgrade without downtime: a newer release publishes into the same folder, while this one answers."""

import subprocess
import sys

import pytest

from indexer.versions.manifest import FORMAT
from tests.indexer.made_corpora import build, environment_of, paper, write_jsonl
from tests.server.running import application

# A release whose manifests have the next format.
NEWER = """
import sys
from indexer.versions import manifest
manifest.FORMAT += 1
manifest.Manifest.__init__.__defaults__ = (*manifest.Manifest.__init__.__defaults__[:-1], manifest.FORMAT)
import shrag
sys.argv[0] = "shrag"
shrag.main()
"""


def newer(*arguments, home):
    """Run a command of the newer release."""
    command = [sys.executable, "-c", NEWER, *map(str, arguments)]
    return subprocess.run(command, env=environment_of(home), capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_running_release_answers_from_its_version_until_it_is_replaced(tmp_path):
    home, corpus = tmp_path / "home", write_jsonl(tmp_path / "papers.jsonl", map(paper, range(3)))
    build(home, corpus, name="papers")
    call = {"question": "paper", "index": "papers"}
    with application(home, address="127.0.0.1") as client:
        assert client.post("/api/v1/search", json=call).json()["version"] == 1
        refused = newer("search", "paper", "--name", "papers", home=home)
        assert (refused.returncode, f"format {FORMAT}" in refused.stderr) == (1, True), refused.stderr
        done = newer("index", corpus, "--name", "papers", "--rebuild", home=home)
        assert done.returncode == 0, done.stderr
        [shown] = client.get("/api/v1/status").json()["indexes"]
        assert f"format {FORMAT + 1}" in shown["error"]
        assert client.post("/api/v1/search", json=call).json()["version"] == 1
    done = newer("search", "paper", "--name", "papers", "--json", home=home)
    assert (done.returncode, '"version": 2' in done.stdout) == (0, True), done.stderr
