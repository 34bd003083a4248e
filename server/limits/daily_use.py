"""Searches and questions of each key today (UTC), counted in a file that outlasts the server.

All processes map the file. A count is exact for all servers of one home on one machine, and survives a kill.
A power cut can lose the last half minute (Linux, `dirty_expire_centisecs`).
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from base.files.durable import cause_of
from base.logs import get_logger
from server.limits.shared_table import SharedTable, read_whole_number

FILE = ".calls-today"  # in the home folder; no index can have the name
DAY_S = 86_400
DAY_BITS = 32  # an entry's number is the day, and in its lower bits the count
MOST: int = 2**DAY_BITS - 1

log = get_logger("server")


@dataclass(frozen=True, slots=True)
class Day:
    """Result of counting a call: whether the key had one left, its calls today, seconds until midnight."""

    allowed: bool
    used: int
    ends_in_s: float


class DailyUse:
    """Counts by key; without a file they are private to the process."""

    def __init__(self, path: Path | None = None, *, clock: Callable[[], float] = time.time) -> None:
        """Open the table. Raises as `SharedTable`."""
        self._clock = clock
        self._table = SharedTable[int](path, "Q")

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the table."""
        self._table.__exit__()

    def take(self, key_id: str, most: int | None) -> Day:
        """Count a call, unless the key has used up its day."""
        now = self._clock()
        ends_in_s = DAY_S - now % DAY_S
        with self._table.locked(key_id) as entry:
            used = _count(entry.number, now)
            if most is not None and used >= most:
                return Day(allowed=False, used=used, ends_in_s=ends_in_s)
            entry.write(_number(used + 1, now))
        return Day(allowed=True, used=used + 1, ends_in_s=ends_in_s)

    def used(self, key_id: str) -> int:
        """Return the calls of a key today. As `take`, only for the thread of the event loop."""
        with self._table.locked(key_id) as entry:
            return _count(entry.number, self._clock())

    def give_back(self, key_id: str) -> None:
        """Subtract a call that was counted and then refused."""
        now = self._clock()
        with self._table.locked(key_id) as entry:
            if used := _count(entry.number, now):
                entry.write(_number(used - 1, now))


def open_daily_use(home: Path, otherwise: Path | None) -> DailyUse:
    """Open the counts of a home folder, or temporary ones if the folder cannot be written."""
    try:
        home.mkdir(parents=True, exist_ok=True)
        return DailyUse(home / FILE)
    except OSError as error:
        log.warning("the calls of today are lost when the server ends", reason=cause_of(error))
        return DailyUse(otherwise)


def calls_today(home: Path, key_ids: Iterable[str]) -> dict[str, int]:
    """Return the calls of keys today; 0 if none was counted or the file cannot be read.

    Not for a process that serves: closing the file releases all locks that it holds on the file (`fcntl(2)`).
    """
    try:
        table = (home / FILE).read_bytes()
    except OSError:
        table = b""
    now = time.time()
    return {key_id: _count(read_whole_number(table, key_id), now) for key_id in key_ids}


def _count(number: int, now: float) -> int:
    day, count = divmod(number, MOST + 1)
    return count if day == int(now // DAY_S) else 0


def _number(count: int, now: float) -> int:
    return int(now // DAY_S) << DAY_BITS | min(count, MOST)
