"""Parquet files as JSON lines, so that the readers of all JSON formats read their rows.

Requires the optional extra `parquet`; pyarrow is only imported here.
"""

import json
import math
from collections.abc import Iterator
from typing import IO, Any

from base.errors import LibraryMissing
from base.extras import extra_remedy

ROWS = 100  # converted together


def check_parquet_library() -> None:
    """Raise `LibraryMissing` if pyarrow is not installed."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise LibraryMissing(
            "reading Parquet requires the library pyarrow, which is not installed",
            remedy=extra_remedy("parquet"),
        ) from None


class ParquetLines:
    """The rows of an open Parquet file as bytes of JSON lines; missing values are left out."""

    def __init__(self, file: IO[bytes]) -> None:
        """Wrap a seekable file, which the caller closes."""
        self._lines = _lines(file)

    def read1(self, _: int, /) -> bytes:
        """Return the next rows, b'' at the end."""
        return next(self._lines, b"")


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    from pyarrow.parquet import ParquetFile

    for batch in ParquetFile(file, pre_buffer=False).iter_batches(batch_size=ROWS, use_threads=False):
        yield b"".join(map(_line, batch.to_pylist()))


def _line(row: dict[str, Any]) -> bytes:
    present = {key: value for key, value in row.items() if not _is_missing(value)}
    return json.dumps(present, ensure_ascii=False, default=_text).encode("utf-8", "surrogatepass") + b"\n"


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and not math.isfinite(value))


def _text(value: Any) -> str:
    """Return a date, decimal number or bytes as text."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
