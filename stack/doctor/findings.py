"""What a check found, as a value."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

from generator.pipeline import Settings

if TYPE_CHECKING:  # a check that asks no server does not wait for it
    import httpx

Status = Literal["ok", "warning", "wrong", "not configured"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; `mend` is empty where there is nothing to mend."""

    check: str
    subject: str
    status: Status
    found: str
    configured: str = ""
    mend: str = ""

    def as_record(self) -> dict[str, str]:
        """Return the values by name."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Examined:
    """What is examined: the settings, the index that is named, and what stands in for the network."""

    settings: Settings
    index: str | None = None
    transport: "httpx.BaseTransport | None" = None


Check = Callable[[Examined], Iterator[Finding]]


def all_is_well(findings: list[Finding]) -> bool:
    """Tell whether nothing is wrong; warnings and what is not configured are no faults."""
    return all(one.status != "wrong" for one in findings)
