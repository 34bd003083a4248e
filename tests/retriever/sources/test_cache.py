"""What is kept in the cache folder may be damaged, or no file at all."""

import os

import pytest

from indexer.glossary.storage import Glossary
from retriever.sources import ANALYZER, DECOMPOUND
from retriever.sources.cache import general_glossary


@pytest.fixture
def glossary(tmp_path, monkeypatch):
    """Return what makes the glossary in a cache folder of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "otherwise").mkdir()
    return lambda: general_glossary(ANALYZER, DECOMPOUND, tmp_path / "otherwise")


def translated(path):
    with Glossary.open(path) as opened:
        return opened.translations(["지식", "그래프"])


@pytest.mark.parametrize("left", [b"", b"no database" * 1000, None])
def test_a_damaged_glossary_is_made_again(glossary, left):
    path = glossary()
    expected = translated(path)
    path.write_bytes(path.read_bytes()[:9_000] if left is None else left)
    assert glossary() == path
    assert translated(path) == expected


@pytest.mark.parametrize("put", [os.mkdir, os.mkfifo])
def test_what_is_no_file_is_left_alone(glossary, put):
    path = glossary()
    path.unlink()
    put(path)
    assert glossary().parent.name == "otherwise"
    assert translated(glossary())
    assert path.exists()
