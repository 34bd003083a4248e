"""How long to wait before a request is sent again."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

# Statuses that another try may better.
TRANSIENT_STATUSES = frozenset({408, 409, 425, 429, 500, 502, 503, 504})


def growing_pauses(first_s: float = 0.5, longest_s: float = 30.0) -> Iterator[float]:
    """Yield seconds without end, each twice those before, up to the longest."""
    pause = min(first_s, longest_s)
    while True:
        yield pause
        pause = min(longest_s, 2 * pause)


def retry_after_s(header: str, now: datetime) -> float | None:
    """Read a Retry-After header, seconds or a date (RFC 9110, section 10.2.3); None where it says nothing.

    Args:
        header: its value.
        now: with a time zone; what a date is counted from.
    """
    header = header.strip()
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]+)?", header):
        return float(header)
    try:
        date = parsedate_to_datetime(header)
        return max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - now).total_seconds())
    except (ValueError, OverflowError):
        return None
