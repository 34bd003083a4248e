"""A command that is killed again and again ends as one that nothing disturbed.

`SHRAG_TEST_KILLS=100 python -m pytest tests/test_kill.py -s` kills a hundred times and tells in which stages.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from itertools import cycle

import pytest

from indexer.versions.store.build_folder import CITATIONS
from indexer.versions.store.folder import FolderStore
from tests.indexer.made_corpora import (
    answers,
    environment_of,
    forward_files,
    paper,
    stored_records,
    write_jsonl,
)

KILLS = int(os.environ.get("SHRAG_TEST_KILLS") or 0) or 3  # read before the settings of the user are hidden

# Does what `shrag index` and `shrag indexes …` do, and says each stage as it begins.
INDEXER = """
import sys
from indexer.ingest import IngestRequest, build_index, remove_records
from indexer.settings import IndexerSettings
from indexer.versions.store.engines import open_store

shown = ""
def show(stage, done, total):
    global shown
    if stage != shown:
        shown = stage
        print(stage, flush=True)

how, what = sys.argv[1:]
print("starting", flush=True)
if how == "remove":
    remove_records("papers", what.split(","), IndexerSettings(), show)
elif how in ("rollback", "delete"):
    getattr(open_store(IndexerSettings(), "papers"), how)()
else:
    build_index(IngestRequest("papers", [what], rebuild=how == "rebuild"), IndexerSettings(), show)
"""
# How long after the beginning of a stage a kill may come, in seconds.
STAGES = {
    "starting": 1.0,
    "indexing": 0.3,
    "merging": 0.04,
    "glossary": 0.1,
    "publishing": 0.01,
}
AT_ONCE = ("rollback", "delete")  # what these do takes no longer than so many seconds
AT_ONCE_S = 0.03
STAGES_OF = {
    **dict.fromkeys(AT_ONCE, ("starting",)),
    "remove": ("starting", "glossary", "publishing"),
}


class Killer:
    """Starts the indexer and kills it, until the kills are used up and it may come to its end."""

    def __init__(self, home, seed):
        self.home = home
        self.draw = random.Random(seed)
        self.landed: Counter[str] = Counter()

    def finish(self, how, what, *, kills):
        """Give the same command until it is done, the first `kills` times with a kill on the way."""
        folder = FolderStore(self.home, "papers")
        wanted = {"rollback": (folder.current() or 0) - 1, "delete": None}.get(how, folder.next_version())
        while folder.current() != wanted:
            stage = self.draw.choice(STAGES_OF.get(how, tuple(STAGES))) if kills > 0 else ""
            kills -= self._run(how, what, stage)

    def _run(self, how, what, stage):
        """Run, and kill in a stage; tell whether the kill came before the end."""
        process = subprocess.Popen(
            [sys.executable, "-c", INDEXER, how, str(what)],
            env=environment_of(self.home, workers=1),
            stdout=subprocess.PIPE,
            text=True,
        )
        with process:
            assert process.stdout
            reached = ""
            for line in process.stdout:
                reached = line.strip()
                if reached == stage:
                    time.sleep(self.draw.uniform(0, AT_ONCE_S if how in AT_ONCE else STAGES[stage]))
                    process.kill()
                    reached = ([reached, *process.stdout.read().split()])[-1]
        if process.returncode == -signal.SIGKILL:
            self.landed[reached] += 1
            return True
        assert process.returncode == 0
        return False


def some(first, last, version=0):
    return [
        paper(number, version=version) | {"references": [f"P{number // 2:05}", f"P{number + version + 7:05}"]}
        for number in range(first, last)
    ]


@pytest.fixture(scope="module")
def commands(tmp_path_factory):
    """What is done, one after the other; the rebuild has repeated ids, and a build follows the deletion."""
    folder = tmp_path_factory.mktemp("corpora")
    refused = ['{"id": "no end', '{"title": "no id"}']
    first = write_jsonl(folder / "first.jsonl", some(0, 1_150) + refused)
    update = write_jsonl(folder / "update.jsonl", some(1_000, 1_300, version=1) + refused[:1])
    repeated = write_jsonl(folder / "repeated.jsonl", some(0, 500) + some(300, 700, version=2) + refused)
    return [
        ("build", first),
        ("update", update),
        ("remove", "P00007,P00008,P01100"),
        ("rollback", ""),
        ("rebuild", repeated),
        ("update", update),
        ("delete", ""),
    ]


# As long as a machine may need that does much else besides.
@pytest.mark.slow
@pytest.mark.timeout(120 + 60 * KILLS)
def test_commands_that_are_killed_end_as_if_nothing_had_been(commands, tmp_path, capsys):
    undisturbed, disturbed = tmp_path / "undisturbed", tmp_path / "disturbed"
    killer, calm = (Killer(home, seed=20) for home in (disturbed, undisturbed))
    for how, what in cycle(commands):
        left = KILLS - killer.landed.total()
        if left == 0:
            break
        calm.finish(how, what, kills=0)
        killer.finish(how, what, kills=min(left, 4))

        if how == "delete":
            assert not (disturbed / "papers").exists()
            continue
        one, other = (FolderStore(home, "papers") for home in (undisturbed, disturbed))
        assert facts_of(other, disturbed) == facts_of(one, undisturbed)
        with other.writing():  # whoever writes next clears away what a kill behind the publishing left
            assert other.versions() == one.versions()
        assert [other.verify_files(version) for version in other.versions()] == [[]] * len(one.versions())
        assert not other.local.building.exists()

    with capsys.disabled():
        told = ", ".join(f"{stage} {killer.landed[stage]}" for stage in STAGES)
        print(f"\n  {KILLS} kills landed in: {told}")  # noqa: T201 - asked for with -s


def facts_of(folder, home):
    """Return what should not depend on how an index came about."""
    manifest = folder.manifest()
    letters = folder.local.dead_letter_path(folder.current())
    return {
        "manifest": [getattr(manifest, name) for name in ("version", "papers", "passages", "counts")],
        "marks": (manifest.citations, manifest.fingerprint),
        "dead letters": letters.read_bytes() if letters.exists() else None,
        "records": stored_records(home),
        "forward": forward_files(home),
        "answers": answers(home),
        "citations": folder.companion_path(manifest, CITATIONS).read_bytes(),
    }
