"""Where a command writes: files replaced whole, links followed, pipes and terminals written through."""

import os
import stat
import subprocess
import sys
import threading

import pytest

from base.errors import InvalidCall, OutputNotWritten, UnknownPath
from base.files.output_files import check_output, is_stream, write_output
from tests.indexer.made_corpora import ROOT, WITHOUT_COMPILING, as_others_may, limited


def test_a_file_is_made_and_nothing_else_stands_in_its_folder(tmp_path):
    write_output(tmp_path / "out", b"new")

    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"out": b"new"}
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o666 & ~umask


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


def test_a_pipe_is_written_through_and_stays(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()

    write_output(pipe, b"line\n" * 50_000)

    reader.join()
    assert received == [b"line\n" * 50_000]
    assert pipe.is_fifo()
    assert is_stream(pipe)


@pytest.mark.parametrize(
    ("place", "stream"),
    [("/dev/stdout", "stdout"), ("/proc/self/fd/2", "stderr"), ("/dev/fd/0", "stdin")],
)
def test_a_descriptor_is_added_to_and_not_replaced(tmp_path, place, stream):
    code = (
        "import pathlib, sys; from base.files.output_files import write_output\n"
        "write_output(pathlib.Path(sys.argv[1]), b'x')"
    )
    (tmp_path / "link").symlink_to(place)
    with (tmp_path / "log").open("ab") as log:
        log.write(b"before ")
        log.flush()
        command = [sys.executable, "-c", code, tmp_path / "link"]
        environment = os.environ | WITHOUT_COMPILING | {"PYTHONPATH": str(ROOT)}
        subprocess.run(command, env=environment, check=True, **{stream: log})
    assert (tmp_path / "log").read_bytes() == b"before x"
    assert (tmp_path / "link").is_symlink()


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
