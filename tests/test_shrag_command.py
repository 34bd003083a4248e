"""The `shrag` command as a whole: help, version, exit codes, and no traceback unless it is asked for."""

import importlib.metadata
import subprocess
import sys
from typing import Any

import click
import pytest

from shrag import cli
from tests.generator.sample_index import shrag
from tests.indexer.made_corpora import command, environment_of, write_jsonl

pytest_plugins = ["tests.generator.sample_index"]


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
