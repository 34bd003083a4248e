"""Tables for a terminal: columns by the width that is drawn, numbers to the right, wide cells cut."""

import pytest

from base.amounts import plain
from base.terminal.columns import table, wrapped_table


def test_words_stand_to_the_left_and_numbers_to_the_right():
    assert table([("measure", "A"), ("RR", "0.5"), ("재현율", "12.5")], words=1) == [
        "measure     A",
        "RR        0.5",
        "재현율   12.5",
    ]


def test_a_table_that_is_too_wide_is_cut_in_its_widest_column():
    header, row = wrapped_table([("id", "title"), ("P1", "word " * 50)])

    assert header == ["id  title"]
    assert len(row) == 2
    assert all(line.startswith(begin) for line, begin in zip(row, ("P1  word", "    word"), strict=True))


@pytest.mark.parametrize(
    ("number", "written"),
    [(1800.0, "1,800"), (0.35, "0.35"), (1e-7, "0.0000001"), (1e6, "1,000,000"), (2, "2"), (0.0, "0")],
)
def test_numbers_have_no_exponent(number, written):
    assert plain(number) == written
