"""Every file of an index damaged: `verify` names it, and each command answers as before or tells it."""

import json
import os
import shutil

import pytest

from indexer.forward.columns import COLUMNS
from indexer.ingest import IngestRequest, build_index
from indexer.settings import EncoderSettings, IndexerSettings
from tests.generator.sample_index import called
from tests.indexer.embedding_server import embedding_server
from tests.indexer.made_corpora import paper, write_jsonl


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def make_folder(path):
    path.unlink()
    path.mkdir()


DAMAGES = {
    "flip": flip,
    "cut": lambda path: os.truncate(path, path.stat().st_size // 2),
    "remove": os.unlink,
    "folder": make_folder,
}
FILES = (
    *("manifest.json", "glossary.sqlite", "citations.sqlite", "lexicon.bin", "summary.npz"),
    *(f"forward/*/{name}" for name in COLUMNS),
    *(
        "vectors/*/numbers",
        "vectors/*/vectors",
        "tantivy/meta.json",
        "tantivy/.managed.json",
        "tantivy/*.del",
    ),
    *(f"tantivy/*.{suffix}" for suffix in ("term", "idx", "pos", "fast", "fieldnorm", "store")),
)
QUESTION = "지식 그래프 retrieval evidence"
SEARCHES = [
    ["search", QUESTION, "--name", "papers", "--json", "--method", method] for method in ("shrag", "dense")
]
OTHERS = [
    ["explain", QUESTION, "P00003", "--name", "papers", "--json"],
    ["citations", "P00003", "--name", "papers", "--json"],
    ["indexes", "export", "papers"],
]
REMOVE = ["indexes", "remove", "papers", "P00003"]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Return a home with an index of two versions, the second an update of the first."""
    home = tmp_path_factory.mktemp("damage")
    first = write_jsonl(home / "first.jsonl", [paper(number) for number in range(12)])
    more = write_jsonl(home / "more.jsonl", [paper(number, version=1) for number in range(10, 14)])
    with embedding_server() as server, pytest.MonkeyPatch.context() as patch:
        given = server.settings()
        settings = IndexerSettings(home=home, workers=1, encoder=EncoderSettings.model_validate(given))
        for corpus in (first, more):
            build_index(IngestRequest("papers", [str(corpus)]), settings)
        for name, value in given.items():
            patch.setenv(f"SHRAG_ENCODER__{name.upper()}", str(value))
        yield home


@pytest.fixture
def copy(home, tmp_path, monkeypatch):
    monkeypatch.setenv("SHRAG_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SHRAG_WORKERS", "1")
    shutil.copytree(home, tmp_path / "home")
    return tmp_path / "home"


def outcome(arguments):
    """Return how a command ends, without its times."""
    done = called(*arguments)
    try:
        record = json.loads(done.stdout)
        printed = {name: record[name] for name in record.keys() - {"milliseconds", "seconds", "published"}}
    except ValueError:
        printed = done.stdout
    return done.returncode, printed, done.stderr


def is_told(ended):
    code, _, said = ended
    return code == 1 and said.count("\n") == 1 and said.startswith("IndexDamaged: ")


@pytest.mark.parametrize("how", DAMAGES)
@pytest.mark.parametrize("pattern", FILES)
def test_damage_is_verified_and_told_by_every_command(copy, pattern, how):
    commands = [*SEARCHES, *(OTHERS if how == "flip" else ())]
    whole = [outcome(command) for command in commands]
    path = min((copy / "papers" / "versions" / "000002").glob(pattern))
    DAMAGES[how](path)

    code, verified, _ = outcome(["indexes", "verify", "papers", "--json"])
    [differs] = [one["differs"] for one in verified["versions"] if one["version"] == 2]
    assert code == 1
    assert any(path.name in line or "manifest" in line for line in differs)
    for command, before in zip(commands, whole, strict=True):
        found = outcome(command)
        assert found == before or is_told(found), f"{command}: {found}"
    assert is_told(outcome(REMOVE)) or outcome(["indexes", "verify", "papers"])[0] == 1
    assert outcome(["indexes", "rollback", "papers"])[0] == 0
    assert outcome(SEARCHES[0])[0] == 0


def test_damage_that_is_met_while_searching_is_told(copy, monkeypatch):
    """Of a large index not every byte is read when it is opened."""
    monkeypatch.setattr("indexer.versions.store.folder.READ_ON_OPENING", 0)
    for pattern in FILES[1:]:
        path = min((copy / "papers" / "versions" / "000002").glob(pattern))
        whole = path.read_bytes()
        flip(path)
        for command in (*SEARCHES, OTHERS[0]):
            code, _, said = outcome(command)
            assert code == 0 or (code == 1 and said.splitlines()[-1].startswith("IndexDamaged: ")), said
            assert "Traceback" not in said
        path.write_bytes(whole)


@pytest.mark.parametrize("how", [how for how in DAMAGES if how != "folder"])
def test_a_damaged_pointer_is_set_again(copy, how):
    before = outcome(SEARCHES[0])
    DAMAGES[how](copy / "papers" / "CURRENT")

    assert is_told(outcome(SEARCHES[0]))
    assert outcome(["indexes", "rollback", "papers", "2"])[0] == 0
    assert outcome(SEARCHES[0]) == before
