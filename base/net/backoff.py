"""Pauses before a request is retried."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

# Statuses for which a retry may succeed.
TRANSIENT_STATUSES = frozenset({408, 409, 425, 429, 500, 502, 503, 504})


def growing_pauses(first_s: float = 0.5, longest_s: float = 30.0) -> Iterator[float]:
    """Yield pauses in seconds without end; each is twice the previous one, up to the longest."""
    pause = min(first_s, longest_s)
    while True:
        yield pause
        pause = min(longest_s, 2 * pause)


def retry_after_s(header: str, now: datetime) -> float | None:
    """Parse a Retry-After header, seconds or a date (RFC 9110, section 10.2.3); None if it is neither.

    Args:
        header: value of the header.
        now: time with a time zone, from which a date is counted.
    """
    header = header.strip()
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]+)?", header):
        return float(header)
    try:
        date = parsedate_to_datetime(header)
        return max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - now).total_seconds())
    except (ValueError, OverflowError):
        return None
