"""Output of findings: a table, or one JSON object."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from base.terminal.columns import wrapped_table
from base.terminal.output import echo, echo_lines, styled
from stack.doctor.findings import Finding, Status, all_is_well

STYLES: dict[Status, dict[str, Any]] = {
    "ok": {},
    "warning": {"fg": "yellow"},
    "wrong": {"fg": "red"},
    "not configured": {"dim": True},
}


def as_record(findings: Sequence[Finding]) -> dict[str, Any]:
    """Return all findings as JSON."""
    found = list(findings)
    return {
        "well": all_is_well(found),
        "findings": [{"check": finding.check} | asdict(finding) for finding in found],
    }


def show_findings(findings: Sequence[Finding]) -> None:
    """Print a table, with the remedies below it."""
    rows, before = [("check", "", "status", "found", "configured")], ""
    for finding in findings:
        check, before = ("" if finding.check == before else finding.check), finding.check
        rows.append((check, finding.subject, finding.status, finding.found, finding.configured))
    header, *found = wrapped_table(rows)
    echo_lines(header)
    for finding, lines in zip(findings, found, strict=True):
        for line in lines:
            echo(styled(line, **STYLES[finding.status]))
    with_remedy = [finding for finding in findings if finding.mend]
    if with_remedy:
        echo()
    for finding in with_remedy:
        echo(styled(f"{finding.check}, {finding.subject}", **STYLES[finding.status]), f": {finding.mend}")
