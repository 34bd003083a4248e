"""A harvest that is killed at several stages ends as one that nothing disturbed."""

import signal
import subprocess
import sys

import pytest

from tests.indexer.harvesting.harvests import (
    NAME,
    expected,
    filled,
    first_harvest,
    next_harvest,
    published,
    put,
    version,
)
from tests.indexer.harvesting.repository import repository
from tests.indexer.made_corpora import environment_of

# Does what `shrag index oai:…` and `shrag harvest` do, and prints each step of a stage.
HARVESTER = """
import sys
from indexer.harvest import harvest, update
from indexer.harvesting.repository import Repository
from indexer.ingest import IngestRequest
from indexer.settings import IndexerSettings

_, how, name, path = sys.argv
show = lambda stage, done, total: print(stage, flush=True)
if how == "first":
    harvest(Repository.of(path), IngestRequest(name, (path,)), IndexerSettings(), progress=show)
else:
    update(Repository.of(path), name, IndexerSettings(), progress=show)
"""


def kill(home, how, path, stage, steps):
    """Run a harvest, and kill it at a step of a stage."""
    environment = environment_of(home, workers=1, harvest__delay_s=0)
    arguments = [sys.executable, "-c", HARVESTER, how, NAME, path]
    with subprocess.Popen(arguments, env=environment, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout or ():
            steps -= line.strip() == stage
            if not steps:
                process.kill()
                break
    assert process.returncode == -signal.SIGKILL


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_killed_harvest_ends_as_if_nothing_had_happened(tmp_path):
    served = filled(60)
    with repository(served) as path:
        kill(tmp_path, "first", path, "harvesting", 3)
        asked = len(served.asked)
        kill(tmp_path, "first", path, "indexing", 1)
        assert served.asked[asked + 1]["resumptionToken"].startswith("30")
        first_harvest(tmp_path, path)
        assert published(tmp_path) == expected(served)

        served.pass_(days=3)
        put(served, 5, "again")
        served.delete("oai:t:6")
        kill(tmp_path, "next", path, "publishing", 1)
        next_harvest(tmp_path, path)
        at_rest = version(tmp_path)
        next_harvest(tmp_path, path)

    assert published(tmp_path) == expected(served)
    assert version(tmp_path) == at_rest
