"""Files that a command writes: outputs, private files, and files of JSON lines."""

import errno
import os
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pytest
from pydantic import Field

from base.errors import DamagedFile, FileBusy, InvalidCall, OutputNotWritten, UnknownPath
from base.files.durable import create_durably
from base.files.output_files import check_output, write_output
from base.journal import appending, read_records
from tests.indexer.made_corpora import ROOT, WITHOUT_COMPILING, as_others_may, limited


def test_a_file_that_is_replaced_keeps_its_permissions_and_is_another_file(tmp_path):
    out = tmp_path / "out"
    out.write_bytes(b"old")
    out.chmod(0o640)
    os.link(out, tmp_path / "other name")

    write_output(out, b"new")

    assert (out.read_bytes(), stat.S_IMODE(out.stat().st_mode)) == (b"new", 0o640)
    assert (tmp_path / "other name").read_bytes() == b"old"


def test_behind_links_the_file_is_replaced_and_the_links_stay(tmp_path):
    (tmp_path / "folder").mkdir()
    target = tmp_path / "folder" / "target"
    target.write_bytes(b"old")
    (tmp_path / "second").symlink_to("folder/target")
    (tmp_path / "first").symlink_to("second")

    write_output(tmp_path / "first", b"new")

    assert target.read_bytes() == b"new"
    assert (tmp_path / "first").is_symlink()
    assert (tmp_path / "second").is_symlink()
    assert list((tmp_path / "folder").iterdir()) == [target]


def written_by_another(out, before=(), **options):
    """Write to `out` in a process of its own; return what it said."""
    code = (
        "import pathlib, sys; from base.files.output_files import write_output\n"
        "write_output(pathlib.Path(sys.argv[1]), b'x' * 100_000)"
    )
    done = subprocess.run(
        [*before, sys.executable, "-c", code, out],
        env=os.environ | WITHOUT_COMPILING | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        **options,
    )
    assert done.returncode == 1
    return done.stderr.splitlines()[-1]


def test_where_a_file_cannot_grow_the_old_one_stays(tmp_path):
    (tmp_path / "out").write_bytes(b"old")

    said = written_by_another(tmp_path / "out", preexec_fn=limited(10_000))

    assert f"OutputNotWritten: {tmp_path}/out " in said
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"out": b"old"}


@pytest.mark.parametrize("mode", [(0o555, 0o644), (0o755, 0o444)], ids=["folder", "file"])
def test_without_permission_the_old_file_stays(tmp_path, mode):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "out").write_bytes(b"old")
    (folder / "out").chmod(mode[1])
    folder.chmod(mode[0])
    try:
        said = written_by_another(folder / "out", as_others_may())
    finally:
        folder.chmod(0o755)

    assert f"OutputNotWritten: {folder}/out " in said
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {"out": b"old"}


@pytest.mark.parametrize(
    ("name", "error", "reason"),
    [
        ("", InvalidCall, "folder"),
        ("folder", InvalidCall, "folder"),
        ("to folder", InvalidCall, "folder"),
        ("nowhere/out", UnknownPath, "nowhere "),
        ("to nowhere", UnknownPath, "nowhere "),
        ("file/out", UnknownPath, "file "),
        ("loop", OutputNotWritten, "loop "),
        ("n" * 300, OutputNotWritten, "nnn "),
    ],
    ids=lambda given: given[:20] if isinstance(given, str) else given.__name__,
)
def test_what_cannot_be_written_is_told_before_the_work_and_nothing_is_made(tmp_path, name, error, reason):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "to folder").symlink_to("folder")
    (tmp_path / "to nowhere").symlink_to("nowhere/out")
    (tmp_path / "loop").symlink_to("loop")
    there = sorted(tmp_path.iterdir())

    with pytest.raises(error, match=reason):
        check_output(tmp_path / name)
    with pytest.raises(error, match=reason):
        write_output(tmp_path / name, b"")

    assert sorted(tmp_path.iterdir()) == there


@pytest.mark.parametrize("name", ["input", "folder/../input", "link", "hard link", "below/file", "below/new"])
def test_an_input_is_not_written_over_by_whatever_name(tmp_path, name):
    (tmp_path / "folder").mkdir()
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "file").write_bytes(b"")
    (tmp_path / "input").write_bytes(b"")
    (tmp_path / "link").symlink_to("input")
    os.link(tmp_path / "input", tmp_path / "hard link")

    with pytest.raises(InvalidCall, match="input"):
        check_output(tmp_path / name, (None, tmp_path / "absent", tmp_path / "input", tmp_path / "below"))


@pytest.mark.parametrize("hard_links", [True, False])
def test_a_file_is_private_and_never_replaces_another(tmp_path, monkeypatch, hard_links):
    def refuse(_self, _target):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    if not hard_links:
        monkeypatch.setattr(Path, "hardlink_to", refuse)
    modes, synced = [], os.fsync

    def note_mode(descriptor):
        modes.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        synced(descriptor)

    monkeypatch.setattr(os, "fsync", note_mode)
    create_durably(tmp_path / "keys", b"secret", mode=0o600)
    with pytest.raises(FileExistsError):
        create_durably(tmp_path / "keys", b"new", mode=0o600)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"keys": b"secret"}
    assert (modes[0], stat.S_IMODE((tmp_path / "keys").stat().st_mode)) == (0o600, 0o600)


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


def test_a_folder_a_link_and_a_pipe_are_not_written(tmp_path):
    (tmp_path / "link").symlink_to("x")
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "link", tmp_path / "pipe"):
        with pytest.raises(OutputNotWritten, match=str(path)):
            write(path, FIRST)
