"""Sources are declared by tables of `shrag.toml`, by files of their own, and by variables."""

import os
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from base.settings.file import SettingsFile
from retriever.errors import InvalidSource, UnknownSource
from retriever.sources.configuration import declared, find_source, kinds, read_declared, source_tables
from retriever.sources.settings import SourceSettings

SECRET = "sehr-geheim-0815"
LIBRARY = {
    "kind": "elasticsearch",
    "url": "http://127.0.0.1:9200",
    "index": "books",
    "fields": {"title": "t"},
}


def settings_of(table) -> Any:
    """Return the settings of a source, of whatever kind."""
    return declared(table).settings


def tables(values, variables=None, *, found=False):
    return source_tables(
        SettingsFile(Path("/etc/shrag/shrag.toml"), {"sources": values}, found), variables or {}
    )


def test_a_table_of_the_file_declares_a_source():
    made = settings_of(tables({"ours": {"kind": "index", "index": "papers", "timeout_s": 3}})["ours"])
    assert (made.index, made.timeout_s) == ("papers", 3.0)


def test_variables_win_over_the_file_and_declare_sources_too():
    variables = {
        "SHRAG_SOURCES__MY_LIBRARY__INDEX": "journals",
        "SHRAG_SOURCES__OURS__KIND": "index",
        "SHRAG_SOURCES__OURS__TIMEOUT_S": "7.5",
        "SHRAG_KEYWORDS": "7",
    }
    found = tables({"my-library": LIBRARY}, variables)
    assert list(found) == ["my-library", "ours"]
    assert settings_of(found["my-library"]).index == "journals"
    assert settings_of(found["ours"]).timeout_s == 7.5


def test_a_variable_may_set_what_stands_in_a_table_of_a_source():
    found = tables({"library": LIBRARY}, {"SHRAG_SOURCES__LIBRARY__FIELDS__TITLE": "titel"})
    assert settings_of(found["library"]).fields.title == {"titel": 1.0}


def test_a_file_of_its_own_declares_one_source(tmp_path):
    (tmp_path / "library.toml").write_text(
        'kind = "elasticsearch"\nurl = "http://127.0.0.1:9200"\nindex = "books"\nfields.title = "t"\n'
    )
    source = find_source(str(tmp_path / "library.toml"), {}, {"SHRAG_SOURCES__LIBRARY__PASSWORD": SECRET})
    assert source.name == "library"
    settings: Any = source.settings
    assert settings.password.get_secret_value() == SECRET


def test_a_secret_may_lie_in_a_file_beside_the_settings(tmp_path):
    (tmp_path / "key").write_text(f"{SECRET}\n")
    file = SettingsFile(tmp_path / "shrag.toml", {"sources": {"library": LIBRARY | {"api_key_file": "key"}}})
    assert settings_of(source_tables(file, {})["library"]).api_key.get_secret_value() == SECRET


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "it is empty"),
        (b" \n", "it is empty"),
        (f"{SECRET}\nanother\n".encode(), "it contains more than one line"),
        (f"{SECRET}\u2028another".encode(), "it contains more than one line"),
        (f"{SECRET}\0".encode(), "it contains control characters"),
        (SECRET.encode() + b"\xff", "it is not UTF-8"),
        (SECRET.encode() * 300, "it is larger than 4,096 bytes"),
    ],
)
@pytest.mark.parametrize("key", ["api_key_file", "password_file"])
def test_a_file_of_a_secret_holds_one_line_and_nothing_else(tmp_path, content, complaint, key):
    (tmp_path / "key").write_bytes(content)
    with pytest.raises(InvalidSource, match=f"cannot be read: {complaint}") as raised:
        declared(tables({"it": LIBRARY | {key: str(tmp_path / "key")}})["it"])
    assert SECRET not in str(raised.value)


def test_a_file_of_a_secret_of_4096_bytes_is_read_and_one_that_is_no_regular_file_is_not(tmp_path):
    (tmp_path / "key").write_text("k" * 4_095 + "\n")
    whole = settings_of(tables({"it": LIBRARY | {"api_key_file": str(tmp_path / "key")}})["it"])
    assert len(whole.api_key.get_secret_value()) == 4_095
    os.mkfifo(tmp_path / "pipe")
    for path, complaint in (
        (tmp_path / "pipe", "not a regular file"),
        (tmp_path, "folder"),
        ("/dev/zero", "not a reg"),
    ):
        with pytest.raises(InvalidSource, match=complaint):
            declared(tables({"it": LIBRARY | {"api_key_file": str(path)}})["it"])


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"fields": {"title": []}}, "fields.title"),
        ({"fields": {"title": {}}}, "fields.title"),
        ({"fields": {"title": ""}}, "fields.title"),
        ({"fields": {"title": [""]}}, "fields.title"),
        ({"fields": {"title": "t", "abstract": ["a", ""]}}, "fields.abstract"),
        ({"languages": {"kr": "kor"}}, "languages.kr"),
        ({"languages": {"ko": ""}}, "languages.ko"),
        ({"languages": {"ko": "X", "en": "x"}}, "languages: ko and en are the same"),
    ],
)
def test_a_mapping_names_a_title_and_known_languages(changed, complaint):
    with pytest.raises(InvalidSource, match=complaint):
        declared(tables({"it": LIBRARY | changed})["it"])


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"kind": "index", "indx": "papers"}, "indx"),
        ({"kind": "gopher"}, "there is no kind 'gopher'; there are"),
        ({"kind": "merging"}, "there is no kind 'merging'"),
        ({"index": "papers"}, "kind is not set"),
        ({"kind": "index", "timeout_s": "soon"}, "timeout_s"),
        (LIBRARY | {"api_key": SECRET}, "set SHRAG_SOURCES__IT__API_KEY or api_key_file"),
        (LIBRARY | {"api_key_file": "/nowhere/key"}, "api_key_file: /nowhere/key cannot be read"),
        (LIBRARY | {"user": "reader"}, "without a password"),
        (LIBRARY | {"url": "gopher://x"}, "url"),
        (LIBRARY | {"url": "http://x/\0"}, "url"),
        ({"kind": "index", "home": "/x\0"}, "home: a path cannot contain a null character"),
        ("not a table", "kind is not set"),
    ],
)
def test_what_does_not_fit_is_told_in_one_line_without_secrets(values, complaint):
    with pytest.raises(InvalidSource) as raised:
        declared(tables({"it": values})["it"])
    said = str(raised.value)
    assert complaint in said
    assert "/etc/shrag/shrag.toml: source 'it'" in said
    assert "\n" not in said
    assert SECRET not in said


@pytest.mark.parametrize("name", ["Über", "a b", "", "a" * 65, "a__b"])
def test_names_are_such_that_variables_can_name_them(name):
    with pytest.raises(InvalidSource, match="a source's name has at most"):
        declared(tables({name: {"kind": "index"}})[name])


def test_a_file_that_was_found_does_not_decide_where_a_key_goes():
    variables = {"SHRAG_SOURCES__LIBRARY__API_KEY": SECRET}
    declared(tables({"library": LIBRARY}, variables)["library"])
    with pytest.raises(InvalidSource, match="url decides where a key is sent") as raised:
        declared(tables({"library": LIBRARY}, variables, found=True)["library"])
    assert SECRET not in str(raised.value)


def test_a_file_that_was_found_does_not_send_what_another_file_holds(tmp_path):
    (tmp_path / "private").write_text(SECRET)
    values = {"library": LIBRARY | {"api_key_file": str(tmp_path / "private")}}
    declared(tables(values)["library"])
    with pytest.raises(InvalidSource, match="url decides where a key is sent"):
        declared(tables(values, found=True)["library"])


def test_two_sources_of_one_name_are_refused(tmp_path):
    paths = [tmp_path / folder / "library.toml" for folder in "ab"]
    for path in paths:
        path.parent.mkdir()
        path.write_text('kind = "index"\n')
    with pytest.raises(InvalidSource, match="several sources are called 'library'"):
        read_declared(map(str, paths))


def test_a_key_goes_over_plain_http_to_this_machine_alone():
    variables = {"SHRAG_SOURCES__LIBRARY__API_KEY": SECRET}
    elsewhere = LIBRARY | {"url": "http://search.example:9200"}
    with pytest.raises(InvalidSource, match=r"search\.example") as raised:
        declared(tables({"library": elsewhere}, variables)["library"])
    assert SECRET not in str(raised.value)
    declared(tables({"library": elsewhere | {"allow_plain_http": True}}, variables)["library"])


def test_an_unknown_name_is_told_with_those_there_are():
    with pytest.raises(UnknownSource, match="no source 'other'; there are library, ours"):
        find_source("other", tables({"library": LIBRARY, "ours": {"kind": "index"}}), {})


def test_a_file_named_without_its_ending_is_pointed_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "books.toml").touch()
    with pytest.raises(UnknownSource, match=r"is books\.toml meant"):
        find_source("books", {}, {})


def test_every_kind_forbids_what_it_does_not_know():
    assert {"index", "elasticsearch"} <= set(kinds())
    for kind in kinds():
        settings = import_module(f"retriever.sources.kinds.{kind}").Settings
        assert issubclass(settings, SourceSettings)
        with pytest.raises(ValidationError, match="unheard_of"):
            settings(kind=kind, unheard_of=1)
