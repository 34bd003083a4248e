"""How long a server asks to be left alone."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


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
