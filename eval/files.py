"""Input files of an evaluation: numbered lines or blocks of lines, optionally gzipped."""

import gzip
import hashlib
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

from base.files.durable import cause_of
from base.files.regular_files import open_regular
from eval.errors import EvalError

GZIP_MAGIC = b"\x1f\x8b"
MARK = "\ufeff"  # byte order mark; also starts later lines of files that were joined
BLOCK = 131_072  # bytes


class Input:
    """A file that is read once, in place of a path, with its SHA-256."""

    def __init__(self, path: str | Path) -> None:
        """`path` is the path as given."""
        self.path = str(path)
        self._hash = hashlib.sha256()

    def __str__(self) -> str:
        return self.path

    def update(self, content: bytes | memoryview, /) -> None:
        """Add bytes of the file that were read."""
        self._hash.update(content)

    @property
    def sha256(self) -> str:
        """The SHA-256 of the bytes."""
        return self._hash.hexdigest()

    @property
    def record(self) -> dict[str, str]:
        """Path and SHA-256, for a manifest."""
        return {"path": self.path, "sha256": self.sha256}


Source: TypeAlias = str | Path | Input


class HashedFile(io.RawIOBase):
    """A file whose bytes are hashed while they are read, as a pipe can be read only once."""

    def __init__(self, file: io.BufferedIOBase, read: Input) -> None:
        """`file` is an open file, closed by the caller."""
        self._file, self._read = file, read

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into the buffer and hash."""
        count = self._file.readinto1(buffer)
        self._read.update(buffer[:count])
        return count


def numbered_lines(source: Source, error: type[EvalError]) -> Iterator[tuple[int, str]]:
    """Yield (number, text) of the nonblank lines, counted from 1; otherwise as `numbered_blocks`."""
    for first, block in numbered_blocks(source, error):
        for number, line in enumerate(block.split("\n")[:-1], first):
            text = line.rstrip("\r")
            if text.strip():
                yield number, text


def numbered_blocks(source: Source, error: type[EvalError]) -> Iterator[tuple[int, str]]:
    """Yield blocks of whole lines: the number of the first line, and the text with a line feed at its end.

    gzip is detected by content, and byte order marks are removed. Pipes are read like files. An `Input`
    includes all bytes at the end, before decompression.

    Raises:
        EvalError: `error`, with file and line, if the file is missing or damaged, or a line is not UTF-8, or
            contains a NUL byte.
    """
    first = 1
    try:
        with open_regular(Path(str(source)), pipes=True) as opened:
            file: io.BufferedIOBase = opened
            if isinstance(source, Input):
                file = io.BufferedReader(HashedFile(opened, source), BLOCK)
            if file.peek(2)[:2] == GZIP_MAGIC:  # type: ignore[attr-defined]
                file = gzip.GzipFile(fileobj=file)
            while lines := file.readlines(BLOCK):
                text = _decoded(b"".join(lines), str(source), first, error)
                text = text.removeprefix(MARK).replace(f"\n{MARK}", "\n")
                yield first, text if text.endswith("\n") else f"{text}\n"
                first += len(lines)
    except (EOFError, gzip.BadGzipFile, zlib.error) as damage:
        raise error(f"{source}:{first}: the file is damaged ({damage}); download it again") from None
    except OSError as refused:
        raise error(f"{source} cannot be read: {cause_of(refused)}") from None


def _decoded(content: bytes, path: str, first: int, error: type[EvalError]) -> str:
    """Decode lines; raise `error` for a NUL byte or bytes that are not UTF-8."""
    try:
        place, why = content.find(b"\0"), "a NUL byte"
        text = content.decode()
    except UnicodeDecodeError as wrong:
        place, why, text = wrong.start, "not UTF-8", ""
    if place < 0:
        return text
    line = first + content.count(b"\n", 0, place)
    raise error(f"{path}:{line}: {why}; save the file as UTF-8")
