"""How often a host is asked: a bucket of tokens a host, shared by all sources that ask it."""

import threading
import time


class TokenBucket:
    """Fills at a rate up to its size; whoever takes a token too many is told how long to wait.

    It belongs to no event loop: it only counts.
    """

    def __init__(self, per_second: float, size: int = 1) -> None:
        """Begin full."""
        self._per_second, self._size = per_second, size
        self._tokens, self._at = float(size), time.monotonic()
        self._lock = threading.Lock()

    def take(self) -> float:
        """Take a token, and return how many seconds to wait before it may be used."""
        with self._lock:
            now = time.monotonic()
            self._tokens = min(self._size, self._tokens + (now - self._at) * self._per_second)
            self._at = now
            self._tokens -= 1
            return max(0.0, -self._tokens / self._per_second)

    def pause(self, seconds: float) -> None:
        """Let nobody through for so long, as the host has asked."""
        with self._lock:
            self._tokens = min(self._tokens, -seconds * self._per_second)

    def put_back(self) -> None:
        """Give back a token that was not used."""
        with self._lock:
            self._tokens = min(self._size, self._tokens + 1)

    def slow_to(self, per_second: float) -> None:
        """Fill no faster than that from now on."""
        with self._lock:
            self._per_second = min(self._per_second, per_second)


_buckets: dict[str, TokenBucket] = {}
_lock = threading.Lock()


def bucket_of(host: str, per_second: float) -> TokenBucket:
    """Return the bucket of a host and port; of several rates asked for the slowest holds."""
    with _lock:
        bucket = _buckets.setdefault(host, TokenBucket(per_second))
    bucket.slow_to(per_second)
    return bucket
