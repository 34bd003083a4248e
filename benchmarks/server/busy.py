"""A client with 128 connections that never backs off, and its effect on another client.

Both have a key. Three situations alternate, so that other load on the machine affects all of them: the other
client alone; with a client that sends at the allowed rate; with the same client without back-off. Without a
rate limit, backing off means a pause of a quarter of a second after each refusal.
"""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.figures import Figure
from benchmarks.server.clients import OK, REFUSED, Measured, measured_by, started
from benchmarks.server.served import UNLIMITED, Served, serving
from server.access.key_store import KeyStore
from server.access.keys import make_key

CONNECTIONS = 128  # of the busy client
BACKING_OFF = 8  # connections per process while it backs off
ROUNDS, SLICE_S = 4, 6.0
ALLOWED_RATE, OTHER_RATE = 10, 4  # calls per second of the busy client and of the other
REFUSAL = b'"status": 429'
GOODPUT, OTHERS_BY_ALONE = 0.8, 3.0


@dataclass(frozen=True, slots=True)
class Clients:
    """The two clients of a server."""

    served: Served
    questions: Sequence[str]
    busy_key: str
    other_key: str

    def alone(self) -> Measured:
        """Run the other client alone."""
        return measured_by(started(self.served, OTHER_RATE, SLICE_S, self.questions, key=self.other_key))

    def together(self, rate: float, **options: float) -> tuple[Measured, Measured]:
        """Run both clients; return the calls of the busy one and of the other."""
        other = started(self.served, OTHER_RATE, SLICE_S, self.questions, key=self.other_key)
        busy = started(self.served, rate, SLICE_S, self.questions, key=self.busy_key, **options)
        return measured_by(busy), measured_by(other)


def measure_busy_client(index: Path, questions: Sequence[str], workers: int) -> list[Figure]:
    """Measure with and without a rate limit of the busy client's key; the index is in a home folder."""
    limits = {**UNLIMITED, "server__workers": workers}
    rated = {**limits, "server__searches_per_minute": 60 * ALLOWED_RATE, "server__search_burst": ALLOWED_RATE}
    backing_off = BACKING_OFF * workers
    return [
        *_figures("with a rate", index, questions, rated, ALLOWED_RATE, backing_off),
        *_figures("without a rate", index, questions, limits, 0, backing_off),
    ]


def _figures(
    name: str,
    index: Path,
    questions: Sequence[str],
    settings: Mapping[str, object],
    allowed: float,
    backing_off: int,
) -> list[Figure]:
    (busy_key, busy_kept), (other_key, other_kept) = make_key("busy"), make_key("other")
    alone, best, busy, disturbed = Measured(), Measured(), Measured(), Measured()
    with tempfile.TemporaryDirectory(prefix="shrag-bench-") as folder:
        audit, home = Path(folder, "audit"), Path(folder)
        (home / index.name).symlink_to(index)  # separate keys for this server
        for key in (busy_kept, other_kept):
            KeyStore(home).add(key)
        with serving(home, index.name, **settings, server__audit_file=audit) as served:
            clients = Clients(served, questions, busy_key, other_key)
            clients.alone()  # warm-up
            for _ in range(ROUNDS):
                alone += clients.alone()
                best += clients.together(allowed, at_once=backing_off)[0]
                own, others = clients.together(0, at_once=CONNECTIONS, pause=0)
                busy += own
                disturbed += others
        lines = audit.read_bytes().splitlines()
    refused = sum(status == REFUSED for *_, status in busy)
    seconds = ROUNDS * SLICE_S
    return [
        Figure("busy", f"{name}: another client alone, p50", 1_000 * _median_s(alone), "ms"),
        Figure(
            "busy",
            f"{name}: beside the busy one, p50 by alone",
            _median_s(disturbed) / _median_s(alone),
            "×",
            OTHERS_BY_ALONE,
        ),
        Figure("busy", f"{name}: answers at the allowed rate", _answered(best) / seconds, "/s"),
        Figure(
            "busy",
            f"{name}: answers without back-off, by that",
            _answered(busy) / _answered(best),
            "×",
            GOODPUT,
            higher_is_better=True,
        ),
        Figure("busy", f"{name}: refusals without back-off", refused / seconds, "/s"),
        Figure("busy", f"{name}: lines of refusals in the audit log", sum(REFUSAL in line for line in lines)),
    ]


def _answered(calls: Measured) -> int:
    return sum(status == OK and due + took <= SLICE_S for due, took, status in calls)


def _median_s(calls: Measured) -> float:
    return median(took for _, took, status in calls if status == OK)
