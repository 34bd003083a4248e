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
LONGEST_LINE = 1_000_000  # bytes
TOO_LONG = f"too long; a line may have {LONGEST_LINE:,} bytes"


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
    """A file whose bytes are hashed while they are read, as a pipe can be read only once.

    What it has read before an error is not lost.
    """

    def __init__(self, file: io.BufferedIOBase, read: Input | None) -> None:
        """`file` is an open file, closed by the caller."""
        self._file, self._read = file, read

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into the buffer and hash."""
        count = self._file.readinto1(buffer)
        if self._read:
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
    includes all bytes at the end, before decompression. Lines before an error are yielded first.

    Raises:
        EvalError: `error`, with file and line, if the file is missing, damaged or too long, or a line is too
            long, is not UTF-8, or contains a NUL byte.
    """
    first = 1
    try:
        with open_regular(Path(str(source)), pipes=True) as opened:
            read = source if isinstance(source, Input) else None
            file = io.BufferedReader(HashedFile(opened, read), BLOCK)
            if file.peek(2)[:2] == GZIP_MAGIC:
                file = io.BufferedReader(HashedFile(gzip.GzipFile(fileobj=file), None), BLOCK)
            fault = ""
            while not fault:
                lines, fault = _next_lines(file)
                if not lines and not fault:
                    return
                if max(map(len, lines), default=0) > LONGEST_LINE or _fault(b"".join(lines)):
                    faults = ((place, _fault(line, LONGEST_LINE)) for place, line in enumerate(lines))
                    place, fault = next(each for each in faults if each[1])
                    lines = lines[:place]
                if text := b"".join(lines).decode():
                    text = text.removeprefix(MARK).replace(f"\n{MARK}", "\n")
                    yield first, text if text.endswith("\n") else f"{text}\n"
                first += len(lines)
            raise error(f"{source}:{first}: {fault}")
    except OSError as refused:
        raise error(f"{source} cannot be read: {cause_of(refused)}") from None


def _next_lines(file: "io.BufferedReader[HashedFile]") -> tuple[list[bytes], str]:
    """Read lines of `BLOCK` bytes together, the last one whole; return also the damage after them, or ""."""
    lines, room = [], BLOCK
    try:
        while room > 0 and (line := file.readline(LONGEST_LINE + 1)):
            lines.append(line)
            room -= len(line)
    except (EOFError, gzip.BadGzipFile, zlib.error) as damage:
        return lines, f"the file is damaged ({damage}); download it again"
    return lines, ""


def _fault(content: bytes, most: int | None = None) -> str:
    """Return why bytes are not text, or have more than `most` bytes; "" if they are."""
    if most and len(content) > most:
        return TOO_LONG
    if b"\0" in content:
        return "a NUL byte; save the file as UTF-8"
    try:
        content.decode()
    except UnicodeDecodeError:
        return "not UTF-8; save the file as UTF-8"
    return ""
