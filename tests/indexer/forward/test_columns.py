"""The rows of a version in memory-mapped files: written in parts, joined, found by number."""

import shutil

import numpy as np
import pytest

from indexer.files.schema import StoredPassage
from indexer.forward.columns import COLUMNS, ForwardColumns, ForwardPart, join_columns
from indexer.forward.rows import GAPS, RowTokens, pack_row


def row(*body):
    return pack_row(StoredPassage("P", "P", "", "x", "en", "abstract"), RowTokens(body, [], [], []))


PASSAGES = {  # number: (passage_id, doc_id, row)
    0: ("A", "A", row(1, 2)),
    1: ("A@en", "A", row()),
    2: ("논문#1", "논문", row(3)),
    3: ("B", "B", row(4, 5, 60_000)),
}


def written(folder, *numbers, **more):
    """Write a part of some of the passages."""
    part = ForwardPart()
    for number in numbers:
        part.add(*PASSAGES[number], number)
    part.write(folder, **more)
    return folder


def contents(folder):
    """Return (number, passage_id, doc_id, row) of each passage in a folder."""
    columns = ForwardColumns(folder)
    return [
        (number, *columns.names(place), columns.packed(place))
        for place, number in enumerate(columns.numbers.tolist())
    ]


def expected(*numbers):
    return [(number, *PASSAGES[number]) for number in numbers]


def test_a_part_comes_back_from_its_files(tmp_path):
    folder = written(tmp_path / "parts" / "000000", 0, 1, 2, 3)

    assert contents(folder) == expected(0, 1, 2, 3)
    assert {path.name for path in folder.iterdir()} == set(COLUMNS)


def test_rows_are_read_at_any_places_in_any_order(tmp_path):
    columns = ForwardColumns(written(tmp_path / "part", 0, 1, 2, 3))

    rows = columns.rows(np.array([3, 0, 1, 0]))

    assert [rows.body_of(at)[:-GAPS].tolist() for at in range(4)] == [[4, 5, 60_000], [1, 2], [], [1, 2]]
    assert len(columns.rows(np.zeros(0, np.int64))) == 0


@pytest.mark.parametrize("numbers", [(0, 1, 2, 3), (0, 2, 3), (1, 3), (3,)])
def test_a_passage_is_found_by_its_number_also_where_numbers_have_holes(tmp_path, numbers):
    columns = ForwardColumns(written(tmp_path / "part", *numbers))

    assert columns.places(numbers) == list(range(len(numbers)))
    assert columns.places(numbers[::-1]) == list(range(len(numbers)))[::-1]


@pytest.mark.parametrize(("numbers", "asked"), [((0, 1), 2), ((0, 1), -1), ((0, 2), 1), ((1, 3), 4), ((), 0)])
def test_a_number_that_is_not_there_is_an_error(tmp_path, numbers, asked):
    columns = ForwardColumns(written(tmp_path / "part", *numbers))

    with pytest.raises(ValueError, match="no row"):
        columns.places([*numbers, asked])


def test_parts_are_joined_in_their_order(tmp_path):
    parts = [written(tmp_path / "0", 0, 1), written(tmp_path / "1", 2), written(tmp_path / "2", 3)]

    join_columns(parts, set(), tmp_path / "joined")

    assert contents(tmp_path / "joined") == expected(0, 1, 2, 3)


@pytest.mark.parametrize("removed", [{0}, {3}, {1, 2}, {0, 2}, {0, 1, 2, 3}, {0, 99}])
def test_passages_that_were_removed_are_not_joined(tmp_path, removed):
    parts = [written(tmp_path / "0", 0, 1, 2), written(tmp_path / "1", 3)]

    join_columns(parts, removed, tmp_path / "joined")

    assert contents(tmp_path / "joined") == expected(*({0, 1, 2, 3} - removed))


def test_what_was_joined_is_joined_again_with_its_holes(tmp_path):
    join_columns([written(tmp_path / "0", 0, 1, 2)], {1}, tmp_path / "first")

    join_columns([tmp_path / "first", written(tmp_path / "1", 3)], {0}, tmp_path / "second")

    assert contents(tmp_path / "second") == expected(2, 3)


def test_of_nothing_empty_files_are_made(tmp_path):
    join_columns([], set(), tmp_path / "joined")
    written(tmp_path / "part")

    assert contents(tmp_path / "joined") == contents(tmp_path / "part") == []


def test_one_part_and_many_make_equal_files(tmp_path):
    join_columns([written(tmp_path / "whole", 0, 1, 2, 3)], set(), tmp_path / "one")
    parts = [written(tmp_path / str(number), number) for number in PASSAGES]
    join_columns(parts, set(), tmp_path / "many")

    for name in COLUMNS:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "many" / name).read_bytes()
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_part_takes_other_files_along(tmp_path):
    folder = written(tmp_path / "part", 0, terms=b"a")

    assert (folder / "terms").read_bytes() == b"a"
    assert contents(folder) == expected(0)


def test_what_a_killed_process_was_writing_is_written_anew(tmp_path):
    (tmp_path / ".part").mkdir()
    (tmp_path / ".part" / "rows").write_bytes(b"half of it")

    assert contents(written(tmp_path / "part", 0)) == expected(0)
    assert [path.name for path in tmp_path.iterdir()] == ["part"]


@pytest.mark.parametrize("name", COLUMNS)
def test_a_file_that_is_gone_is_named(tmp_path, name):
    (written(tmp_path / "part", 0, 1) / name).unlink()

    with pytest.raises(FileNotFoundError, match=name):
        ForwardColumns(tmp_path / "part")


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("how", ["empty", "shorter", "longer", "of another part"])
def test_files_that_do_not_belong_together_are_an_error(tmp_path, name, how):
    path = written(tmp_path / "part", 0, 1, 2) / name
    if how == "of another part":
        shutil.copy(written(tmp_path / "other", 3) / name, path)
    else:
        data, size = path.read_bytes(), COLUMNS[name].itemsize
        path.write_bytes({"empty": b"", "shorter": data[:-size], "longer": data + bytes(size)}[how])

    with pytest.raises(ValueError, match="part is damaged"):
        ForwardColumns(tmp_path / "part")
