"""Input files of an evaluation: numbered lines or blocks of lines, optionally gzipped."""

import gzip
import hashlib
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from base.files.durable import cause_of
from base.files.regular_files import open_regular
from eval.errors import EvalError

GZIP_MAGIC = b"\x1f\x8b"
MARK = "\ufeff"  # byte order mark; also starts later lines of files that were joined
BLOCK = 131_072  # bytes
LONGEST_LINE = 1_000_000  # bytes
MOST_COPIED = 32_000_000  # bytes of an input of which a copy is kept
LARGEST_FILE = 4_000_000_000  # bytes, unpacked
TOO_LONG = f"too long; a line may have {LONGEST_LINE:,} bytes, a file {LARGEST_FILE:,}, unpacked"


class Digest(Protocol):
    """A hash, or another receiver of the bytes of a file."""

    def update(self, content: bytes, /) -> object:
        """Add bytes."""


class Input:
    """A file that is read once, with its SHA-256 and a copy of its bytes.

    It has the method `update` of a hash, as the readers of topics and qrels pass on the bytes that they read.
    """

    def __init__(self, path: str | Path) -> None:
        """`path` is the path as given."""
        self.path = str(path)
        self._hash, self._copy = hashlib.sha256(), bytearray()

    def update(self, content: bytes | memoryview, /) -> None:
        """Add bytes of the file."""
        self._hash.update(content)
        if len(self._copy) <= MOST_COPIED:
            self._copy += content

    @property
    def sha256(self) -> str:
        """The SHA-256 of the bytes."""
        return self._hash.hexdigest()

    @property
    def content(self) -> bytes | None:
        """The bytes; None for a file that is too large for a copy."""
        return bytes(self._copy) if len(self._copy) <= MOST_COPIED else None


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
    """Yield (number, text) of the nonblank lines, counted from 1; otherwise as `numbered_blocks`."""
    for first, block in numbered_blocks(path, error, digest):
        for number, line in enumerate(block.split("\n")[:-1], first):
            text = line.rstrip("\r")
            if text.strip():
                yield number, text


def numbered_blocks(
    path: Path, error: type[EvalError], digest: Digest | None = None
) -> Iterator[tuple[int, str]]:
    """Yield blocks of whole lines: the number of the first line, and the text with a line feed at its end.

    gzip is detected by content, and byte order marks are removed. Pipes are read like files. At the end
    `digest` includes all bytes, before decompression. Lines before an error are yielded first.

    Raises:
        EvalError: `error`, with file and line, if the file is missing, damaged or too long, is not UTF-8, or
            contains a NUL byte.
    """
    first = 1
    try:
        with open_regular(path, pipes=True) as opened:
            plain = io.BufferedReader(HashedFile(opened, digest), BLOCK) if digest else opened
            packed = plain.peek(2)[:2] == GZIP_MAGIC
            for lines, fault in _blocks(gzip.GzipFile(fileobj=plain, mode="rb") if packed else plain):
                text, fault_of_line = _text(lines)
                if text:
                    yield first, text.removeprefix(MARK).replace(f"\n{MARK}", "\n")
                first += text.count("\n")
                if fault_of_line or fault:
                    raise error(f"{path}:{first}: {fault_of_line or fault}")
    except OSError as refused:
        raise error(f"{path} cannot be read: {cause_of(refused)}") from None


def _blocks(file: "io.BufferedReader[Any] | gzip.GzipFile") -> Iterator[tuple[bytes, str]]:
    """Yield blocks of whole lines, each with the fault of the line after it, which ends the file, or ""."""
    rest, room = bytearray(), LARGEST_FILE
    while True:
        try:
            piece = file.read1(BLOCK)
        except (EOFError, gzip.BadGzipFile, zlib.error) as damage:
            yield _whole_lines(rest), f"the file is damaged ({damage}); download it again"
            return
        if not piece:
            yield bytes(rest) if rest.endswith(b"\n") or not rest else bytes(rest) + b"\n", ""
            return
        rest += piece
        room -= len(piece)
        if room < 0:
            yield _whole_lines(rest[:room]), TOO_LONG
            return
        end = rest.find(b"\n")
        if (len(rest) if end < 0 else end) >= LONGEST_LINE:
            yield b"", TOO_LONG
            return
        if len(rest) >= BLOCK and end >= 0:
            lines = _whole_lines(rest)
            del rest[: len(lines)]
            yield lines, ""


def _whole_lines(block: bytearray) -> bytes:
    return bytes(block[: block.rfind(b"\n") + 1])


def _text(lines: bytes) -> tuple[str, str]:
    """Decode lines up to the first that is not text; return them, and the fault of that line, or ""."""
    nul = lines.find(b"\0")
    usable = lines if nul < 0 else lines[: lines.rfind(b"\n", 0, nul) + 1]
    try:
        return usable.decode(), "" if nul < 0 else "a NUL byte; save the file as UTF-8"
    except UnicodeDecodeError as bad:
        before = usable[: usable.rfind(b"\n", 0, bad.start) + 1]
        return before.decode(), "not UTF-8; save the file as UTF-8"
