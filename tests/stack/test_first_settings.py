"""`shrag init`: five answers become a shrag.toml; `shrag demo`, in this checkout and from a wheel."""

import json
import re
import stat
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from base.errors import InvalidCall
from indexer.settings import IndexerSettings
from shrag import cli
from stack.demonstration import check_replaceable
from tests.indexer.made_corpora import ROOT, build, environment_of
from tests.stack.model_server import model_server

ANSWERS = "indexes\n\nhttp://localhost:8000/v1/\nqwen\nhttps://search.example.org\n"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def init(*arguments, answers=""):
    return CliRunner().invoke(cli, ["init", *arguments], input=answers)


def written(here):
    return tomllib.loads((here / "shrag.toml").read_text("utf-8"))


def test_five_answers_are_five_settings_and_the_printed_command_creates_a_key(here):
    done = init(answers=ANSWERS)
    assert done.exit_code == 0
    assert written(here) == {
        "home": str(here / "indexes"),
        "engine": "tantivy",
        "llm": {"base_url": "http://localhost:8000/v1", "model": "qwen"},
        "server": {"public_url": "https://search.example.org"},
    }
    assert stat.S_IMODE(Path("shrag.toml").stat().st_mode) == 0o600
    printed = [line.partition("#")[0].split() for line in done.output.splitlines()]
    create = next(words for words in printed if words[:3] == ["shrag", "keys", "create"])
    created = CliRunner().invoke(cli, create[1:], env={"SHRAG_HOME": str(here / "home")})
    assert (created.exit_code, (here / "home" / ".server.sqlite").is_file()) == (0, True), created.output


def test_an_invalid_answer_is_asked_again(here):
    answers = "indexes\nlucene\nhttp://es\nhttps://es:9200\n\nftp://reader\n\n"
    done = init(answers=answers)
    assert (done.exit_code, done.output.count("Error: ")) == (0, 3)
    assert written(here) == {
        "home": str(here / "indexes"),
        "engine": "elasticsearch",
        "elasticsearch": {"url": "https://es:9200"},
        "llm": {},
        "server": {},
    }


@pytest.mark.parametrize("lines", range(5))
def test_an_end_of_input_writes_nothing(here, lines):
    done = init(answers="".join(ANSWERS.splitlines(keepends=True)[:lines]))
    assert (done.exit_code, list(here.iterdir())) == (1, [])


def test_options_replace_the_questions(here):
    assert (
        init("--yes", "--home", "indexes", "--llm", "http://localhost:8000/v1", "--model", "m").exit_code == 0
    )
    assert written(here)["llm"] == {"base_url": "http://localhost:8000/v1", "model": "m"}


def test_the_model_is_called_and_the_printed_variable_names_the_file(here, monkeypatch, tmp_path_factory):
    with model_server() as server:
        done = init("models.toml", "--yes", "--llm", server.base_url, "--model", "tiny-writer")
        assert (done.exit_code, len(server.bodies)) == (0, 1)
    [variable] = re.findall(r"export SHRAG_CONFIG=(\S+)", done.stdout)
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    for config, expected in ((variable, "tiny-writer"), ("", None)):
        shown = CliRunner().invoke(cli, ["settings", "--json"], env={"SHRAG_CONFIG": config})
        values = {each["key"]: each["value"] for each in json.loads(shown.stdout)["settings"]}
        assert values["llm.model"] == expected


def test_a_model_that_does_not_answer_is_reported_and_the_file_is_written(here):
    done = init("--yes", "--llm", "http://127.0.0.1:9/v1", "--model", "m")
    assert (done.exit_code, "language model" in done.stderr) == (0, True)
    assert written(here)["llm"]["model"] == "m"


def test_a_broken_file_in_the_folder_does_not_prevent_another_one(here, tmp_path_factory):
    (here / "shrag.toml").write_text("home = ")
    file = tmp_path_factory.mktemp("elsewhere") / "y.toml"
    done = init(str(file), "--yes", "--llm", "http://127.0.0.1:9/v1", "--model", "m")
    assert (done.exit_code, file.is_file(), "export SHRAG_CONFIG=" in done.stdout) == (0, True, True)
    assert "language model" in done.stderr


def test_a_dash_is_no_file(here):
    done = init("-", "--yes", "--home", "indexes")
    assert (done.exit_code, list(here.iterdir())) == (1, [])


@pytest.mark.parametrize(("arguments", "answers"), [((), "n\n"), (("--yes",), "")])
def test_an_existing_file_is_kept_unless_its_replacement_is_confirmed(here, arguments, answers):
    (here / "shrag.toml").write_text("# mine")
    assert init(*arguments, answers=answers).exit_code == 1
    assert (here / "shrag.toml").read_text() == "# mine"
    assert init("--yes", "--overwrite", "--home", "indexes").exit_code == 0
    assert written(here)["home"] == str(here / "indexes")


def test_an_index_of_the_sample_may_be_replaced_and_none_of_other_papers(sample_home, tmp_path):
    for name in ("sample", "another"):
        check_replaceable(name, IndexerSettings(home=sample_home))
    build(tmp_path, ROOT / "sample" / "held-out" / "papers.jsonl", name="sample")
    with pytest.raises(InvalidCall, match="'sample'"):
        check_replaceable("sample", IndexerSettings(home=tmp_path))


@pytest.mark.slow
def test_the_demonstration_runs_from_a_wheel(tmp_path):
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index", "-q"]
    subprocess.run([*command, "-w", tmp_path, ROOT], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("shrag-*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path / "installed")
    environment = environment_of(tmp_path / "home") | {"PYTHONPATH": str(tmp_path / "installed")}
    run = [sys.executable, "-c", "import shrag; print(shrag.__file__); shrag.main()", "demo"]
    done = subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(tmp_path / "installed"))
    assert "SAMPLE-EDU-004" in done.stdout
