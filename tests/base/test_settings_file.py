"""Settings in `shrag.toml`: which file is read, what wins over what, and what is refused."""

import os
import tomllib
from operator import attrgetter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from base.errors import InvalidSettingsFile
from base.settings.file import toml_value
from generator.settings import GeneratorSettings
from indexer.settings import IndexerSettings
from retriever.settings import RetrieverSettings
from server.settings import ServerSettings

TEXTS = st.text(st.characters(codec="utf-8"))


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.delenv("SHRAG_CONFIG")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


def write(text, path="shrag.toml"):
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file.absolute()


def refusal():
    with pytest.raises(InvalidSettingsFile) as caught:
        IndexerSettings()
    return str(caught.value)


LLM = '[llm]\nbase_url = "http://127.0.0.1:8000/v1"\nmodel = "a"\nextra_body = {top_k = 20}'
# A file, variables, and the settings that they make.
GIVEN = {
    "the variable wins over the file, the file over the default": (
        "keywords = 3\nhits_per_query = 4",
        {"KEYWORDS": "6"},
        {"keywords": 6, "hits_per_query": 4, "title_weight": 0.35},
    ),
    "a variable leaves the rest of its table": (
        LLM,
        {"LLM__MODEL": "b", "LLM__EXTRA_BODY": '{"min_p": 0.1}'},
        {"llm.base_url": "http://127.0.0.1:8000/v1", "llm.model": "b", "llm.extra_body": {"min_p": 0.1}},
    ),
    "an empty variable of a path is none": (
        'home = "indexes"\nsynonyms = "/words.txt"',
        {"HOME": "", "SYNONYMS": ""},
        {"synonyms": Path("/words.txt")},
    ),
    "nothing": ("", {}, {"keywords": 10}),
    "a byte order mark": (b"\xef\xbb\xbfkeywords = 3\r\n", {}, {"keywords": 3}),
}


@pytest.mark.parametrize(("file", "variables", "values"), GIVEN.values(), ids=GIVEN)
def test_settings_are_those_of_file_and_variables(monkeypatch, file, variables, values):
    write(file)
    for name, value in variables.items():
        monkeypatch.setenv(f"SHRAG_{name}", value)

    settings = GeneratorSettings() if "llm.model" in values else RetrieverSettings()
    assert {name: attrgetter(name)(settings) for name in values} == values
    assert RetrieverSettings(keywords=8).keywords == 8


def test_paths_are_relative_to_the_folder_of_the_file(monkeypatch, tmp_path):
    monkeypatch.delenv("SHRAG_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    monkeypatch.setenv("SHRAG_CONFIG", "../other/its.toml")
    write(
        'home = "a/b"\n[encoder]\ncache = "~/models"\nmodel = "../weights"\n[reranker]\nmodel = "BAAI/name"',
        "../other/its.toml",
    )
    settings = IndexerSettings()
    assert settings.home.resolve() == tmp_path / "other" / "a" / "b"
    assert settings.encoder.cache == tmp_path / "me" / "models"
    assert Path(settings.encoder.model).resolve() == tmp_path / "weights"
    assert settings.reranker.model == "BAAI/name"


def test_the_first_file_that_exists_is_read(monkeypatch, tmp_path):
    assert RetrieverSettings().keywords == 10
    write("keywords = 2", tmp_path / "config" / "shrag" / "shrag.toml")
    assert RetrieverSettings().keywords == 2
    write("keywords = 3")
    assert RetrieverSettings().keywords == 3
    monkeypatch.setenv("SHRAG_CONFIG", str(write("keywords = 4", tmp_path / "named.toml")))
    assert RetrieverSettings().keywords == 4
    monkeypatch.setenv("SHRAG_CONFIG", "")
    assert RetrieverSettings().keywords == 10


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hom = 'x'", "hom; there is home"),
        ("base_url = 'x'", "base_url; there is encoder.base_url, llm.base_url"),
        ("SHRAG_LLM__BASE_URL = 'x'", "there is llm.base_url"),
        ("[llm]\ntimeout = 3", "llm.timeout; there is llm.timeout_s"),
        ("[llm]\nzzzzzzzz = 3", "llm.zzzzzzzz; shrag settings lists"),
        ("[llm.inner]\na = 1", "no setting llm.inner"),
        ("[zzzzzzzzzz]", "no setting zzzzzzzzzz"),
        ("llm = 'http://h:1'", "llm "),
        ("[home]\na = 1", "home: "),
        ("keywords = true", "keywords: "),
        ("this_year = 2020-01-01", "this_year: "),
        ("title_weight = nan", "title_weight: "),
        ("keywords = 1\nkeywords == 2", "is not TOML: Invalid value (at line 2, column 11)"),
        ("keywords = " + "[" * 50_000, "is not TOML"),
        ("keywords = " + "1" * 90_000, "is not TOML"),
        (b"keywords = 1\n# \xff", "is not TOML"),
        ("#" * 100_001, "larger than 100,000 bytes"),
    ],
)
def test_what_is_no_file_of_settings_is_refused_with_file_and_key(text, said):
    path = write(text)
    told = refusal()
    assert told.startswith(str(path))
    assert said in told


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can give a file to another user")
def test_a_file_of_another_user_in_the_current_folder_is_read_only_if_named(monkeypatch):
    path = write("keywords = 3")
    os.chown(path, 12_345, -1)
    assert str(path) in refusal()
    monkeypatch.setenv("SHRAG_CONFIG", "shrag.toml")
    assert RetrieverSettings().keywords == 3


@pytest.mark.parametrize("beside", ['base_url = "http://127.0.0.1:9/v1"', "allow_plain_http = true"])
def test_a_file_that_was_found_does_not_decide_where_a_variables_key_goes(monkeypatch, beside):
    write(f'[llm]\nmodel = "m"\n{beside}')
    GeneratorSettings()  # no key, nothing to lose
    monkeypatch.setenv("SHRAG_LLM__API_KEY", "geheim")
    with pytest.raises(InvalidSettingsFile) as caught:
        GeneratorSettings()
    assert "SHRAG_LLM__API_KEY" in str(caught.value)
    assert "geheim" not in str(caught.value)
    monkeypatch.setenv("SHRAG_CONFIG", "shrag.toml")
    assert GeneratorSettings().llm.model == "m"


def test_a_file_that_was_found_does_not_open_the_server_to_everybody(monkeypatch):
    write("[server]\nopen = true\nport = 8081")
    with pytest.raises(InvalidSettingsFile) as caught:
        ServerSettings()
    assert "server.open" in str(caught.value)
    monkeypatch.setenv("SHRAG_CONFIG", "shrag.toml")
    assert (ServerSettings().open, ServerSettings().port) == (True, 8081)


@given(st.recursive(st.booleans() | st.integers() | st.floats(0, 1e9) | TEXTS, st.lists))
def test_a_value_written_as_toml_is_read_again(value):
    assert tomllib.loads(f"key = {toml_value(value)}") == {"key": value}
