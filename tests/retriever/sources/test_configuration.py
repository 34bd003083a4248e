"""Sources are declared by tables of `shrag.toml`, by files of their own, and by variables."""

from pathlib import Path
from typing import Any

import pytest

from base.settings.file import SettingsFile
from retriever.errors import InvalidSource
from retriever.sources.configuration import declared, find_source, source_tables

SECRET = "sehr-geheim-0815"
LIBRARY: dict[str, Any] = {
    "kind": "elasticsearch",
    "url": "http://127.0.0.1:9200",
    "index": "books",
    "fields": {"title": "t"},
}
KEY = {"SHRAG_SOURCES__LIBRARY__API_KEY": SECRET}


def tables(values, variables=None, *, found=False):
    file = SettingsFile(Path("/etc/shrag/shrag.toml"), {"sources": values}, found)
    return source_tables(file, variables or {})


def settings_of(table) -> Any:
    return declared(table).settings


def test_variables_win_over_the_file_and_declare_sources_too():
    variables = {
        "SHRAG_SOURCES__MY_LIBRARY__INDEX": "journals",
        "SHRAG_SOURCES__MY_LIBRARY__FIELDS__TITLE": "titel",
        "SHRAG_SOURCES__OURS__KIND": "index",
        "SHRAG_SOURCES__OURS__TIMEOUT_S": "7.5",
        "SHRAG_SOURCES__MY_LIBRARY__URL": "",
        "SHRAG_KEYWORDS": "7",
    }
    found = tables({"my-library": LIBRARY}, variables)
    assert list(found) == ["my-library", "ours"]
    library = settings_of(found["my-library"])
    assert (library.index, library.fields.title, library.url) == ("journals", {"titel": 1.0}, LIBRARY["url"])
    assert settings_of(found["ours"]).timeout_s == 7.5


def test_a_file_of_its_own_declares_one_source(tmp_path):
    (tmp_path / "library.toml").write_text(
        'kind = "elasticsearch"\nurl = "http://127.0.0.1:9200"\nindex = "x"\nfields.title = "t"\n'
    )
    source = find_source(str(tmp_path / "library.toml"), {}, {"SHRAG_SOURCES__LIBRARY__PASSWORD": SECRET})
    settings: Any = source.settings
    assert (source.name, settings.password.get_secret_value()) == ("library", SECRET)


@pytest.mark.parametrize("key", ["api_key_file", "password_file"])
def test_a_file_of_a_secret_holds_one_line_and_nothing_else(tmp_path, key):
    (tmp_path / "key").write_text(f"{SECRET}\nanother\n")
    with pytest.raises(InvalidSource, match=f"{key}: .* cannot be read: it contains more than one line"):
        declared(tables({"it": LIBRARY | {key: str(tmp_path / "key")}})["it"])


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"kind": "index", "indx": "papers"}, "indx"),
        ({"kind": "gopher"}, "there is no kind 'gopher'; there are"),
        ({"index": "papers"}, "kind is not set"),
        ("not a table", "kind is not set"),
        ({"kind": "index", "timeout_s": "soon"}, "timeout_s"),
        (LIBRARY | {"api_key": SECRET}, "set SHRAG_SOURCES__IT__API_KEY or api_key_file"),
        (LIBRARY | {"api_key_file": "/nowhere/key"}, "api_key_file: /nowhere/key cannot be read"),
        (LIBRARY | {"user": "reader"}, "without a password"),
        (LIBRARY | {"url": "gopher://x"}, "url"),
        (LIBRARY | {"index": "_all"}, "index: "),
        (LIBRARY | {"fields": {"title": []}}, "fields.title"),
        (LIBRARY | {"fields": {"title": "t", "abstract": ["a", "b*"]}}, "fields.abstract"),
        (LIBRARY | {"languages": {"kr": "kor"}}, "languages.kr"),
    ],
)
def test_invalid_settings_are_named_in_one_line_without_secrets(values, complaint):
    with pytest.raises(InvalidSource) as raised:
        declared(tables({"it": values})["it"])
    said = str(raised.value)
    assert complaint in said
    assert "/etc/shrag/shrag.toml: source 'it'" in said
    assert "\n" not in said
    assert SECRET not in said


def test_a_file_that_was_found_does_not_decide_where_a_secret_goes(tmp_path):
    (tmp_path / "private").write_text(SECRET)
    by_file = {"library": LIBRARY | {"api_key_file": str(tmp_path / "private")}}
    for values, variables in (({"library": LIBRARY}, KEY), (by_file, {})):
        declared(tables(values, variables)["library"])
        with pytest.raises(InvalidSource, match="url decides where a key is sent") as raised:
            declared(tables(values, variables, found=True)["library"])
        assert SECRET not in str(raised.value)
    url = {"SHRAG_SOURCES__LIBRARY__URL": "http://127.0.0.1:9200"}
    declared(tables({"library": LIBRARY}, KEY | url, found=True)["library"])
