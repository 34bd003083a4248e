"""Changes of keys and indexes in the audit log, by commands and by the server's operators."""

import os
from datetime import UTC, datetime
from typing import Any

from base.files.durable import cause_of
from base.terminal.output import echo
from server.settings import ServerSettings


def note_change(event: str, **facts: Any) -> None:
    """Write a change to the audit log, if the settings name one; a failure is reported on standard error.

    `uid` is the number of the user who runs the process: a command, or the server.
    """
    try:
        settings = ServerSettings()
    except ValueError:  # `shrag serve` reports it; the change is made
        return
    if settings.audit_file is None:
        return
    from server.monitoring.audit import AuditLog

    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    try:
        with AuditLog.of(settings) as audit:
            audit.write({"time": now, "event": event, "uid": os.getuid(), **facts})
    except OSError as error:
        echo(f"not written to the audit log: {cause_of(error)}", err=True)
