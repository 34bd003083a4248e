"""The audit log: its files, their renaming and deletion, lines of commands and of repeated refusals."""

import json
import os
import time
from threading import Event

import pytest

from server.monitoring.audit import AuditLog, CallLog
from tests.generator.sample_index import shrag

DAY_S = 86_400


def lines_of(*files):
    """Return the lines of audit logs."""
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]


def numbers_in(folder):
    """Return the numbers in all audit logs of a folder."""
    return sorted(line["n"] for line in lines_of(*folder.iterdir()))


def test_a_full_file_is_renamed_and_no_line_is_lost(tmp_path):
    log = AuditLog(tmp_path / "audit", most_bytes=100)
    for number in range(40):
        log.write({"n": number})

    assert numbers_in(tmp_path) == [*range(40)]
    assert all(file.stat().st_size < 120 for file in tmp_path.iterdir())
    assert all(file.stat().st_mode & 0o077 == 0 for file in tmp_path.iterdir())


def test_the_file_of_a_previous_day_is_renamed(tmp_path):
    log = AuditLog(tmp_path / "audit")
    log.write({"n": 1})
    yesterday = time.time() - DAY_S
    os.utime(tmp_path / "audit", (yesterday, yesterday))
    log.write({"n": 2})

    assert lines_of(tmp_path / "audit") == [{"n": 2}]
    assert numbers_in(tmp_path) == [1, 2]


def test_renamed_files_are_deleted_after_their_days_and_no_others(tmp_path):
    old = time.time() - 8 * DAY_S
    names = ["audit.20200101T000000000000-7", "audit.1", "other.20200101T000000000000-7", "audit.bak-7"]
    for name in names:
        (tmp_path / name).write_text("{}")
        os.utime(tmp_path / name, (old, old))

    AuditLog(tmp_path / "audit", days=7)

    assert {file.name for file in tmp_path.iterdir()} == {"audit", *names[1:]}


def test_a_rotated_audit_log_is_opened_anew(tmp_path):
    path = tmp_path / "audit.jsonl"
    log = AuditLog(path)
    log.write({"n": 1})
    path.rename(tmp_path / "audit.1")
    log.write({"n": 2})
    path.unlink()
    log.write({"n": 3})

    assert lines_of(tmp_path / "audit.1") == [{"n": 1}]
    assert lines_of(path) == [{"n": 3}]
    assert path.stat().st_mode & 0o077 == 0


def test_lines_that_cannot_be_written_are_counted(tmp_path, monkeypatch):
    lost = []
    log = AuditLog(tmp_path / "audit")
    log.count_lost = lambda: lost.append(1)
    monkeypatch.setattr("server.monitoring.audit.os.write", lambda *_: 0)  # as on a full disk
    log.write({"n": 1})
    monkeypatch.undo()

    assert lost == [1]


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_an_audit_log_that_cannot_be_written_is_told_at_the_start(tmp_path, make):
    make(tmp_path / "audit")
    done = shrag("serve", "--port", "0", home=tmp_path, server__audit_file=tmp_path / "audit")

    assert done.returncode == 1
    assert "audit" in done.stderr


REFUSED = {"route": "/r", "status": 429, "method": "GET", "milliseconds": 1, "time": "t"}


def test_refusals_that_go_on_are_a_line_for_each_minute(tmp_path):
    calls = CallLog(AuditLog(tmp_path / "audit"))
    for _ in range(3):
        for _ in range(5):
            calls.note(REFUSED, caller="key k", is_audited=True)
        calls.write_counted()
    calls.note(REFUSED | {"status": 200}, caller="key k", is_audited=True)
    calls.note(REFUSED, caller="key other", is_audited=True)
    calls.close()

    assert [line.get("refused") for line in lines_of(tmp_path / "audit")] == [None, 4, 5, 5, None, None]


def test_a_disk_that_hangs_holds_no_call_up_and_no_line_is_lost(tmp_path):
    goes_on = Event()

    class Hanging(AuditLog):
        def write(self, record):
            goes_on.wait()
            super().write(record)

    calls = CallLog(Hanging(tmp_path / "audit"))
    for number in range(3):
        calls.note(REFUSED | {"status": 200, "n": number}, caller="key k", is_audited=True)
    assert numbers_in(tmp_path) == []
    goes_on.set()
    calls.close()

    assert [line["n"] for line in lines_of(tmp_path / "audit")] == [0, 1, 2]


def test_a_symbolic_link_is_refused(tmp_path):
    (tmp_path / "audit").symlink_to(tmp_path / "elsewhere")
    done = shrag("serve", home=tmp_path, server__audit_file=tmp_path / "audit")

    assert done.returncode == 1
    assert "audit: it is a symbolic link" in done.stderr
