"""A harvest that is killed again and again ends as one that nothing disturbed.

`SHRAG_TEST_KILLS=100 python -m pytest tests/indexer/harvesting/test_killed_harvest.py` kills a hundred times.
"""

import os
import random
import signal
import subprocess
import sys
import time

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
from tests.indexer.made_corpora import environment_of, stored_records

KILLS = int(os.environ.get("SHRAG_TEST_KILLS") or 0) or 6  # read before the user's settings are hidden

# Does what `shrag index oai:…` and `shrag harvest` do, and prints each step of a stage.
HARVESTER = """
import sys
from indexer.harvest import harvest, update
from indexer.harvesting.repository import Repository
from indexer.ingest import IngestRequest
from indexer.settings import IndexerSettings

def show(stage, done, total):
    print(stage, flush=True)

_, how, name, path = sys.argv
print("starting", flush=True)
if how == "first":
    harvest(Repository.of(path), IngestRequest(name, (path,)), IndexerSettings(), progress=show)
else:
    update(Repository.of(path), name, IndexerSettings(), progress=show)
"""
STEPS = {
    "starting": 1,
    "harvesting": 12,
    "indexing": 3,
    "glossary": 3,
    "publishing": 1,
}  # the most to wait for
LATER_S = 0.02  # after the step


def kill_or_finish(home, how, path, draw):
    """Run a harvest and kill it at a step of a stage; return whether it was killed."""
    stage = draw.choice(tuple(STEPS))
    steps = draw.randint(1, STEPS[stage])
    environment = environment_of(home, workers=1, harvest__delay_s=0)
    arguments = [sys.executable, "-c", HARVESTER, how, NAME, path]
    with subprocess.Popen(arguments, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        for line in process.stdout:
            steps -= line.strip() == stage
            if not steps:
                time.sleep(draw.uniform(0, LATER_S))
                process.kill()
                break
        process.stdout.read()
    assert process.returncode in {0, -signal.SIGKILL}
    return process.returncode != 0


@pytest.mark.slow
@pytest.mark.timeout(120 + 30 * KILLS)
def test_a_harvest_that_is_killed_ends_as_if_nothing_had_been(tmp_path, tried):
    disturbed, undisturbed, draw = tmp_path / "disturbed", tmp_path / "undisturbed", random.Random(7)
    served, kills = filled(120), 0
    with repository(served) as path:
        first_harvest(undisturbed, path)
        while kills < KILLS // 2:
            kills += kill_or_finish(disturbed, "first", path, draw)
        first_harvest(disturbed, path)
        assert stored_records(disturbed, NAME) == stored_records(undisturbed, NAME)

        while kills < KILLS:
            served.pass_(days=3)
            number = draw.randrange(100)
            put(served, number, f"again {kills}")
            put(served, 120 + kills)
            if f"oai:t:{number + 1}" in served.alive():
                served.delete(f"oai:t:{number + 1}")
            kills += kill_or_finish(disturbed, "next", path, draw)
        next_harvest(disturbed, path)
        at_rest = version(disturbed)
        next_harvest(disturbed, path)

    assert published(disturbed) == expected(served)
    assert version(disturbed) == at_rest
    tried("kills", kills)
