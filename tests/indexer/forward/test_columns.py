"""The rows of a version in memory-mapped parts: written, joined, found by number."""

from itertools import islice

import numpy as np
import pytest

from indexer.files.parts import first_small_part, part_name, parts_in
from indexer.files.schema import StoredPassage
from indexer.forward.building import RowWriter
from indexer.forward.columns import ForwardColumns
from indexer.forward.rows import GAPS, RowTokens, pack_row


def row(*body):
    return pack_row(StoredPassage("P", "P", "", "x", "en", "abstract"), RowTokens(body, [], [], []))


PASSAGES = [  # (passage_id, doc_id, row)
    ("A", "A", row(1, 2)),
    ("A@en", "A", row()),
    ("논문#1", "논문", row(3)),
    ("B", "B", row(4, 5, 60_000)),
]


def write(folder, *sizes):
    """Write the passages in parts of some sizes."""
    writer, passages = RowWriter(folder), iter(PASSAGES)
    for size in sizes:
        for passage_id, doc_id, packed in islice(passages, size):
            writer.add(StoredPassage(passage_id, doc_id, "", "x", "en", "abstract"), packed)
        writer.flush()
    return folder


def join(folder, removed):
    """Finish an update that removed passages."""
    writer = RowWriter(folder)
    writer.remove(sorted(removed))
    writer.finish()


def contents(folder):
    """Return (passage_id, doc_id, row) of each passage in a folder, None for one without a row."""
    columns = ForwardColumns(folder)
    found = [(*columns.names(number), columns.packed(number)) for number in range(len(columns))]
    return [passage if passage[2] else None for passage in found]


@pytest.mark.parametrize("sizes", [(4,), (1, 3), (2, 1, 1), (1, 1, 1, 1)])
def test_rows_are_read_at_any_numbers_in_any_order(tmp_path, sizes):
    columns = ForwardColumns(write(tmp_path, *sizes))

    rows = columns.rows(np.array([3, 0, 1, 0]))

    assert [rows.body_of(at)[:-GAPS].tolist() for at in range(4)] == [[4, 5, 60_000], [1, 2], [], [1, 2]]
    assert len(columns.rows(np.zeros(0, np.int64))) == 0
    for unknown in (-1, 4):
        with pytest.raises(ValueError, match="no row"):
            columns.packed(unknown)
    assert contents(tmp_path) == PASSAGES


@pytest.mark.parametrize(
    ("sizes", "first"),
    [
        ((), 0),
        ((5,), 1),
        ((100, 10), 2),
        ((100, 60), 0),
        ((100, 10, 6), 1),
        ((1_000, 100, 40, 20, 10), 1),
        ((9, 9, 9, 1), 0),
        ((1_000, 400, 10), 3),
        ((7, 7, 7, 7), 0),
    ],
)
def test_parts_are_joined_until_each_is_twice_as_large_as_the_later_ones(sizes, first):
    assert first_small_part(sizes) == first


@pytest.mark.parametrize("removed", [set(), {0}, {3}, {1, 2}, {0, 1, 2, 3}, {0, 99}])
def test_joined_parts_have_empty_rows_for_removed_passages(tmp_path, removed):
    join(write(tmp_path, 1, 1, 2), removed)

    assert [path.name for path in parts_in(tmp_path)] == [part_name(0)]
    assert contents(tmp_path) == [
        None if number in removed else passage for number, passage in enumerate(PASSAGES)
    ]


def test_a_large_part_is_shared_as_it_is(tmp_path):
    write(tmp_path, 3, 1)
    before = (tmp_path / part_name(0) / "rows").stat().st_ino

    join(tmp_path, {0})

    assert (tmp_path / part_name(0) / "rows").stat().st_ino == before
    assert contents(tmp_path) == PASSAGES


def test_an_unfinished_part_is_written_anew(tmp_path):
    (tmp_path / f".{part_name(0)}").mkdir()
    (tmp_path / f".{part_name(0)}" / "rows").write_bytes(b"half of it")

    assert contents(write(tmp_path, 4)) == PASSAGES
    assert [path.name for path in tmp_path.iterdir()] == [part_name(0)]
