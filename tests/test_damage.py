"""Every file of an index damaged in every way: `verify` names it, each command answers as before or says so.

What is compared on opening is every byte of an index as small as this one. Of a larger one it is the sizes
and the smaller files: the second process below reads none, and shows that what is then met is told, too.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from indexer.forward.columns import COLUMNS
from indexer.ingest import IngestRequest, build_index
from indexer.options import dictionary_of
from indexer.settings import EncoderSettings, IndexerSettings
from indexer.versions.store.folder import FolderStore
from tests.conftest import BY_NIGHT
from tests.damaging import DAMAGES
from tests.indexer.embedding_server import embedding_server
from tests.indexer.made_corpora import ROOT, environment_of, paper, write_jsonl
from tests.needs import mostly_slow

QUESTION, EXPRESSION = "지식 그래프 retrieval evidence", "지식 AND 그래프"
METHODS = {"or": QUESTION, "paper": QUESTION, "shrag": QUESTION, "dense": QUESTION, "boolean": EXPRESSION}
VOLATILE = ("milliseconds", "seconds", "published")  # and the seconds that a run took, at the end of its line
SEARCHES = {
    f"search {method}": ["search", asked, "--name", "papers", "--json", "--method", method]
    for method, asked in METHODS.items()
}
READING = {
    "show": ["indexes", "show", "papers", "--json"],
    **SEARCHES,
    "explain": ["explain", QUESTION, "P00003", "--name", "papers", "--json"],
    "citations": ["citations", "P00003", "--name", "papers", "--json"],
    "ask": ["ask", QUESTION, "--name", "papers", "--json"],
    "export": ["indexes", "export", "papers"],
    "run": ["eval", "run", "HOME/topics.tsv", "--name", "papers", "--out", "HOME/run.txt"],
}
VERIFY = ["indexes", "verify", "papers", "--json"]
LIST = ["indexes", "list", "--json"]
INDEX = ["index", "HOME/more.jsonl", "--name", "papers", "--json"]
REMOVE = ["indexes", "remove", "papers", "P00003", "--json"]
ROLLBACK = ["indexes", "rollback", "papers", "--json"]
VERSION_FILES = (
    *("manifest.json", "dictionary.txt", "glossary.sqlite", "citations.sqlite"),
    *("lexicon.bin", *(f"forward/{name}" for name in COLUMNS)),
    *("vectors/rows.bin", "vectors/passages.sqlite", "vectors/fingerprint.json"),
    *("tantivy/meta.json", "tantivy/.managed.json", "tantivy/*.del"),
    *(f"tantivy/*.{suffix}" for suffix in ("term", "idx", "pos", "fast", "fieldnorm", "store")),
)
FLIPS = [how for how in DAMAGES if how.startswith("flip")]
WAYS = [how for how in DAMAGES if how != "none"]
# By day each file is damaged in every eighth way.
STEP = 1 if BY_NIGHT else 8


@dataclass(frozen=True)
class Damager:
    """A process that damages copies of a home and tries commands on them."""

    home: Path
    process: "subprocess.Popen[str]"

    def outcomes(self, path, how, commands):
        """Return (exit code, what was printed, what was said) of each command."""
        assert self.process.stdin
        assert self.process.stdout
        request = {"path": path, "how": how, "commands": list(commands)}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        assert isinstance(answer, list), f"{path}, {how}: the process ended ({answer})"
        return [(code, stable(out), err) for code, out, err in answer]

    def file(self, pattern):
        """Return the first file of the version that answers which is called so, as a path below the home."""
        return min(self.home.glob(f"papers/versions/000002/{pattern}")).relative_to(self.home).as_posix()


def stable(printed):
    """Return what a command printed without times."""
    try:
        record = json.loads(printed)
    except ValueError:
        return printed.partition(", in ")[0] if printed.startswith("HOME/run") else printed
    return {name: value for name, value in record.items() if name not in VOLATILE}


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Iterator[tuple[Path, dict[str, object]]]:
    """Return a home with an index of two versions, the second an update of the first; and its settings."""
    home = tmp_path_factory.mktemp("damage")
    first = write_jsonl(home / "first.jsonl", [*(paper(number) for number in range(12)), '{"id": "no end'])
    more = write_jsonl(home / "more.jsonl", [paper(number, version=1) for number in range(10, 16)])
    (home / "topics.tsv").write_text("1\t지식 그래프 검색\n", encoding="utf-8")
    (home / "terms.txt").write_text("질의응답\n", encoding="utf-8")
    with embedding_server() as server:
        given = server.settings()
        settings = IndexerSettings(home=home, workers=1, encoder=EncoderSettings.model_validate(given))
        dictionary = dictionary_of(home / "terms.txt")
        build_index(IngestRequest("papers", [str(first)], dictionary=dictionary), settings)
        build_index(IngestRequest("papers", [str(more)]), settings)
        yield home, {f"encoder__{name}": value for name, value in given.items()}


@contextmanager
def damager(home, *arguments):
    folder, encoder = home
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.damaging", str(folder), *arguments],
        env=environment_of(folder, workers=1, **encoder) | {"RUST_BACKTRACE": "0"},
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        yield Damager(folder, process)
        assert process.stdin
        process.stdin.close()


@pytest.fixture(scope="module")
def small(home):
    with damager(home) as process:
        yield process


@pytest.fixture(scope="module")
def large(home):
    with damager(home, "0") as process:
        yield process


@pytest.fixture(scope="module")
def undamaged(small):
    """Return how each command ends on the undamaged index."""
    commands = [VERIFY, LIST, *READING.values(), INDEX, REMOVE]
    found = small.outcomes("papers/CURRENT", "none", commands)
    assert [code for code, _, _ in found] == [0] * len(commands)
    return dict(zip(map(tuple, commands), found, strict=True))


def is_told(outcome):
    """Tell whether a command ended with one line that says what is damaged, or could not be written."""
    code, _, said = outcome
    return code == 1 and said.count("\n") == 1 and said.startswith(("IndexDamaged: ", "IndexNotWritten: "))


# A file of each kind; the others are slow.
QUICK = {"manifest.json", "glossary.sqlite", "lexicon.bin", "vectors/rows.bin", "tantivy/*.term", "CURRENT"}


@pytest.mark.parametrize("pattern", mostly_slow(VERSION_FILES, quick=QUICK))
def test_damage_of_a_version_is_verified_and_told_by_every_command(small, undamaged, pattern, tried):
    path = small.file(pattern)
    ways = WAYS[VERSION_FILES.index(pattern) % STEP :: STEP]
    name = path.partition("000002/")[2]
    commands = [*READING.values(), INDEX, REMOVE]
    for how in ways:
        verified, listed, *rest, back = small.outcomes(path, how, [VERIFY, LIST, *commands, ROLLBACK])

        assert verified[0] == 1
        second = next(one["differs"] for one in verified[1]["versions"] if one["version"] == 2)
        assert any(name in line or "manifest" in line for line in second), f"{path}, {how}: {second}"
        assert listed[0] == 0
        assert "error" in listed[1]["indexes"][0] or listed[1] == undamaged[tuple(LIST)][1]
        for command, outcome in zip(commands, rest, strict=True):
            same = outcome[:2] == undamaged[tuple(command)][:2]
            assert same or is_told(outcome), f"{path}, {how}: {command} → {outcome}"
        assert (back[0], back[1]) == (0, {"name": "papers", "version": 1}), f"{path}, {how}: {back}"
    tried("damages", len(ways))


UNREAD = (
    "glossary.sqlite",
    "lexicon.bin",
    *(f"forward/{name}" for name in COLUMNS),
    "vectors/rows.bin",
    "vectors/passages.sqlite",
    "tantivy/*.del",
    "tantivy/meta.json",
)


@pytest.mark.parametrize(
    "pattern",
    mostly_slow([*UNREAD, *(one for one in VERSION_FILES if one.startswith("tantivy/*."))], quick=QUICK),
)
def test_damage_that_is_met_while_searching_is_told(large, pattern, tried):
    """What is met of it ends in an error that says so; an order may change, which `verify` tells."""
    path = large.file(pattern)
    commands = [SEARCHES["search shrag"], READING["explain"]]
    for how in FLIPS:
        for code, _, said in large.outcomes(path, how, commands):
            last = said.splitlines()[-1] if said else ""
            assert code == 0 or (code == 1 and last.startswith("IndexDamaged: ")), f"{path}, {how}: {said}"
            assert "Traceback" not in said
    tried("damages", len(FLIPS))


@pytest.mark.parametrize(
    "name", mostly_slow(["CURRENT", "writer.lock", "dead-letters/000001.jsonl"], quick=QUICK)
)
def test_damage_beside_the_versions_loses_none(small, undamaged, name, tried):
    search = SEARCHES["search or"]
    ways = WAYS if name == "CURRENT" else ("flip middle", "empty", "remove", "folder")
    for how in ways:
        searched, _, back, again, _ = small.outcomes(
            f"papers/{name}", how, [search, INDEX, [*ROLLBACK, "2"], search, VERIFY]
        )

        expected = undamaged[tuple(search)][:2]
        assert searched[:2] == expected or is_told(searched), f"{name}, {how}: {searched}"
        assert is_told(back) if (name, how) == ("writer.lock", "folder") else back[0] == 0, f"{how}: {back}"
        assert again[:2] == expected
    tried("damages", len(ways))


def test_a_damaged_note_is_none(home, tmp_path, tried):
    """The plan of a build tells what is left out; what is to be cleared away is noted alike."""
    local = FolderStore(tmp_path, "papers").local
    local.building.mkdir(parents=True)
    local.write_plan({"files": [["a", 1]], "superfluous": [3, 17], "version": 1})
    path = local.building / "plan.json"
    written = path.read_bytes()
    for place in range(len(written)):
        path.write_bytes(written[:place] + bytes([written[place] ^ 1]) + written[place + 1 :])
        assert local.read_plan() is None
        path.write_bytes(written[:place])
        assert local.read_plan() is None
    tried("damages", 2 * len(written))
