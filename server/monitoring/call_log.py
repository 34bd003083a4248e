"""Log lines and audit lines of calls. Refusals are aggregated.

Thousands of refusals of one caller must not fill the disk. The first refusal of a caller, route and status is
written immediately. Further ones are counted, and written as one line per interval with their number and the
time of the first. A caller is the subject of limits: a key, an address, an IPv6 network.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from base.logs import get_logger
from server.monitoring.audit import AuditLog

INTERVAL_S = 60.0
MOST_COUNTED = 10_000  # kinds of refusals; beyond, their lines are written early
NOT_LET_IN = frozenset({401, 403, 421, 429})
LOGGED = ("method", "route", "status", "milliseconds", "refused")

Record = Mapping[str, Any]

log = get_logger("server")


class _Kind(NamedTuple):
    """Refusals that are counted together."""

    caller: str
    route: str
    status: int
    is_audited: bool


@dataclass(slots=True)
class _Counted:
    """Refusals since the last line of their kind: the last one, their number, the time of the first."""

    last: Record
    number: int = 0
    since: str = ""


class CallLog:
    """The log lines of calls, for one event loop."""

    def __init__(self, audit: AuditLog, *, interval_s: float = INTERVAL_S) -> None:
        """`interval_s`: seconds between two lines of one kind of refusal."""
        self._audit = audit
        self._interval_s = interval_s
        self._counted: dict[_Kind, _Counted] = {}

    @asynccontextmanager
    async def keeping(self) -> AsyncIterator[Self]:
        """Write counted refusals after each interval, and at the end of the block."""

        async def write_on() -> None:
            while True:
                await asyncio.sleep(self._interval_s)
                self._write_counted()
                self._audit.delete_old()

        writing = asyncio.create_task(write_on())
        try:
            yield self
        finally:
            writing.cancel()
            self._write_counted()

    def note(self, record: Record, *, caller: str, is_audited: bool) -> None:
        """Write a call, or count it with the refusals of its kind; `caller` is as `Caller.counted_as`."""
        if record["status"] not in NOT_LET_IN:
            self._write(record, is_audited=is_audited)
            return
        kind = _Kind(caller, record["route"], record["status"], is_audited)
        if counted := self._counted.get(kind):
            counted.last = record
            counted.number += 1
            counted.since = counted.since or record["time"]
            return
        if len(self._counted) >= MOST_COUNTED:
            self._write_counted()
        self._counted[kind] = _Counted(record)
        self._write(record, is_audited=is_audited)

    def _write_counted(self) -> None:
        """Write the counts. A kind with refusals in this interval is counted in the next one too."""
        ended, self._counted = self._counted, {}
        for kind, counted in ended.items():
            if counted.number:
                record = {**counted.last, "refused": counted.number, "since": counted.since}
                self._write(record, is_audited=kind.is_audited)
                self._counted[kind] = _Counted(counted.last)

    def _write(self, record: Record, *, is_audited: bool) -> None:
        log.info("call", **{name: record[name] for name in LOGGED if name in record})
        if is_audited:
            self._audit.write(dict(record))
