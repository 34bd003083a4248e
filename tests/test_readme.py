"""README.md and the first tutorial work: their Python answers, their quick commands run one after the other.

That each command, option and target of make exists is a matter of tests/test_documentation.py.
"""

import re
import shutil

from tests.generator.sample_index import shrag
from tests.indexer.made_corpora import ROOT
from tests.test_documentation import PAGES, calls

pytest_plugins = ["tests.generator.sample_index"]

TRIED = ("README.md", "docs/tutorial/first-steps.md")
TEXT = "\n".join(PAGES[page] for page in TRIED)
PYTHON = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
CALLS = [words for page in TRIED for words in calls(page) if words]
QUICK = [words for words in CALLS if words[0] in {"index", "search", "ask"}]


def test_the_python_examples_answer_from_the_sample(sample_home, monkeypatch, capsys):
    monkeypatch.setenv("SHRAG_HOME", str(sample_home))
    assert PYTHON
    for code in PYTHON:
        exec(compile(code, "first-steps.md", "exec"), {})
        assert "SAMPLE-" in capsys.readouterr().out


def test_the_quick_calls_run_one_after_the_other(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "sample", tmp_path / "sample")
    shutil.copy(ROOT / "sample" / "papers.jsonl", tmp_path)
    monkeypatch.chdir(tmp_path)
    shrag("index", "sample/papers.jsonl", "--name", "sample", home=tmp_path / "home")  # as `make demo` does
    tried = [words for words in QUICK if "--source" not in words]  # whose server is somebody else's
    assert {words[0] for words in tried} == {"index", "search", "ask"}
    for words in tried:
        done = shrag(*words, home=tmp_path / "home")
        assert (done.returncode, bool(done.stdout)) == (0, True), (words, done.stderr)
