"""A harvest with faults makes the index that a harvest without faults makes.

`SHRAG_TEST_HARVEST=100000 python -m pytest tests/indexer/harvesting/test_faulty_harvest.py -s` harvests that
many records, and prints times and memory.
"""

import json
import os
import random
import subprocess
import sys

import pytest

from indexer.harvest import harvested_repositories
from indexer.settings import IndexerSettings
from tests.indexer.harvesting.harvests import NAME, filled
from tests.indexer.harvesting.repository import planned, repository
from tests.indexer.made_corpora import answers, environment_of, forward_files, paper, stored_records

RECORDS = (
    int(os.environ.get("SHRAG_TEST_HARVEST") or 0) or 1_000
)  # read before the user's settings are hidden
PAGES = 1_000 if RECORDS >= 100_000 else 100
# Of FAULTS, CHANGES are records changed or deleted while a page is requested.
FAULTS, CHANGES = (50, 10) if RECORDS > 1_000 else (20, 5)
ROUNDS = 20

# Does what `shrag index oai:…` and `shrag harvest` do, and prints what that took.
HARVESTER = """
import json, sys, time
from indexer.harvest import HarvestOptions, harvest
from indexer.harvesting.repository import Repository
from indexer.ingest import IngestRequest
from indexer.settings import IndexerSettings

_, name, path, rebuild = sys.argv
def used():  # not ru_maxrss, which starts with the memory of the process of the tests
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM"))

begun, last = time.monotonic(), (0, 0)
def show(stage, done, total):
    global last
    if stage == "harvesting":
        last = time.monotonic(), used()

request = IngestRequest(name, (path,), rebuild=rebuild == "rebuild")
report = harvest(Repository.of(path), request, IndexerSettings(), HarvestOptions(), show)
ended = time.monotonic()
print(json.dumps({
    "listing s": round(last[0] - begun, 1), "listing MB": last[1],
    "building s": round(ended - last[0], 1), "building MB": used(),
    "requests": report.requests.requests, "retries": report.requests.retries,
    "restarts": report.listed.restarts, "published": report.built is not None,
}))
"""


def run(home, path, *, rebuild=False):
    """Harvest in a process of its own; None if the repository failed."""
    environment = environment_of(
        home, workers=2, harvest__delay_s=0, harvest__longest_pause_s=0.01, harvest__retries=3
    )
    arguments = [sys.executable, "-c", HARVESTER, NAME, path, "rebuild" if rebuild else ""]
    ended = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=False)
    assert not ended.returncode or "RepositoryFailed" in ended.stderr, ended.stderr
    return json.loads(ended.stdout) if not ended.returncode else None


def stocked():
    """Return a repository of papers in Korean and English."""
    served = filled(0, page_size=-(-RECORDS // PAGES))
    for number in range(RECORDS):
        record = paper(number)
        fields = [
            ("title", record["title"]),
            ("description", record["abstract"]),
            ("date", str(record["year"])),
        ]
        served.put(
            f"oai:t:{number:07}", *fields, *([("title", record["title2"])] if "title2" in record else [])
        )
        served.pass_(seconds=1)
    return served


def change(served, draw):
    """Change, add or delete some records."""
    served.pass_(hours=1)
    for number in draw.sample(range(RECORDS), max(1, RECORDS // 1_000)):
        identifier = f"oai:t:{number:07}"
        if draw.random() < 0.5 and served.records[identifier].fields is not None:
            served.delete(identifier)
        else:
            record = paper(number, version=draw.randrange(1, 100))
            served.put(identifier, ("title", record["title"]), ("description", record["abstract"]))


def until_unchanged(home, path):
    """Harvest until nothing is new; return what each successful call took."""
    taken = []
    for _ in range(ROUNDS):
        if (done := run(home, path)) is not None:
            taken.append(done)
            if not done["published"]:
                return taken
    raise AssertionError("the repository fails in each round")


@pytest.mark.slow
@pytest.mark.timeout(300 + RECORDS // 20)
def test_a_harvest_with_faults_makes_the_same_index(tmp_path, capsys, tried):
    served, draw = stocked(), random.Random(5)
    served.faults = planned(FAULTS - CHANGES, 2 * PAGES, seed=25)
    changing = sorted(draw.sample(range(3, 2 * PAGES), CHANGES))
    served.before_answer = lambda number: change(served, draw) if number in changing else None
    disturbed, undisturbed = tmp_path / "disturbed", tmp_path / "undisturbed"

    with repository(served) as path:
        faulty = until_unchanged(disturbed, path)
        assert max([*served.faults, *changing]) < len(served.asked)
        served.faults = {}
        intact = until_unchanged(undisturbed, path)

        assert sorted(stored_records(disturbed, NAME)) == sorted(stored_records(undisturbed, NAME))
        for home in (disturbed, undisturbed):
            run(home, path, rebuild=True)

    assert len(harvested_repositories(IndexerSettings(home=disturbed), NAME)) == 1
    assert stored_records(disturbed, NAME) == stored_records(undisturbed, NAME)
    assert forward_files(disturbed, NAME) == forward_files(undisturbed, NAME)
    assert answers(disturbed, NAME) == answers(undisturbed, NAME)
    tried("faults", FAULTS)
    with capsys.disabled():
        print(f"\n  {RECORDS:,} records, {FAULTS} faults: {faulty}\n  without faults: {intact}")  # noqa: T201 - for -s
