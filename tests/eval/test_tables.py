"""Numbers in plain text."""

import pytest

from indexer.requests import counted


@pytest.mark.parametrize(
    ("number", "shown"),
    [(0, "0 questions"), (1, "1 question"), (2, "2 questions"), (2000, "2,000 questions")],
)
def test_things_are_counted_in_the_singular_and_the_plural(number, shown):
    assert counted(number, "question") == shown
