"""create_durably: a new file is private from its first moment, also on file systems without hard links."""

import errno
import os
import stat
from pathlib import Path

import pytest

from base.files.durable import create_durably


@pytest.mark.parametrize("hard_links", [True, False])
def test_a_file_is_private_and_never_replaces_another(tmp_path, monkeypatch, hard_links):
    if not hard_links:

        def refuse(_self, _target):
            raise PermissionError(errno.EPERM, "Operation not permitted")

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


def test_a_full_disk_leaves_no_file(tmp_path, monkeypatch):
    def fill_the_disk(_descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fill_the_disk)
    with pytest.raises(OSError, match="No space left"):
        create_durably(tmp_path / "keys", b"secret", mode=0o600)
    assert list(tmp_path.iterdir()) == []
