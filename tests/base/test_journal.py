"""Files of JSON lines: whole lines, partial lines, damage, and two writers."""

import os
import resource
import signal
import subprocess
import sys
from dataclasses import dataclass
from typing import Annotated

import pytest
from pydantic import Field

from base.errors import DamagedFile, FileBusy, OutputNotWritten
from base.journal import appending, read_records
from tests.indexer.made_corpora import ROOT


@dataclass(frozen=True)
class Assessment:
    query_id: Annotated[str, Field(pattern=r"^\S+$")]
    paper: tuple[str, str]
    grade: Annotated[int, Field(ge=0, le=3, strict=True)]
    at: str


FIRST = Assessment("Q1", ("papers", "P1"), 3, "2025-01-01T00:00:00+00:00")
SECOND = Assessment("Q1", ("papers", "P2"), 0, "2025-01-01T00:00:01+00:00")
LINE = '{"query_id":"Q1","paper":["papers","P1"],"grade":3,"at":"2025-01-01T00:00:00+00:00"}\n'


def write(path, *records):
    with appending(path, Assessment) as append:
        for record in records:
            append(record)


def test_records_are_lines_of_json(tmp_path):
    assert list(read_records(tmp_path / "x", Assessment)) == []
    write(tmp_path / "x", FIRST)
    assert (tmp_path / "x").read_text() == LINE
    write(tmp_path / "x", SECOND)
    assert list(read_records(tmp_path / "x", Assessment)) == [FIRST, SECOND]


@pytest.mark.parametrize("end", [1, 40, len(LINE) - 1])
def test_a_partial_line_is_ignored_and_then_replaced(tmp_path, end):
    path = tmp_path / "x"
    path.write_text(LINE + LINE[:end])
    assert list(read_records(path, Assessment)) == [FIRST]
    write(path, SECOND)
    assert list(read_records(path, Assessment)) == [FIRST, SECOND]


@pytest.mark.parametrize("size", [65_535, 65_536, 65_537])
def test_a_partial_line_of_any_length_is_removed(tmp_path, size):
    path = tmp_path / "x"
    path.write_text(LINE + "x" * size)
    write(path)
    assert path.read_text() == LINE


@pytest.mark.parametrize("line", ["{}", "not JSON", "", LINE.strip().replace("3", "4", 1)])
def test_a_damaged_line_is_named_by_file_and_line(tmp_path, line):
    path = tmp_path / "x"
    path.write_text(f"{LINE}{line}\n{LINE}")
    with pytest.raises(DamagedFile, match=f"{path}:2: "):
        list(read_records(path, Assessment))


def test_a_second_writer_is_refused(tmp_path):
    with appending(tmp_path / "x", Assessment) as append:
        append(FIRST)
        with pytest.raises(FileBusy), appending(tmp_path / "x", Assessment):
            pass
    write(tmp_path / "x", SECOND)
    assert list(read_records(tmp_path / "x", Assessment)) == [FIRST, SECOND]


def test_a_restart_removes_earlier_lines(tmp_path):
    write(tmp_path / "x", FIRST)
    with appending(tmp_path / "x", Assessment, restart=True) as append:
        append(SECOND)
    assert list(read_records(tmp_path / "x", Assessment)) == [SECOND]


def test_a_folder_a_link_and_a_pipe_are_not_written(tmp_path):
    (tmp_path / "link").symlink_to("x")
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "link", tmp_path / "pipe"):
        with pytest.raises(OutputNotWritten, match=str(path)):
            write(path, FIRST)


FULL = """
import resource, sys
from pathlib import Path
from base.errors import OutputNotWritten
from base.journal import appending
from tests.base.test_journal import Assessment

path = Path(sys.argv[1])
record = Assessment("Q1", ("papers", "P1"), 3, "2025-01-01T00:00:00+00:00")
with appending(path, Assessment) as append:
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))
    try:
        for _ in range(10):
            append(record)
    except OutputNotWritten:
        print("refused")
"""


def test_a_full_disk_leaves_whole_lines(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", FULL, tmp_path / "x"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: signal.signal(signal.SIGXFSZ, signal.SIG_IGN),
    )
    assert done.stdout == "refused\n"
    assert (tmp_path / "x").read_text() == LINE * 3  # 86 bytes each
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 300
