"""When a call that failed is sent again: which failures may pass, and how long to wait."""

import zlib

from generator.errors import ModelFailed, ModelRefusedCall, ModelTooSlow, ModelUnreachable

LONGEST_PAUSE_S = 30.0  # where the server asks for none
RETRIED = frozenset({408, 409, 425, 429})  # and all from 500 on
SERVER_ERROR = 500


def may_pass(error: ModelFailed) -> bool:
    """Tell whether the same call may succeed later."""
    if isinstance(error, ModelRefusedCall):
        return error.status in RETRIED or error.status >= SERVER_ERROR
    return isinstance(error, (ModelUnreachable, ModelTooSlow))


def pause_s(attempt: int, backoff_s: float, salt: bytes, asked_for: float | None = None) -> float:
    """Return the seconds to wait after the attempt of that number, from 1: as asked for, or twice the last.

    The salt spreads calls that failed together by up to a quarter either way, the same way each time.
    """
    if asked_for is not None:
        return max(asked_for, 0.0)
    spread = 0.75 + 0.5 * zlib.crc32(b"%d " % attempt + salt) / 0xFFFFFFFF
    return float(min(backoff_s * 2 ** (attempt - 1) * spread, LONGEST_PAUSE_S))
