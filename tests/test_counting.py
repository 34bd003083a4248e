"""What the tests say that they tried is the sum over all processes."""

import os
import subprocess
import sys
from pathlib import Path

TESTS = """
import pytest

@pytest.mark.parametrize("number", range(4))
def test_tries(tried, number):
    tried("inputs", 10)
    tried("kills")
"""


def test_counts_of_all_processes_are_added_up(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-p", "xdist", "-p", "tests.counting", "-n", "2"]
    done = subprocess.run(
        [*command, "-c", str(tmp_path / "pytest.ini"), str(tmp_path)],
        cwd=Path(__file__).parents[1],
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},  # others take seconds of each start
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["inputs", "40"] in rows
    assert ["kills", "4"] in rows
