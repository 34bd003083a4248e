"""What is kept in the cache folder may be damaged, or no file at all."""

import os
import sqlite3

import numpy as np
import pytest

from indexer.encoders import VectorFingerprint
from indexer.glossary.storage import Glossary
from retriever.sources.cache import VectorCache, general_glossary


@pytest.fixture
def glossary(tmp_path, monkeypatch):
    """Return what makes the glossary in a cache folder of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "otherwise").mkdir()
    return lambda: general_glossary(tmp_path / "otherwise")


def translated(path):
    with Glossary.open(path) as opened:
        return opened.translations(["지식", "그래프"])


@pytest.mark.parametrize("put", [os.mkdir, os.mkfifo])
def test_what_is_no_file_is_left_alone(glossary, put):
    path = glossary()
    path.unlink()
    put(path)
    assert glossary().parent.name == "otherwise"
    assert translated(glossary())
    assert path.exists()


FINGERPRINT = VectorFingerprint("small", "1", "", "", "cls", 3, 512, "float32")
MANY = {number.to_bytes(32): np.array([number, 0, 0], "<f4") for number in range(1000)}


@pytest.fixture
def vectors(tmp_path, monkeypatch):
    """Return a cache that holds vectors, and the path of its file."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    cache = VectorCache(FINGERPRINT)
    cache.keep(MANY)
    [path] = (tmp_path / "shrag").iterdir()
    return cache, path


def overwritten(path):
    path.write_bytes(b"no database" * 1000)


def cut_off(path):
    path.write_bytes(path.read_bytes()[:9_000])


def overwritten_inside(path):
    content = path.read_bytes()
    path.write_bytes(content[:4096] + bytes(255 - byte for byte in content[4096:-4096]) + content[-4096:])


def emptied_table(path):
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE vectors (other TEXT)")
    connection.close()


def numbers_flipped(path):
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE vectors SET vector = zeroblob(16)")
    connection.close()


def texts_put_in(path):
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE vectors SET vector = 'a text'")
    connection.close()


@pytest.mark.parametrize(
    "damage", [overwritten, cut_off, overwritten_inside, emptied_table, numbers_flipped, texts_put_in]
)
def test_a_damaged_vector_cache_gives_no_wrong_vector_and_keeps_again(vectors, damage):
    cache, path = vectors
    damage(path)
    for text_hash, vector in cache.known(list(MANY)).items():
        assert vector.tolist() == MANY[text_hash].tolist()
    cache.keep(MANY)
    assert len(cache.known(list(MANY))) == len(MANY)


def test_a_damaged_vector_cache_is_told_in_the_log(vectors, caplog):
    cache, path = vectors
    overwritten(path)
    cache.known(list(MANY))
    assert str(path) in caplog.text
    caplog.clear()
    cache.known(list(MANY))
    assert not caplog.text


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path, monkeypatch):
    (tmp_path / "shrag").write_text("a file where the folder should be")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    cache = VectorCache(FINGERPRINT)
    cache.keep(MANY)
    assert cache.known(list(MANY)) == {}
