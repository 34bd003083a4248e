"""README.md and the first tutorial work: Python runs, commands parse, and the quick commands run too."""

import re
import shlex
import shutil
from textwrap import indent

import click
import pytest
from click.testing import CliRunner

from shrag import cli
from tests.generator.sample_index import shrag
from tests.indexer.made_corpora import ROOT

pytest_plugins = ["tests.generator.sample_index"]

PAGES = ("README.md", "docs/tutorial/first-steps.md")
README = "\n".join((ROOT / page).read_text(encoding="utf-8") for page in PAGES)
FENCED = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
# Behind the prompt and variables: `shrag` as it is, or from the environment that `make install` makes.
CALL = re.compile(r"(?:\$ )?(?:[A-Z_]+=\S+ )*(?:\.venv/bin/)?shrag (.+)")
QUICK = {"index", "search", "ask"}


def examples(readme):
    """Return the Python blocks of a text, and the lines of its other blocks in order, fenced or indented."""
    python = [block for language, block in FENCED.findall(readme) if language == "python"]
    indented = FENCED.sub(lambda found: "" if found[1] == "python" else indent(found[2], "    "), readme)
    lines = indented.replace("\\\n", " ").splitlines()
    return python, [line.strip() for line in lines if line.startswith("    ")]


def calls(lines):
    """Return the arguments of each call of `shrag`, up to a pipe or another sign of the shell."""
    found = []
    for line in lines:
        if call := CALL.fullmatch(line):
            words = shlex.split(call[1], comments=True)
            end = next(
                (place for place, word in enumerate(words) if word in {"|", ">", "<", "&&", ";"}), None
            )
            found.append(words[:end])
    return found


PYTHON, LINES = examples(README)
CALLS = calls(LINES)


def test_there_is_something_to_try():
    assert PYTHON
    assert {"index", "search", "ask"} <= {call[0] for call in CALLS}


@pytest.mark.parametrize("code", PYTHON)
def test_the_python_example_answers_from_the_sample(code, sample_home, monkeypatch, capsys):
    monkeypatch.setenv("SHRAG_HOME", str(sample_home))
    exec(compile(code, "first-steps.md", "exec"), {})
    assert "SAMPLE-" in capsys.readouterr().out


def leaves(group):
    """Return the commands below a group."""
    for one in group.commands.values():
        yield from leaves(one) if isinstance(one, click.Group) else [one]


@pytest.mark.parametrize("call", CALLS, ids=" ".join)
def test_every_call_parses(call, monkeypatch):
    for one in leaves(cli):
        monkeypatch.setattr(one, "callback", lambda **_: None)
    monkeypatch.setattr(click.Path, "convert", lambda self, value, *_: value)  # the files need not be there
    done = CliRunner().invoke(cli, call)
    assert (done.exit_code, done.output) == (0, "")


def test_the_quick_calls_run_one_after_the_other(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "sample", tmp_path / "sample")
    shutil.copy(ROOT / "sample" / "papers.jsonl", tmp_path)
    monkeypatch.chdir(tmp_path)
    shrag("index", "sample/papers.jsonl", "--name", "sample", home=tmp_path / "home")  # as `make demo` does
    for call in CALLS:
        if call[0] in QUICK and "--source" not in call:  # whose server is somebody else's
            done = shrag(*call, home=tmp_path / "home")
            assert (done.returncode, bool(done.stdout)) == (0, True), done.stderr


@pytest.mark.parametrize("target", sorted({line.split()[1] for line in LINES if line.startswith("make ")}))
def test_every_make_target_is_there(target):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^{re.escape(target)}:", makefile, re.MULTILINE)
