"""Vectors on disk: the parts of a version, and the spool of a build."""

from typing import Any

import numpy as np
import pytest

from indexer.encoders import VectorFingerprint
from indexer.files.parts import parts_in
from indexer.vectors.parts import VectorParts, VectorWriter
from indexer.vectors.spool import VectorSpool


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


def matrix(*vectors, dtype=np.float32):
    return np.array(vectors, dtype)


NOTHING = np.zeros(0, np.int64)


@pytest.mark.parametrize(("storage", "dtype"), [("float32", np.float32), ("int8", np.int8)])
@pytest.mark.parametrize("joined", [False, True])
def test_vectors_are_found_by_number(tmp_path, storage, dtype, joined):
    about = fingerprint(storage=storage)
    writer = VectorWriter(tmp_path, about)
    writer.put([4, 0], matrix([1, 0], [0, 1], dtype=dtype))
    if not joined:
        assert writer.finish(NOTHING) == 2
        writer = VectorWriter(tmp_path, about)
    writer.put([2], matrix([3, -4], dtype=dtype))
    count = writer.finish(NOTHING)

    vectors = VectorParts(tmp_path, about, NOTHING)

    assert count == len(vectors) == 3
    places = vectors.places(np.array([0, 1, 2, 4, 9]))
    assert (places >= 0).tolist() == [True, False, True, True, False]
    assert vectors.vectors(places[[0, 2, 3]]).tolist() == [[0, 1], [3, -4], [1, 0]]
    assert np.concatenate(list(vectors.blocks(1))).tolist() == [[1, 0], [0, 1], [3, -4]]
    assert vectors.numbers.tolist() == [4, 0, 2]


def test_removed_passages_have_no_vector_and_vanish_with_their_part(tmp_path):
    about, removed = fingerprint(), np.array([1, 3])
    for numbers in ([0, 1, 2], [3, 4]):
        writer = VectorWriter(tmp_path, about)
        writer.put(numbers, matrix(*([number, 0] for number in numbers)))
        count = writer.finish(removed)

    assert count == 3
    vectors = VectorParts(tmp_path, about, removed)
    assert (vectors.numbers.tolist(), vectors.is_removed.tolist()) == ([0, 2, 4], [False] * 3)

    writer = VectorWriter(tmp_path, about)
    writer.put([5], matrix([5, 0]))
    writer.finish(np.array([1, 2, 3]))
    vectors = VectorParts(tmp_path, about, np.array([1, 2, 3]))
    assert len(parts_in(tmp_path)) == 2
    assert (len(vectors), vectors.places(np.array([0, 2, 5])).tolist()) == (3, [0, -1, 3])


def test_there_may_be_no_vectors(tmp_path):
    assert VectorWriter(tmp_path, fingerprint()).finish(NOTHING) == 0
    assert VectorParts(tmp_path, fingerprint(), NOTHING).places(np.array([0])).tolist() == [-1]


def test_a_spool_keeps_what_was_added(tmp_path):
    with VectorSpool(tmp_path / "spool", fingerprint()) as spool:
        spool.add({b"a": matrix(1, 0), b"b": matrix(0, 1)})
    with VectorSpool(tmp_path / "spool", fingerprint()) as again:
        again.add({b"c": matrix(2, 2)})
        found = again.read([b"c", b"d", b"a"])

    assert {key: vector.tolist() for key, vector in found.items()} == {b"a": [1, 0], b"c": [2, 2]}


def test_vectors_of_another_fingerprint_are_no_beginning(tmp_path):
    with VectorSpool(tmp_path / "spool", fingerprint()) as spool:
        spool.add({b"a": matrix(1, 0)})

    with VectorSpool(tmp_path / "spool", fingerprint(model="other")) as other:
        assert other.read([b"a"]) == {}
