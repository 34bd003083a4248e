"""The `shrag` command as a whole: help, completion, exit codes, tracebacks, the index that is meant."""

import importlib.metadata
import json
import shutil
import socket
import subprocess
import sys
from typing import Any

import click
import pytest
from click.shell_completion import ShellComplete

from shrag import cli
from tests.generator.sample_index import NAME, shrag
from tests.indexer.made_corpora import command, environment_of, write_jsonl


def commands(group=cli, path=()):
    """Return the words of every command and group, the command line itself first."""
    found = [path]
    for name, one in group.commands.items():
        found += commands(one, (*path, name)) if isinstance(one, click.Group) else [(*path, name)]
    return found


def resolved(path):
    """Return the command of these words."""
    one: Any = cli
    for name in path:
        one = one.commands[name]
    return one


def test_the_commands_are_those_of_the_contract():
    told = {" ".join(path) for path in commands()}
    assert told >= {
        *("index", "indexes list", "indexes show", "indexes delete", "indexes rollback", "indexes remove"),
        *("search", "ask", "explain", "analyze", "eval run", "eval score"),
    }


@pytest.mark.parametrize("path", commands(), ids=lambda path: " ".join(path) or "shrag")
def test_every_command_tells_what_it_does_and_all_its_options(tmp_path, path):
    done = shrag(*path, "--help", home=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    one = resolved(path)
    assert one.get_short_help_str(limit=10_000).rstrip(".") in " ".join(done.stdout.split())
    options = [name for option in one.params if isinstance(option, click.Option) for name in option.opts]
    assert [name for name in options if name not in done.stdout] == []


def test_version(tmp_path):
    try:
        version = importlib.metadata.version("shrag")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("shrag is not installed in this environment: make install")
    done = shrag("--version", home=tmp_path)
    assert (done.returncode, done.stdout.split()[-1]) == (0, version)


def test_a_failure_is_one_line_and_with_debug_a_traceback(tmp_path):
    empty = write_jsonl(tmp_path / "empty.jsonl", [])
    arguments = ("index", empty, "--name", "papers")
    plain = shrag(*arguments, home=tmp_path / "home")
    assert plain.returncode == 1
    assert plain.stderr.startswith("EmptyCorpus: ")
    assert len(plain.stderr.splitlines()) == 1
    debugged = subprocess.run(
        command("--debug", *arguments),
        env=environment_of(tmp_path / "home"),
        capture_output=True,
        check=False,
        encoding="utf-8",
        timeout=240,
    )
    assert debugged.returncode == 1
    assert debugged.stderr.startswith("Traceback ")
    assert "EmptyCorpus: " in debugged.stderr


def test_debug_leaves_what_succeeds_and_wrong_calls_as_they_are(tmp_path):
    listed = shrag("--debug", "indexes", "list", home=tmp_path)
    assert (listed.returncode, listed.stderr) == (0, "")
    assert shrag("--debug", "serach", home=tmp_path).returncode == 2


def test_a_remedy_names_the_index_that_was_called_for(tmp_path):
    corpus = write_jsonl(tmp_path / "papers.jsonl", [{"id": "P1", "title": "강", "abstract": "강은 길다."}])
    assert shrag("index", corpus, "--name", "rivers", home=tmp_path / "home").returncode == 0
    (glossary,) = (tmp_path / "home").rglob("glossary.sqlite")
    glossary.chmod(0o600)
    glossary.write_bytes(b"no database" * 1_000)
    done = shrag("search", "강", "--name", "rivers", home=tmp_path / "home")
    assert done.returncode == 1
    assert "shrag index PATH --name rivers --rebuild" in done.stderr


# What only builds, models, clusters, evaluations and pictures for a terminal need.
NOT_FOR_HELP = {"pydantic", "asyncio", "numpy", "rich", "httpx", "tantivy"}
NOT_FOR_A_SEARCH = {
    *("httpx", "elasticsearch", "ir_measures", "torch", "transformers", "filelock", "rich", "spellchecker"),
    *("eval.commands", "generator.commands", "stack.commands"),
    *("indexer.corpora.readers", "indexer.building", "indexer.corpora.cleaning", "indexer.glossary.mined"),
}


def loaded_by(home, *arguments):
    """Return the modules that a command has loaded when it ends."""
    code = (
        "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
        "import shrag; shrag.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=environment_of(home),
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stderr.split())


def test_help_and_a_search_load_no_more_than_they_need(sample_home):
    assert not loaded_by(sample_home, "--help") & NOT_FOR_HELP
    search = ("search", "How can methane from rice fields be reduced?", "--name", "sample", "--json")
    assert not loaded_by(sample_home, *search) & NOT_FOR_A_SEARCH


def completed(*words):
    """Return what the last word may become, and of what type."""
    found = ShellComplete(cli, {}, "shrag", "_SHRAG_COMPLETE").get_completions(list(words[:-1]), words[-1])
    return [(item.value, item.type) for item in found]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("find",), ["find-papers"]),
        (("find-papers", "--max-s"), ["--max-seconds"]),
        (("ask", "--way", "paper-qa-8"), ["paper-qa-8"]),
        (("search", "--name", NAME[:2]), [NAME]),
        (("indexes", "show", NAME[:2]), [NAME]),
        (("ask", "--source", "lib"), ["library"]),
        (("ask", "--source", "library,o"), ["library,ours"]),
    ],
    ids=" ".join,
)
def test_commands_options_and_names_are_completed(words, expected, sample_home, monkeypatch):
    monkeypatch.setenv("SHRAG_HOME", str(sample_home))
    for source in ("LIBRARY", "OURS"):
        monkeypatch.setenv(f"SHRAG_SOURCES__{source}__KIND", "index")
    assert completed(*words) == [(value, "plain") for value in expected]


def test_a_source_may_be_a_file_and_neither_wrong_settings_nor_a_silent_cluster_say_anything(
    tmp_path, monkeypatch, capsys
):
    pytest.importorskip("elasticsearch")
    with socket.create_server(("127.0.0.1", 0)) as silent, monkeypatch.context() as patch:
        patch.setenv("SHRAG_ENGINE", "elasticsearch")
        patch.setenv("SHRAG_ELASTICSEARCH__URL", f"http://127.0.0.1:{silent.getsockname()[1]}")
        patch.setenv("SHRAG_ELASTICSEARCH__TIMEOUT_S", "3600")
        assert completed("search", "--name", "") == []
    monkeypatch.setenv("SHRAG_CONFIG", str(tmp_path / "absent.toml"))
    assert completed("ask", "--source", "./lib") == [("./lib", "file")]
    assert completed("ask", "--name", "") == []
    assert capsys.readouterr() == ("", "")


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
