"""Commands that are refused: each line of `refused_commands.jsonl` is a call, its exit code, what is said.

In a line, {papers} is a corpus, {topics} are topics, {folder} has odd files, {file} is the file of the line,
and `⟨text*N⟩` stands for N repetitions, with their number as NUMBER. Nothing is printed or made, and no
secret is shown.
"""

import json
import os
import re
from pathlib import Path

import pytest

from server.store import FILE
from tests.generator.sample_index import shrag
from tests.indexer.made_corpora import build, write_jsonl

LINES = Path(__file__).with_name("refused_commands.jsonl").read_text("utf-8").splitlines()
SECRET = "sehr-geheim-0815"  # in files of settings


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a home, whose index `x` has one paper, and files that no command may take."""
    folder = tmp_path_factory.mktemp("refused")
    build(folder / "home", write_jsonl(folder / "papers.jsonl", [{"id": "A", "title": "methane"}]), "x")
    (folder / "topics.tsv").write_text("q1\triver\n")
    (folder / "run").write_text("q Q0 GOOD 1 1.0 x\n")
    (folder / "qrels").write_text("q 0 GOOD 1\n")
    (folder / "directory").mkdir()
    (folder / "link").symlink_to(folder / "elsewhere")
    os.mkfifo(folder / "pipe")
    return folder


def repeated(text):
    """Return a text with its repetitions."""

    def times(found):
        return "".join(found[1].replace("NUMBER", str(number)) for number in range(int(found[2])))

    return re.sub(r"⟨(.+?)\*(\d+)⟩", times, text, flags=re.DOTALL)


@pytest.mark.parametrize("line", LINES, ids=range(1, len(LINES) + 1))
def test_a_command_is_refused_with_its_exit_code_and_words(folder, tmp_path, line):
    call = json.loads(line)
    name, text = call.get("file", ("none", None))
    if text is not None:
        (tmp_path / name).write_text(repeated(text))
    places = {"papers": "papers.jsonl", "topics": "topics.tsv", "run": "run", "qrels": "qrels", "folder": "."}
    known = {key: str(folder / place) for key, place in places.items()} | {"file": str(tmp_path / name)}

    def filled(words):
        for key, value in known.items():
            words = words.replace(f"{{{key}}}", value)
        return words

    variables = {key: filled(value) for key, value in call.get("variables", {}).items()}
    before = {*folder.rglob("*")}
    arguments = [repeated(filled(word)) for word in call["call"]]
    done = shrag(*arguments, **{"home": folder / "home", "keep_versions": 5} | variables)
    assert (str(done.returncode) in str(call["exit"]), done.stdout) == (True, ""), done.stderr
    assert re.search(filled(call["says"]), done.stderr.rstrip("\n"), re.DOTALL), done.stderr
    assert "Traceback" not in done.stderr
    assert SECRET not in done.stderr
    assert (done.stderr.count("\n") <= 6, len(done.stderr) < 5_000) == (True, True)
    # The server makes its store before it opens the audit log.
    assert {*folder.rglob("*")} - before <= ({folder / "home" / FILE} if call["exit"] == 1 else set())
