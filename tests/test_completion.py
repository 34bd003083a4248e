"""What a shell completes behind `shrag`."""

import socket

import pytest
from click.shell_completion import ShellComplete

from shrag import cli
from tests.generator.sample_index import NAME

pytest_plugins = ["tests.generator.sample_index"]


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
