"""How long to wait before a request to an endpoint is sent again."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504})  # statuses that another try may better
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 30.0


def pause_before_next_s(attempt: int, retry_after: str | None, now: datetime) -> float:
    """Return the seconds to wait after a failed attempt, counted from 1.

    As long as the server asks for (RFC 9110, section 10.2.3), else twice as long as before, half a minute at
    most in either case.

    Args:
        attempt: which one failed.
        retry_after: the header of that name: seconds, or a date.
        now: with a time zone.
    """
    asked = _asked_for_s(retry_after.strip(), now) if retry_after else None
    pause = FIRST_PAUSE_S * 2 ** (attempt - 1) if asked is None else asked
    return min(max(pause, 0.0), LONGEST_PAUSE_S)


def _asked_for_s(header: str, now: datetime) -> float | None:
    try:
        return float(header)
    except ValueError:
        pass
    try:
        date = parsedate_to_datetime(header)
        return (date.replace(tzinfo=date.tzinfo or UTC) - now).total_seconds()
    except (ValueError, OverflowError):
        return None
