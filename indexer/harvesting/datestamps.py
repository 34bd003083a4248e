"""Datestamps of records, in days or seconds of UTC (section 3.3), and the start of an incremental list."""

import re
from datetime import UTC, datetime, timedelta
from typing import Literal

Granularity = Literal["day", "second"]
DATESTAMP = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d:\d\d)(?:\.\d+)?(?:Z|\+00:?00)?)?")


def parse_datestamp(text: str) -> datetime | None:
    """Parse a datestamp or the date of a response; None for another form, such as another time zone."""
    found = DATESTAMP.fullmatch(text.strip())
    try:
        return datetime.fromisoformat(f"{found[1]}T{found[2] or '00:00:00'}+00:00") if found else None
    except ValueError:
        return None


def format_datestamp(date: datetime, granularity: Granularity) -> str:
    """Format a date for a request; `day` cuts the time, which is earlier and loses nothing."""
    at = date.astimezone(UTC).replace(tzinfo=None)
    return at.date().isoformat() if granularity == "day" else f"{at.isoformat(timespec='seconds')}Z"


def start_of_list(listed_at: str, earliest: str, granularity: Granularity, *, overlap_hours: float) -> str:
    """Return `from` of an incremental list, "" if everything must be listed.

    Args:
        listed_at: start of the previous complete list, by the clock of the repository.
        earliest: earliest datestamp of the repository; some refuse an earlier `from`.
        granularity: unit of the datestamps.
        overlap_hours: hours that are listed again. A day is always listed again in the granularity `day`.
    """
    listed, first = parse_datestamp(listed_at), parse_datestamp(earliest)
    try:
        start = listed - timedelta(hours=overlap_hours) if listed else None
    except OverflowError:  # a date in the year 1
        start = None
    if start is None:
        return ""
    return format_datestamp(max(start, first) if first else start, granularity)


def earlier_date(date: str, now: datetime) -> str:
    """Return the date of a response, or the own time if that is earlier, or if there is no date.

    A clock that is ahead would otherwise move the start of the next list beyond new records.
    """
    given = parse_datestamp(date)
    return format_datestamp(min(given, now) if given else now, "second")
