"""create_durably: a new file is private from its first moment, on file systems of few abilities too."""

import errno
import os
import stat
from pathlib import Path

import pytest

from base.files.durable import create_durably


@pytest.fixture
def no_unnamed_files(monkeypatch):
    """Refuse files without a name, as NFS does, and return the modes of the files that are created."""
    modes = []
    really_open = os.open

    def open_named(path, flags, mode=0o777, **options):
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(errno.EOPNOTSUPP, "Operation not supported")
        descriptor = really_open(path, flags, mode, **options)
        if flags & os.O_CREAT:
            modes.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        return descriptor

    monkeypatch.setattr(os, "open", open_named)
    return modes


@pytest.fixture
def no_hard_links(monkeypatch):
    def refuse(_self, _target):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", refuse)


def test_a_file_that_needs_a_name_is_private_when_it_is_created(tmp_path, no_unnamed_files):
    create_durably(tmp_path / "keys", b"secret", mode=0o600)

    assert no_unnamed_files == [0o600]
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"keys": b"secret"}


@pytest.mark.usefixtures("no_hard_links")
def test_a_file_is_created_without_hard_links_and_is_private(tmp_path, no_unnamed_files):
    create_durably(tmp_path / "keys", b"secret", mode=0o600)

    assert no_unnamed_files == [0o600, 0o600]
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"keys": b"secret"}


@pytest.mark.usefixtures("no_hard_links")
def test_without_hard_links_a_file_that_is_there_stays(tmp_path):
    (tmp_path / "keys").write_bytes(b"old")

    with pytest.raises(FileExistsError):
        create_durably(tmp_path / "keys", b"new", mode=0o600)

    assert (tmp_path / "keys").read_bytes() == b"old"


@pytest.mark.usefixtures("no_hard_links")
def test_without_hard_links_an_error_in_the_middle_leaves_no_file(tmp_path, monkeypatch):
    calls = []

    def fill_the_disk(_descriptor):
        calls.append("fsync")
        if len(calls) > 1:  # the first one is for the file of another name
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fill_the_disk)
    with pytest.raises(OSError, match="No space left"):
        create_durably(tmp_path / "keys", b"secret", mode=0o600)

    assert list(tmp_path.iterdir()) == []
