"""The finding of a check, as a value, and its output as a table or JSON."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from base.errors import RemediableError, ShragError
from base.net.addresses import hosts_in_the_clear
from base.progress import Progress, no_progress
from base.terminal.columns import wrapped_table
from base.terminal.output import echo, echo_lines, styled
from generator.pipeline import Settings

Status = Literal["ok", "warning", "wrong", "not configured"]
STYLES: dict[Status, dict[str, Any]] = {
    "ok": {},
    "warning": {"fg": "yellow"},
    "wrong": {"fg": "red"},
    "not configured": {"dim": True},
}


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding of a check, with a remedy if one is needed."""

    subject: str
    status: Status
    found: str
    configured: str = ""
    remedy: str = ""
    check: str = ""  # the name of the check that found it


@dataclass(frozen=True, slots=True)
class Examined:
    """The subject of the checks: the settings and an index."""

    settings: Settings
    index: str | None = None
    quick: bool = False  # without reading every file of the indexes
    progress: Progress = no_progress


Check = Callable[[Examined], Iterator[Finding]]


def failed(subject: str, error: Exception, configured: str = "", remedy: str = "") -> Finding:
    """Return an error as a one-line finding; `remedy` is for errors without one."""
    what, own = " ".join(str(error).split()), ""
    if isinstance(error, RemediableError):
        what, own = error.what, error.remedy
    return Finding(subject, "wrong", f"{type(error).__name__}: {what}", configured, own or remedy)


def tried(subject: str, call: Callable[[], str | Finding], configured: str = "", remedy: str = "") -> Finding:
    """Return the finding of a call, or its error as one; the text that a call returns is one that is ok."""
    try:
        found = call()
    except (ShragError, OSError, ValueError, sqlite3.Error) as error:
        return failed(subject, error, configured, remedy)
    return found if isinstance(found, Finding) else Finding(subject, "ok", found, configured)


def check_encryption(addresses: str, *, secret: bool) -> Iterator[Finding]:
    """Warn if a secret is sent over plain http to another machine."""
    if secret and (hosts := hosts_in_the_clear(addresses)):
        found = f"secrets are sent unencrypted to {', '.join(hosts)}"
        remedy = "use https, so that nobody in between can read them (docs/how-to/deploying.md)"
        yield Finding("encryption", "warning", found, addresses, remedy)


def all_is_well(findings: Sequence[Finding]) -> bool:
    """Check that nothing is wrong; warnings and missing configuration are allowed."""
    return all(finding.status != "wrong" for finding in findings)


def as_record(findings: Sequence[Finding]) -> dict[str, Any]:
    """Return all findings as JSON."""
    found = [{"check": finding.check} | asdict(finding) for finding in findings]
    return {"well": all_is_well(findings), "findings": found}


def show_findings(findings: Sequence[Finding], *, err: bool = False) -> None:
    """Print a table, with the remedies below it."""
    rows, before = [("check", "", "status", "found", "configured")], ""
    for finding in findings:
        check, before = ("" if finding.check == before else finding.check), finding.check
        rows.append((check, finding.subject, finding.status, finding.found, finding.configured))
    header, *found = wrapped_table(rows)
    echo_lines(header, err=err)
    for finding, lines in zip(findings, found, strict=True):
        for line in lines:
            echo(styled(line, **STYLES[finding.status]), err=err)
    echo(err=err)
    for finding in findings:
        if finding.remedy:
            name = styled(f"{finding.check}, {finding.subject}", **STYLES[finding.status])
            echo(name, f": {finding.remedy}", err=err)
