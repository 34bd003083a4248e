"""The finding of a check, as a value, and findings that several checks share."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from base.errors import RemediableError
from base.net.unencrypted_secrets import hosts_in_the_clear
from base.progress import Progress, no_progress
from base.remedies import describe_remedies
from generator.pipeline import Settings

if TYPE_CHECKING:  # a check without a server does not import it
    import httpx

Status = Literal["ok", "warning", "wrong", "not configured"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding of a check; `mend` is the remedy, if one is needed."""

    subject: str
    status: Status
    found: str
    configured: str = ""
    mend: str = ""
    check: str = ""  # the name of the check that found it


@dataclass(frozen=True, slots=True)
class Examined:
    """The subject of the checks: the settings, an index, and a replacement of the network in tests."""

    settings: Settings
    index: str | None = None
    quick: bool = False  # without reading every file of the indexes
    progress: Progress = no_progress
    transport: "httpx.AsyncBaseTransport | None" = None
    engine_answers: bool = True  # according to earlier checks


Check = Callable[[Examined], Iterator[Finding]]


def failed(subject: str, error: Exception, configured: str = "", mend: str = "") -> Finding:
    """Return an error as a one-line finding; `mend` is the remedy for errors without one."""
    what, remedies = " ".join(str(error).split()), ""
    if isinstance(error, RemediableError):
        what, remedies = error.what, describe_remedies(error)
    return Finding(subject, "wrong", f"{type(error).__name__}: {what}", configured, remedies or mend)


def without_engine(subject: str) -> Finding:
    """Return the finding of a check that needs the engine, which does not answer."""
    return Finding(
        subject, "wrong", "not checked, as the engine does not answer", mend="fix the engine first"
    )


def of_check(name: str, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the findings with the name of their check."""
    return (replace(finding, check=name) for finding in findings)


def check_encryption(addresses: str, *, secret: bool) -> Iterator[Finding]:
    """Warn if a secret is sent over plain http to another machine."""
    hosts = hosts_in_the_clear(addresses) if secret else []
    if hosts:
        found = f"the key or password is sent unencrypted to {', '.join(hosts)}"
        mend = "use https://, so that nobody in between can read it"
        yield Finding("encryption", "warning", found, configured="allow_plain_http", mend=mend)


def all_is_well(findings: list[Finding]) -> bool:
    """Check that nothing is wrong; warnings and missing configuration are allowed."""
    return all(finding.status != "wrong" for finding in findings)
