"""How long to wait before a request to an endpoint is sent again."""

from datetime import datetime

from indexer.retry_after import retry_after_s

PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504})  # statuses that another try may better
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 30.0


def pause_before_next_s(attempt: int, retry_after: str | None, now: datetime) -> float:
    """Return the seconds to wait after a failed attempt, counted from 1.

    As long as the server asks for, else twice as long as before, half a minute at
    most in either case.

    Args:
        attempt: which one failed.
        retry_after: the header of that name.
        now: with a time zone.
    """
    asked = retry_after_s(retry_after, now) if retry_after else None
    pause = FIRST_PAUSE_S * 2 ** (attempt - 1) if asked is None else asked
    return min(pause, LONGEST_PAUSE_S)
