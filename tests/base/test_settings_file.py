"""Settings in `shrag.toml`: which file is read, what wins over what, and what is refused."""

import grp
import os
import pwd
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from base.errors import InvalidSettingsFile
from base.settings.fields import settings_of
from base.settings.file import toml_value
from base.settings.sources import settings_classes
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
    """Write a file that only this user can write."""
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    file.chmod(0o600)
    return file.absolute()


def refusal():
    """Read settings, and return why the file is refused."""
    with pytest.raises(InvalidSettingsFile) as caught:
        IndexerSettings()
    return str(caught.value)


def test_the_call_wins_over_the_variable_the_variable_over_the_file_the_file_over_the_default(monkeypatch):
    write("keywords = 3\nhits_per_query = 4\nrerank_depth = 5")
    monkeypatch.setenv("SHRAG_KEYWORDS", "6")
    monkeypatch.setenv("SHRAG_HITS_PER_QUERY", "7")
    settings = RetrieverSettings(keywords=8)
    assert (settings.keywords, settings.hits_per_query, settings.rerank_depth) == (8, 7, 5)
    assert settings.title_weight == 0.35


def test_a_variable_of_a_table_leaves_the_rest_of_the_table(monkeypatch):
    write('[llm]\nbase_url = "http://127.0.0.1:8000/v1"\nmodel = "a"\nextra_body = {top_k = 20}')
    monkeypatch.setenv("SHRAG_LLM__MODEL", "b")
    monkeypatch.setenv("SHRAG_LLM__EXTRA_BODY", '{"min_p": 0.1}')
    llm = GeneratorSettings().llm
    assert (llm.base_url, llm.model, llm.extra_body) == ("http://127.0.0.1:8000/v1", "b", {"min_p": 0.1})


def test_an_empty_variable_of_a_path_is_none(monkeypatch, tmp_path):
    write('home = "indexes"\nsynonyms = "words.txt"')
    monkeypatch.setenv("SHRAG_HOME", "")
    monkeypatch.setenv("SHRAG_SYNONYMS", "")
    assert IndexerSettings().home == tmp_path / "here" / "indexes"
    assert RetrieverSettings().synonyms == tmp_path / "here" / "words.txt"


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


def test_a_file_that_is_named_has_to_exist(monkeypatch, tmp_path):
    monkeypatch.setenv("SHRAG_CONFIG", str(tmp_path / "none.toml"))
    assert str(tmp_path / "none.toml") in refusal()


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


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_neither_a_folder_nor_a_pipe_is_waited_for(make):
    make("shrag.toml")
    assert "shrag.toml" in refusal()


def test_a_file_without_anything_and_one_with_a_byte_order_mark_are_read():
    write("")
    assert RetrieverSettings().keywords == 10
    write(b"\xef\xbb\xbfkeywords = 3\r\n")
    assert RetrieverSettings().keywords == 3


def test_a_file_in_the_current_folder_that_others_can_write_is_read_only_if_named(monkeypatch):
    path = write("keywords = 3")
    path.chmod(0o602)
    assert str(path) in refusal()
    monkeypatch.setenv("SHRAG_CONFIG", "shrag.toml")
    assert RetrieverSettings().keywords == 3


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("linked", [False, True])
def test_a_file_in_the_current_folder_of_another_user_is_refused(linked):
    if linked:
        target = write("keywords = 3", "../other.toml")
        Path("shrag.toml").symlink_to(target)
    else:
        write("keywords = 3")
    os.chown("shrag.toml", 12345, 12345, follow_symlinks=False)
    assert "shrag.toml" in refusal()


@pytest.mark.parametrize(("members", "trusted"), [([], True), (["another"], False)])
def test_a_file_that_a_group_can_write_is_read_if_the_group_has_one_member(monkeypatch, members, trusted):
    path = write("keywords = 3")
    path.chmod(0o660)
    user = pwd.getpwuid(os.geteuid())
    group = grp.struct_group((user.pw_name, "x", path.stat().st_gid, members))
    monkeypatch.setattr("grp.getgrgid", lambda _: group)
    monkeypatch.setattr("pwd.getpwuid", lambda _: type(user)((*user[:3], group.gr_gid, *user[4:])))
    if trusted:
        assert RetrieverSettings().keywords == 3
    else:
        assert "shrag.toml" in refusal()


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


def test_the_public_address_has_no_path():
    assert ServerSettings(public_url="https://search.example.org/").public_url == "https://search.example.org"
    with pytest.raises(ValidationError, match="must have no path"):
        ServerSettings(public_url="https://example.org/search")


SETTINGS = [
    (settings, setting) for settings in settings_classes() for setting in settings_of(settings).values()
]


@given(st.recursive(st.booleans() | st.integers() | st.floats(0, 1e9) | TEXTS, st.lists))
def test_a_value_written_as_toml_is_read_again(value):
    assert tomllib.loads(f"key = {toml_value(value)}") == {"key": value}


@pytest.mark.parametrize(
    ("variable", "text", "file"),
    [
        ("SHRAG_KEYWORDS", "7", "keywords = 7"),
        ("SHRAG_TITLE_WEIGHT", "0.5", "title_weight = 0.5"),
        ("SHRAG_WITHOUT", '["feedback"]', "without = ['feedback']"),
        ("SHRAG_DROP_INCOMPLETE", "false", "drop_incomplete = false"),
        ("SHRAG_SYNONYMS", "/tmp/words.txt", "synonyms = '/tmp/words.txt'"),
    ],
)
def test_a_variable_and_the_file_say_the_same(monkeypatch, variable, text, file):
    write(file)
    by_file = RetrieverSettings()
    assert by_file != RetrieverSettings.model_construct()
    monkeypatch.setenv("SHRAG_CONFIG", "")
    monkeypatch.setenv(variable, text)
    assert RetrieverSettings() == by_file


def test_every_setting_has_one_place_and_a_description():
    places = [setting.place for _, setting in SETTINGS]
    assert len(places) == len(set(places))
    assert {setting.key for _, setting in SETTINGS if not setting.field.description} == set()


@pytest.mark.parametrize(
    ("table", "settings", "key", "value"),
    [
        ("server", ServerSettings, "proxies", ["10.0.0.5", "10.1.0.0/16"]),
        ("server", ServerSettings, "allowed_hosts", ["search.example.org", "suche.example.org"]),
        ("llm", lambda: GeneratorSettings().llm, "other_models", ["small-writer", "org/large-writer"]),
    ],
)
def test_what_a_variable_separates_by_commas_may_be_a_list_in_the_file(table, settings, key, value):
    write(f"[{table}]\n{key} = {toml_value(value)}\n")

    assert getattr(settings(), key) == ",".join(value)


@pytest.mark.parametrize("value", ['["10.0.0.5,10.0.0.6"]', "[1]", '[["10.0.0.5"]]', '["nowhere/x"]'])
def test_a_list_of_anything_but_texts_that_fit_is_refused(value):
    write(f"[server]\nproxies = {value}\n")

    with pytest.raises(ValidationError, match="proxies"):
        ServerSettings()
