"""Vectors on disk: appended, found by passage, and what a killed process leaves."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from indexer.encoders import VectorFingerprint
from indexer.errors import IndexClosed, IndexDamaged
from indexer.vectors.store import Row, VectorStore

ROOT = Path(__file__).resolve().parents[3]


def fingerprint(**changed):
    given: dict[str, Any] = {
        "model": "m",
        "revision": "",
        "query_prefix": "",
        "passage_prefix": "",
        "pooling": "mean",
        "dimensions": 2,
        "max_tokens": 0,
        "storage": "float32",
    }
    return VectorFingerprint(**(given | changed))


def rows(*names, text_hash=b"1"):
    return [Row(name, f"doc of {name}", text_hash) for name in names]


def matrix(*vectors):
    return np.array(vectors, np.float32)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "vectors"


def test_rows_are_found_by_passage_and_named_again(folder):
    with VectorStore.writing(folder, fingerprint()) as store:
        store.append(rows("a", "b"), matrix([1, 0], [0, 1]))
        store.append(rows("c"), matrix([0.6, 0.8]))

    with VectorStore(folder) as store:
        assert len(store) == 3
        assert store.rows_of(["c", "none", "a", "a"]) == {"c": 2, "a": 0}
        assert store.named([2, 0]) == [("c", "doc of c"), ("a", "doc of a")]
        assert store.matrix().tolist() == [[1, 0], [0, 1], pytest.approx([0.6, 0.8])]


def test_a_passage_is_known_by_its_text_too(folder):
    with VectorStore.writing(folder, fingerprint()) as store:
        store.append(rows("a", "b"), matrix([1, 0], [0, 1]))

        assert store.known(rows("b", "a", "c")) == [1, 0, None]
        assert store.known(rows("b", text_hash=b"2")) == [None]


def test_a_passage_encoded_again_has_the_new_vector(folder):
    with VectorStore.writing(folder, fingerprint()) as store:
        store.append(rows("a", "b"), matrix([1, 0], [0, 1]))
        store.append(rows("a", text_hash=b"2"), matrix([0, -1]))

        assert (len(store), store.rows_of(["a", "b"])) == (2, {"a": 2, "b": 1})
        assert store.matrix()[2].tolist() == [0, -1]


def test_more_passages_than_one_statement_holds_are_found(folder):
    names = [str(number) for number in range(1_201)]
    with VectorStore.writing(folder, fingerprint()) as store:
        store.append(rows(*names), np.ones((len(names), 2), np.float32))

        assert store.rows_of(names) == {name: number for number, name in enumerate(names)}


def test_whole_numbers_take_a_byte_each(folder):
    with VectorStore.writing(folder, fingerprint(storage="int8")) as store:
        store.append(rows("a"), np.array([[127, -3]], np.int8))

    assert (folder / "rows.bin").stat().st_size == 2
    with VectorStore(folder) as store:
        assert store.matrix().tolist() == [[127, -3]]


def test_what_was_not_committed_is_written_over(folder):
    with VectorStore.writing(folder, fingerprint()) as store:
        store.append(rows("a"), matrix([1, 0]))
    with (folder / "rows.bin").open("ab") as file:
        file.write(b"half of a row")  # and here the process was killed

    with VectorStore.writing(folder, fingerprint()) as store:
        store.append(rows("b"), matrix([0, 1]))
        assert store.matrix().tolist() == [[1, 0], [0, 1]]


def test_a_killed_process_loses_nothing_that_it_appended(folder):
    program = """
import os, signal, sys
import numpy as np
from pathlib import Path
from typing import Any
from tests.indexer.vectors.test_store import fingerprint, rows
from indexer.vectors.store import VectorStore
store = VectorStore.writing(Path(sys.argv[1]), fingerprint())
for number in range(7):
    store.append(rows(str(number)), np.full((1, 2), number, np.float32))
os.kill(os.getpid(), signal.SIGKILL)
"""
    killed = subprocess.run([sys.executable, "-c", program, str(folder)], check=False, cwd=ROOT)

    assert killed.returncode == -9
    with VectorStore.writing(folder, fingerprint()) as store:
        assert len(store) == 7
        assert store.matrix()[6].tolist() == [6, 6]


def test_vectors_of_another_fingerprint_are_no_beginning(folder):
    with VectorStore.writing(folder, fingerprint()) as store:
        store.append(rows("a"), matrix([1, 0]))

    with VectorStore.writing(folder, fingerprint(model="other")) as store:
        assert len(store) == 0


@pytest.mark.parametrize("name", ["fingerprint.json", "passages.sqlite"])
def test_files_that_cannot_be_read_are_told(folder, name):
    with VectorStore.writing(folder, fingerprint()) as store:
        store.append(rows("a"), matrix([1, 0]))
    (folder / name).write_text("nothing of the kind, and long enough to be taken for a header of something")

    with pytest.raises(IndexDamaged, match="cannot be read"):
        VectorStore(folder)


def test_there_being_none_is_no_damage(folder):
    with pytest.raises(FileNotFoundError):
        VectorStore(folder)


@pytest.mark.parametrize("name", ["fingerprint.json", "passages.sqlite", "rows.bin"])
def test_a_missing_file_is_left_to_whoever_knows_whether_the_version_was_cleared_away(folder, name):
    with VectorStore.writing(folder, fingerprint()) as store:
        store.append(rows("a"), matrix([1, 0]))
    (folder / name).unlink()

    with pytest.raises(FileNotFoundError, match=name):
        VectorStore(folder)


def test_closed_vectors_are_not_damaged(folder):
    store = VectorStore.writing(folder, fingerprint())
    store.close()

    with pytest.raises(IndexClosed, match="closed"):
        store.rows_of(["a"])
