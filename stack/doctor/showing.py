"""Findings for a person, and as one JSON object."""

from collections.abc import Sequence
from typing import Any

from stack.doctor.findings import Finding, Status, all_is_well

COLOURS: dict[Status, str] = {"ok": "green", "warning": "yellow", "wrong": "red", "not configured": "dim"}


def as_record(findings: Sequence[Finding]) -> dict[str, Any]:
    """Return all findings as JSON."""
    found = list(findings)
    return {"well": all_is_well(found), "findings": [one.as_record() for one in found]}


def show_findings(findings: Sequence[Finding]) -> None:
    """Print a table, with the remedies below it."""
    from rich.table import Table
    from rich.text import Text

    from indexer.terminal import console

    screen = console()
    table = Table("check", "", "status", "found", "configured", box=None)
    shown = ""
    for one in findings:
        check, shown = ("" if one.check == shown else one.check), one.check
        status = Text(one.status, style=COLOURS[one.status])
        table.add_row(check, one.subject, status, Text(one.found), Text(one.configured))
    screen.print(table)
    to_mend = [one for one in findings if one.mend]
    if to_mend:
        screen.print()
    for one in to_mend:
        line = Text(f"{one.check}, {one.subject}", style=COLOURS[one.status])
        screen.print(line.append(f": {one.mend}", style="default"))
