"""Rows and vectors of a version in memory-mapped parts: written, joined, found by number."""

from itertools import islice
from typing import Any

import numpy as np
import pytest

from indexer.encoders import VectorFingerprint
from indexer.files.parts import parts_in
from indexer.files.schema import StoredPassage
from indexer.forward.building import RowWriter
from indexer.forward.columns import ForwardColumns
from indexer.forward.rows import GAPS, RowTokens, pack_row
from indexer.vectors.parts import VectorParts, VectorWriter


def row(*body):
    return pack_row(StoredPassage("P", "P", "", "x", "en", "abstract"), RowTokens(body, [], [], []))


PASSAGES = [  # (passage_id, doc_id, row)
    ("A", "A", row(1, 2)),
    ("A@en", "A", row()),
    ("논문#1", "논문", row(3)),
    ("B", "B", row(4, 5, 60_000)),
]


def contents(folder):
    """Return (passage_id, doc_id, row) of each passage in a folder, None for one without a row."""
    columns = ForwardColumns(folder)
    found = [(*columns.names(number), columns.packed(number)) for number in range(len(columns))]
    return [passage if passage[2] else None for passage in found]


@pytest.mark.parametrize(
    ("sizes", "removed"),
    [
        *((sizes, []) for sizes in [(4,), (1, 3), (2, 1, 1), (1, 1, 1, 1)]),
        *(((1, 1, 2), removed) for removed in [[0], [3], [1, 2], [0, 1, 2, 3], [0, 99]]),
    ],
)
def test_rows_in_parts_are_read_at_any_numbers_and_empty_once_they_are_removed(tmp_path, sizes, removed):
    writer, passages = RowWriter(tmp_path), iter(PASSAGES)
    for size in sizes:
        for passage_id, doc_id, packed in islice(passages, size):
            writer.add(StoredPassage(passage_id, doc_id, "", "x", "en", "abstract"), packed)
        writer.flush()
    columns = ForwardColumns(tmp_path)
    rows = columns.rows(np.array([3, 0, 1, 0]))

    assert [rows.body_of(at)[:-GAPS].tolist() for at in range(4)] == [[4, 5, 60_000], [1, 2], [], [1, 2]]
    for unknown in (-1, 4):
        with pytest.raises(ValueError, match="no row"):
            columns.packed(unknown)
    assert contents(tmp_path) == PASSAGES

    writer = RowWriter(tmp_path)
    writer.remove(removed)
    writer.finish()
    kept = [None if number in removed else passage for number, passage in enumerate(PASSAGES)]
    assert contents(tmp_path) == kept


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
