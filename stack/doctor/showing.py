"""Findings for a person, and as one JSON object."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from stack.doctor.findings import Finding, Status, all_is_well

COLOURS: dict[Status, str] = {"ok": "green", "warning": "yellow", "wrong": "red", "not configured": "dim"}


def as_record(findings: Sequence[Finding]) -> dict[str, Any]:
    """Return all findings as JSON."""
    found = list(findings)
    return {
        "well": all_is_well(found),
        "findings": [{"check": finding.check} | asdict(finding) for finding in found],
    }


def show_findings(findings: Sequence[Finding]) -> None:
    """Print a table, with the remedies below it."""
    from rich.table import Table
    from rich.text import Text

    from indexer.terminal import console

    screen = console()
    table = Table("check", "", "status", "found", "configured", box=None)
    shown = ""
    for finding in findings:
        check, shown = ("" if finding.check == shown else finding.check), finding.check
        status = Text(finding.status, style=COLOURS[finding.status])
        table.add_row(check, finding.subject, status, Text(finding.found), Text(finding.configured))
    screen.print(table)
    to_mend = [finding for finding in findings if finding.mend]
    if to_mend:
        screen.print()
    for finding in to_mend:
        line = Text(f"{finding.check}, {finding.subject}", style=COLOURS[finding.status])
        screen.print(line.append(f": {finding.mend}", style="default"))
