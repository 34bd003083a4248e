"""What a check found, as a value."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from base.errors import RemediableError
from base.progress import Progress, no_progress
from base.remedies import describe_remedies
from generator.pipeline import Settings

if TYPE_CHECKING:  # a check that asks no server does not wait for it
    import httpx

Status = Literal["ok", "warning", "wrong", "not configured"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; `mend` is empty where there is nothing to mend."""

    subject: str
    status: Status
    found: str
    configured: str = ""
    mend: str = ""
    check: str = ""  # the name of the check that found it


@dataclass(frozen=True, slots=True)
class Examined:
    """What is examined: the settings, the index that is named, and what stands in for the network."""

    settings: Settings
    index: str | None = None
    quick: bool = False  # without reading every file of the indexes
    progress: Progress = no_progress
    transport: "httpx.AsyncBaseTransport | None" = None
    engine_answers: bool = True  # as far as the checks before have found


Check = Callable[[Examined], Iterator[Finding]]


def failed(subject: str, error: Exception, configured: str = "", mend: str = "") -> Finding:
    """Return what an error says, in one line, as a finding; `mend` is for errors that do not say it."""
    what, remedies = " ".join(str(error).split()), ""
    if isinstance(error, RemediableError):
        what, remedies = error.what, describe_remedies(error)
    return Finding(subject, "wrong", f"{type(error).__name__}: {what}", configured, remedies or mend)


def without_engine(subject: str) -> Finding:
    """Return the finding of a check that would ask the engine, which does not answer."""
    return Finding(
        subject, "wrong", "not looked at, as the engine does not answer", mend="mend the engine first"
    )


def of_check(name: str, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the findings with the name of their check."""
    return (replace(finding, check=name) for finding in findings)


def all_is_well(findings: list[Finding]) -> bool:
    """Tell whether nothing is wrong; warnings and what is not configured are no faults."""
    return all(finding.status != "wrong" for finding in findings)
