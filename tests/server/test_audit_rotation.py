"""Renaming and deletion of audit logs, and changes by commands in them."""

import json
import os
import time

from server.monitoring.audit import AuditLog
from tests.generator.sample_index import shrag

DAY_S = 86_400


def numbers_in(folder):
    """Return the numbers in all audit logs of a folder."""
    lines = [line for file in folder.iterdir() for line in file.read_text("utf-8").splitlines()]
    return sorted(json.loads(line)["n"] for line in lines)


def test_a_full_file_is_renamed_and_no_line_is_lost(tmp_path):
    log = AuditLog(tmp_path / "audit", most_bytes=100)
    for number in range(40):
        log.write({"n": number})

    assert numbers_in(tmp_path) == [*range(40)]
    assert all(file.stat().st_size < 120 for file in tmp_path.iterdir())
    assert all(file.stat().st_mode & 0o077 == 0 for file in tmp_path.iterdir())


def test_a_line_is_written_even_if_the_file_cannot_be_renamed(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr("pathlib.Path.rename", refuse)
    log = AuditLog(tmp_path / "audit", most_bytes=1)
    for number in range(3):
        log.write({"n": number})

    assert numbers_in(tmp_path) == [0, 1, 2]


def test_a_symbolic_link_is_refused(tmp_path):
    (tmp_path / "audit").symlink_to(tmp_path / "elsewhere")
    done = shrag("serve", home=tmp_path, server__audit_file=tmp_path / "audit")

    assert done.returncode == 1
    assert "audit: it is a symbolic link" in done.stderr


def test_the_file_of_a_previous_day_is_renamed(tmp_path):
    log = AuditLog(tmp_path / "audit")
    log.write({"n": 1})
    yesterday = time.time() - DAY_S
    os.utime(tmp_path / "audit", (yesterday, yesterday))
    log.write({"n": 2})

    assert json.loads((tmp_path / "audit").read_text()) == {"n": 2}
    assert numbers_in(tmp_path) == [1, 2]


def test_renamed_files_are_deleted_after_their_days_and_no_others(tmp_path):
    old = time.time() - 8 * DAY_S
    names = ["audit.20200101T000000000000-7", "audit.1", "other.20200101T000000000000-7", "audit.bak-7"]
    for name in names:
        (tmp_path / name).write_text("{}")
        os.utime(tmp_path / name, (old, old))

    AuditLog(tmp_path / "audit", days=7)

    assert {file.name for file in tmp_path.iterdir()} == {"audit", *names[1:]}


def test_commands_that_make_and_revoke_keys_are_in_it_without_the_key(tmp_path):
    audit = tmp_path / "audit"
    made = shrag("keys", "create", "--role", "librarian", home=tmp_path, server__audit_file=audit)
    key_id = made.stdout.split("_")[1]
    shrag("keys", "revoke", key_id, home=tmp_path, server__audit_file=audit)

    created, revoked = map(json.loads, audit.read_text().splitlines())
    assert (created["event"], created["key"], created["role"]) == ("key created", key_id, "librarian")
    assert (revoked["event"], revoked["key"], revoked["uid"]) == ("key revoked", key_id, os.getuid())
    assert made.stdout.strip() not in audit.read_text()
