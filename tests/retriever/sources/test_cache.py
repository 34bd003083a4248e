"""Vectors of passages are cached; a damaged file of them gives no wrong vector."""

import sqlite3

import numpy as np
import pytest

from indexer.encoders import VectorFingerprint
from retriever.sources.cache import VectorCache

FINGERPRINT = VectorFingerprint("small", "1", "", "", "cls", 3, 512, "float32")
MANY = {number.to_bytes(32): np.array([number, 0, 0], "<f4") for number in range(1000)}


def overwritten(path):
    path.write_bytes(b"no database" * 1000)


def cut_off(path):
    path.write_bytes(path.read_bytes()[:9_000])


def overwritten_inside(path):
    content = path.read_bytes()
    path.write_bytes(content[:4096] + bytes(255 - byte for byte in content[4096:-4096]) + content[-4096:])


def other_vectors(path):
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE vectors SET vector = zeroblob(16)")
    connection.close()


@pytest.mark.parametrize("damage", [overwritten, cut_off, overwritten_inside, other_vectors])
def test_a_damaged_cache_gives_no_wrong_vector_and_is_filled_again(tmp_path, monkeypatch, damage, caplog):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    cache = VectorCache(FINGERPRINT)
    cache.keep(MANY)
    assert len(cache.known(list(MANY))) == len(MANY)
    [path] = (tmp_path / "shrag").iterdir()
    damage(path)
    for text_hash, vector in cache.known(list(MANY)).items():
        assert vector.tolist() == MANY[text_hash].tolist()
    assert (str(path) in caplog.text) == (damage is not other_vectors)
    cache.keep(MANY)
    assert len(cache.known(list(MANY))) == len(MANY)


def test_a_cache_that_cannot_be_written_is_empty(tmp_path, monkeypatch):
    (tmp_path / "shrag").write_text("a file where the folder should be")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    cache = VectorCache(FINGERPRINT)
    cache.keep(MANY)
    assert cache.known(list(MANY)) == {}
