"""Commands without the name of an index: the one that SHRAG_NAME names, or the only one there is."""

import json
import shutil

import pytest

from tests.generator.sample_index import shrag
from tests.indexer.made_corpora import write_jsonl

pytest_plugins = ["tests.generator.sample_index"]

RECORD = {"id": "A", "title": "Sodium", "abstract": "Hard carbon anodes of sodium-ion batteries."}
READERS = {
    "search": ("search", "battery"),
    "ask": ("ask", "battery"),
    "explain": ("explain", "battery", "SAMPLE-BAT-001"),
    "show": ("indexes", "show"),
    "verify": ("indexes", "verify"),
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return write_jsonl(tmp_path_factory.mktemp("corpus") / "a.jsonl", [RECORD])


@pytest.fixture
def home(tmp_path, sample_home):
    """Return a home with the index sample alone."""
    shutil.copytree(sample_home / "sample", tmp_path / "home" / "sample")
    return tmp_path / "home"


@pytest.fixture
def two(home, corpus):
    """Return a home with an index beside the sample."""
    assert shrag("index", corpus, "--name", "other", home=home).returncode == 0
    return home


def record_of(done):
    assert done.returncode == 0, done.stderr
    return {
        key: value for key, value in json.loads(done.stdout).items() if key not in {"milliseconds", "trace"}
    }


@pytest.mark.parametrize("command", READERS.values(), ids=READERS)
def test_the_only_index_is_meant_and_without_any_one_line_says_how_to_make_one(
    command, sample_home, tmp_path
):
    named = ("sample",) if command[0] == "indexes" else ("--name", "sample")
    done = shrag(*command, "--json", home=sample_home)
    assert record_of(done) == record_of(shrag(*command, *named, "--json", home=sample_home))
    none = shrag(*command, home=tmp_path)
    assert (none.returncode, none.stdout, none.stderr.count("\n")) == (2, "", 1)
    assert "shrag index PATH --name NAME" in none.stderr


def test_several_are_listed_and_a_setting_may_name_one(two, tmp_path, corpus):
    done = shrag("search", "battery", home=two)
    assert (done.returncode, done.stdout) == (2, "")
    assert "there are 2 indexes: other, sample;" in done.stderr
    assert shrag("index", corpus, home=two).returncode == 2
    assert shrag("search", "battery", home=two, name="other").returncode == 0
    (file := tmp_path / "shrag.toml").write_text('name = "other"')
    assert record_of(shrag("indexes", "show", "--json", home=two, config=file))["name"] == "other"
    assert record_of(shrag("indexes", "show", "sample", "--json", home=two, config=file))["name"] == "sample"


def test_of_very_many_ten_are_listed(home):
    for number in range(12):
        (home / f"copy{number:02}").symlink_to(home / "sample")
    said = shrag("search", "battery", home=home).stderr
    assert "there are 13 indexes: copy00, " in said
    assert "copy09 and 3 more;" in said


def test_a_corpus_goes_into_the_only_index_which_is_told_and_nowhere_without_one(home, tmp_path, corpus):
    done = shrag("index", corpus, "--json", home=home)
    assert "using index 'sample'" in done.stderr
    assert (record_of(done)["version"], record_of(done)["papers"]) == (2, 121)
    assert shrag("index", corpus, home=tmp_path / "empty").returncode == 2
    assert not (tmp_path / "empty").exists()


def test_of_the_only_index_damage_is_told_as_ever(home):
    next((home / "sample" / "versions").glob("*/manifest.json")).write_text("{")
    named, unnamed = (shrag("search", "battery", *name, home=home) for name in ((), ("--name", "sample")))
    assert (named.returncode, named.stderr) == (unnamed.returncode, unnamed.stderr)
    assert (named.returncode, "IndexDamaged" in named.stderr) == (1, True)
