"""Commands that are told no index: the one that SHRAG_NAME names, or the only one there is."""

import json
import shutil

import pytest

from tests.generator.sample_index import shrag
from tests.indexer.made_corpora import ROOT, write_jsonl

pytest_plugins = ["tests.generator.sample_index"]

RECORD = {"id": "A", "title": "Sodium", "abstract": "Hard carbon anodes of sodium-ion batteries."}
READERS = {
    "search": ("search", "battery"),
    "ask": ("ask", "battery"),
    "explain": ("explain", "battery", "SAMPLE-BAT-001"),
    "show": ("indexes", "show"),
    "verify": ("indexes", "verify"),
}


@pytest.fixture
def two_homes(tmp_path, sample_home):
    """Return a home with the index sample alone, and one with a copy of it under another name too."""
    one, two = tmp_path / "one", tmp_path / "two"
    shutil.copytree(sample_home / "sample", one / "sample")
    shutil.copytree(sample_home / "sample", two / "sample")
    write_jsonl(tmp_path / "a.jsonl", [RECORD])
    assert shrag("index", tmp_path / "a.jsonl", "--name", "other", home=two).returncode == 0
    return one, two


@pytest.mark.parametrize("command", READERS.values(), ids=READERS)
def test_the_only_index_is_meant(command, sample_home):
    named = ("sample",) if command[0] == "indexes" else ("--name", "sample")
    done = shrag(*command, "--json", home=sample_home)
    assert done.returncode == 0
    assert without_times(done) == without_times(shrag(*command, *named, "--json", home=sample_home))


def without_times(done):
    record = json.loads(done.stdout)
    record.pop("milliseconds", None)
    return {key: value for key, value in record.items() if key != "trace"}


def test_a_run_of_topics_needs_no_name(sample_home, tmp_path):
    out = tmp_path / "run"
    done = shrag(
        "eval", "run", ROOT / "sample" / "topics.jsonl", "--out", out, "--method", "or", home=sample_home
    )
    assert done.returncode == 0
    assert out.read_text().splitlines()[0].endswith(" sample-or")


@pytest.mark.parametrize("command", READERS.values(), ids=READERS)
def test_where_there_is_none_one_line_says_how_to_make_one(command, tmp_path):
    done = shrag(*command, home=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "shrag index PATH --name NAME" in done.stderr


def test_several_are_listed_and_a_setting_may_name_one(two_homes, tmp_path):
    done = shrag("search", "battery", home=two_homes[1])
    assert (done.returncode, done.stdout) == (2, "")
    assert "there are 2 indexes: other, sample;" in done.stderr
    assert shrag("search", "battery", home=two_homes[1], name="other").returncode == 0
    file = tmp_path / "shrag.toml"
    file.write_text('name = "other"')
    shown = shrag("indexes", "show", "--json", home=two_homes[1], config=file)
    assert json.loads(shown.stdout)["name"] == "other"
    given = shrag("indexes", "show", "sample", "--json", home=two_homes[1], config=file)
    assert json.loads(given.stdout)["name"] == "sample"


def test_of_very_many_ten_are_listed(two_homes):
    home = two_homes[0]
    for number in range(12):
        shutil.copytree(home / "sample", home / f"copy{number:02}")
    said = shrag("search", "battery", home=home).stderr
    assert "there are 13 indexes: copy00, " in said
    assert "copy09 and 3 more;" in said


def test_a_corpus_goes_into_the_only_index_which_is_told(two_homes, tmp_path):
    done = shrag("index", tmp_path / "a.jsonl", "--json", home=two_homes[0])
    assert done.returncode == 0
    assert "using index 'sample'" in done.stderr
    assert (json.loads(done.stdout)["version"], json.loads(done.stdout)["papers"]) == (2, 121)


def test_a_corpus_goes_nowhere_where_no_index_or_several_could_be_meant(two_homes, tmp_path):
    for home in (tmp_path / "empty", two_homes[1]):
        assert shrag("index", tmp_path / "a.jsonl", home=home).returncode == 2
    assert not (tmp_path / "empty").exists()


@pytest.mark.parametrize(
    "command",
    [
        ("index", "PATH", "--rebuild"),
        ("indexes", "delete", "--yes"),
        ("indexes", "rollback"),
        ("indexes", "remove"),
    ],
)
def test_what_destroys_is_told_which_index(command, two_homes):
    done = shrag(*command, home=two_homes[0], name="sample")
    assert done.returncode == 2
    assert json.loads(shrag("indexes", "show", "--json", home=two_homes[0]).stdout)["versions"] == [1]


def test_of_the_only_index_damage_is_told_as_ever(two_homes):
    home = two_homes[0]
    next((home / "sample" / "versions").glob("*/manifest.json")).write_text("{")
    named, unnamed = (shrag("search", "battery", *name, home=home) for name in ((), ("--name", "sample")))
    assert (named.returncode, named.stderr) == (unnamed.returncode, unnamed.stderr)
    assert named.returncode == 1
    assert "IndexDamaged" in named.stderr
