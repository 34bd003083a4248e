"""What mends an error is a value that each front end words."""

import pytest

from base.errors import Remedy
from base.remedies import describe_error
from indexer.errors import IndexMismatch


def test_an_error_says_in_words_what_the_command_line_says_by_commands():
    error = IndexMismatch("why", remedy=(Remedy.REBUILD, "set back"), index="papers")

    assert str(error) == f"why; {Remedy.REBUILD.words}, or set back"
    command = "(shrag index PATH --name papers --rebuild)"
    assert describe_error(error) == f"why; {Remedy.REBUILD.words} {command}, or set back"


@pytest.mark.parametrize("remedy", Remedy)
def test_the_command_line_has_a_command_for_each_remedy(remedy):
    assert describe_error(IndexMismatch("why", remedy=remedy)).startswith(f"why; {remedy.words} (")
