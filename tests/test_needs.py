"""Tests that a run leaves out are counted by what they need."""

import os
import subprocess
import sys
from pathlib import Path

from tests.needs import NEEDS, TESTS

SOME = """
import pytest

@pytest.fixture
def shared_data():
    return "data"

def test_by_fixture(shared_data):
    pass

@pytest.mark.needs_models
@pytest.mark.parametrize("number", range(3))
def test_by_mark(number):
    pass

@pytest.mark.slow
def test_that_is_not_excluded():
    pass
"""


def test_tests_left_out_are_counted_once_by_what_they_need(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(SOME)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-p", "xdist", "-p", "tests.needs", "-n", "2"]
    done = subprocess.run(
        [
            *command,
            "-m",
            "not shared and not needs_models",
            "-c",
            str(tmp_path / "pytest.ini"),
            str(tmp_path),
        ],
        cwd=TESTS.parent,
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},  # others take seconds of each start
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [line.split()[:2] for line in done.stdout.splitlines()]
    assert ["needs_models", "3"] in rows
    assert ["shared", "1"] in rows
    assert "1 passed" in done.stdout


def test_every_folder_of_the_table_is_there() -> None:
    assert [need.folder for need in NEEDS.values() if not (TESTS / need.folder).is_dir()] == []
