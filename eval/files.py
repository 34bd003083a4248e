"""Input files of an evaluation: numbered lines, optionally gzipped."""

import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from base.files.durable import cause_of
from base.files.regular_files import open_regular
from eval.errors import EvalError

GZIP_MAGIC = b"\x1f\x8b"
LONGEST_LINE = 1_000_000  # bytes
LARGEST_FILE = 4_000_000_000  # bytes, unpacked


class Digest(Protocol):
    """A hash, or another receiver of the bytes of a file."""

    def update(self, content: bytes, /) -> object:
        """Add bytes."""


class HashedFile(io.RawIOBase):
    """A file whose bytes are hashed while they are read, as a pipe can be read only once."""

    def __init__(self, file: io.BufferedReader, digest: Digest) -> None:
        """`file` is an open file, closed by the caller."""
        self._file, self._digest = file, digest

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into the buffer and hash."""
        count = self._file.readinto1(buffer)
        self._digest.update(buffer[:count])
        return count


def numbered_lines(
    path: Path, error: type[EvalError], digest: Digest | None = None
) -> Iterator[tuple[int, str]]:
    """Yield (number, text) of the nonblank lines, counted from 1; gzip is detected by content.

    Pipes are read like files. At the end `digest` includes all bytes, before decompression.

    Raises:
        EvalError: `error`, with file and line, if the file is missing, damaged, not UTF-8 or too long.
    """
    number = 0
    try:
        with open_regular(path, pipes=True) as opened:
            plain = io.BufferedReader(HashedFile(opened, digest)) if digest else opened
            packed = plain.peek(2)[:2] == GZIP_MAGIC
            file = gzip.GzipFile(fileobj=plain, mode="rb") if packed else plain
            room = LARGEST_FILE
            for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE + 1), b""), 1):
                room -= len(line)
                if len(line) > LONGEST_LINE or room < 0:
                    raise error(
                        f"{path}:{number}: too long; a line may have {LONGEST_LINE:,} bytes, "
                        f"a file {LARGEST_FILE:,}, unpacked"
                    )
                text = line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
                if text.strip():
                    yield number, text
    except UnicodeDecodeError:
        raise error(f"{path}:{number}: not UTF-8; save the file as UTF-8") from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as damage:
        raise error(f"{path}:{number + 1}: the file is damaged ({damage}); download it again") from None
    except OSError as refused:
        raise error(f"{path} cannot be read: {cause_of(refused)}") from None
