"""Corpus files as streams of decompressed bytes: plain, gzip, or members of a zip archive."""

import gzip
import io
import lzma
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import IO, Any, Protocol, cast

from base.files.regular_files import open_descriptor
from indexer.corpora.readers.encodings import Transcoder
from indexer.corpora.readers.folders import PARQUET_ENDINGS, corpus_names, ending_of, is_archive
from indexer.corpora.readers.items import DeadLetter, dead_letter
from indexer.corpora.readers.parquet import ParquetLines

BLOCK_BYTES = 1 << 18
HEAD_BYTES = 1 << 16  # examined for the encoding
# Scholarly text compresses to a third or a tenth; only repetition reaches deflate's limit of a thousandth.
# Small archives may have up to the fixed size at any ratio.
BOMB_BYTES = 256 << 20
BOMB_RATIO = 200

GZIP_MAGIC = b"\x1f\x8b"
ZIP_MAGIC = b"PK\x03\x04"
ENCRYPTED = 0x1
# Errors of the decompressors and the zip directory for damaged input.
DAMAGE = (
    OSError,
    EOFError,
    RuntimeError,
    ValueError,
    IndexError,
    OverflowError,
    struct.error,
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
)


class Damaged(Exception):
    """The data ends early; the message is the reason."""


class Readable(Protocol):
    """A binary file with `read1`, a single read of the layer below."""

    def read1(self, size: int, /) -> bytes:
        """Return at most `size` bytes, b'' at the end."""
        ...


class CountedFile(io.FileIO):
    """A regular file that counts the bytes read; opening anything else raises OSError."""

    consumed = 0

    def __init__(self, name: str) -> None:
        super().__init__(name, opener=lambda path, _: open_descriptor(Path(path)))

    def readinto(self, buffer: Any) -> int | None:
        """Read into the buffer, and count the bytes."""
        count = super().readinto(buffer)
        self.consumed += count or 0
        return count


class Stream:
    """The decompressed bytes of one corpus file. Raises `Damaged` once if they end early."""

    def __init__(
        self,
        name: str,
        opened: Readable,
        packed_bytes: int | None = None,
        *,
        root: str = "",
        copies: tuple[str, ...] = (),
    ) -> None:
        """Wrap an open file, which the caller closes; the decompressed size is limited.

        `root` is the folder or archive of the corpus that contains it, `copies` are members of the archive
        with the same paper, which are not read.
        """
        self.name = name
        self.copies = copies
        self.name_in_corpus = name.removeprefix(root).lstrip("/")
        self._packed_bytes = packed_bytes
        self._unpacked_bytes = 0
        self._opened = opened
        self._ahead = b""
        self._damage: Damaged | None = None  # found while looking ahead
        self._transcoder: Transcoder | None = None
        self._is_begun = False

    @property
    def ending(self) -> str:
        """The ending that determines the kind of file, without `.gz`; '' for others."""
        return ending_of(self.name)

    @property
    def is_transcoded(self) -> bool:
        """Whether the file is in another encoding, and converted to UTF-8."""
        self._begin()
        return self._transcoder is not None and self._transcoder.encoding != ""

    def read(self) -> bytes:
        """Return the next block in UTF-8; b'' at the end."""
        self._begin()
        if self._ahead:
            block, self._ahead = self._ahead, b""
            return block
        self._raise_damage()
        return self._next_block()

    def peek(self, least: int = 1) -> bytes:
        """Return the next bytes without consuming them: `least` or more, fewer at the end."""
        self._begin()
        try:
            while len(self._ahead) < least and not self._damage and (block := self._next_block()):
                self._ahead += block
        except Damaged as damage:
            self._damage = damage
        if not self._ahead:
            self._raise_damage()
        return self._ahead

    def _raise_damage(self) -> None:
        """Raise the damage found while looking ahead, once."""
        damage, self._damage = self._damage, None
        if damage:
            raise damage

    def _begin(self) -> None:
        """Detect the encoding by the start of the file."""
        if self._is_begun:
            return
        self._is_begun = True
        try:
            while len(self._ahead) < HEAD_BYTES and (block := self._next_block()):
                self._ahead += block
        except Damaged as damage:
            self._damage = damage
        if transcoder := Transcoder.of(self._ahead):
            self._transcoder = transcoder
            self._ahead = self._transcoder.converted(self._ahead)

    def _next_block(self) -> bytes:
        while True:
            block = self._read_block()
            if self._transcoder is None:
                return block
            converted = self._transcoder.converted(block, final=not block)
            if converted or not block:
                return converted

    def _read_block(self) -> bytes:
        try:
            block = self._opened.read1(BLOCK_BYTES)
        except DAMAGE as error:
            raise Damaged(f"the file ends early here: {_reason(error)}") from None
        self._unpacked_bytes += len(block)
        if self._packed_bytes is not None and _is_bomb(self._unpacked_bytes, self._packed_bytes):
            raise Damaged(f"the file unpacks to more than {BOMB_RATIO} times its size; reading stops here")
        return block


def open_streams(
    file: CountedFile, name: str, endings: Collection[str] | None, *, root: str = ""
) -> Iterator[Stream | DeadLetter]:
    """Yield the streams of an open file: its decompressed content, or the corpus members of a zip archive.

    A stream is valid until the next one is requested. An empty file has no stream.
    """
    with io.BufferedReader(file, BLOCK_BYTES) as buffered:
        try:
            magic = buffered.peek(4)[:4]
        except OSError as error:
            yield why_not_opened(name, error)
            return
        if not magic:
            return
        if is_archive(name) or (not ending_of(name) and magic == ZIP_MAGIC):
            yield from _members(buffered, name, endings, root)
        elif magic.startswith(GZIP_MAGIC) or name.lower().endswith(".gz"):
            with gzip.GzipFile(fileobj=buffered, mode="rb") as unpacked:
                yield Stream(name, _lines_of(unpacked, name), os.fstat(file.fileno()).st_size, root=root)
        else:
            yield Stream(name, _lines_of(buffered, name), root=root)


def _lines_of(file: Any, name: str) -> Readable:
    """Return the rows of a Parquet file as JSON lines, any other file unchanged."""
    return ParquetLines(file) if ending_of(name) in PARQUET_ENDINGS else cast(Readable, file)


def _members(
    file: IO[bytes], name: str, endings: Collection[str] | None, root: str
) -> Iterator[Stream | DeadLetter]:
    try:
        packed_bytes = file.seek(0, io.SEEK_END)
        archive = zipfile.ZipFile(file)
    except DAMAGE as error:
        yield dead_letter(name, 0, f"the archive cannot be opened: {_reason(error)}")
        return
    with archive:
        files = [member for member in archive.infolist() if not member.is_dir()]
        unsafe = {member.filename for member in files if _leads_outside(member.filename)}
        for outside in sorted(unsafe):
            yield dead_letter(f"{name}/{outside}", 0, "the path leads out of the archive")
        wanted = corpus_names({member.filename for member in files} - unsafe, endings)
        unpacked_bytes = 0
        for member in sorted(files, key=lambda member: member.filename.split("/")):
            if member.filename not in wanted:
                continue
            member_name = f"{name}/{member.filename}"
            if problem := _why_refused(member):
                yield dead_letter(member_name, 0, problem)
                continue
            unpacked_bytes += member.file_size
            if _is_bomb(unpacked_bytes, packed_bytes):
                reason = f"the archive unpacks to more than {BOMB_RATIO} times its size; reading stops here"
                yield dead_letter(member_name, 0, reason)
                return
            try:
                opened = cast(zipfile.ZipExtFile, archive.open(member))
            except DAMAGE as error:
                yield dead_letter(member_name, 0, f"the member cannot be opened: {_reason(error)}")
                continue
            with opened:
                lines, copies = _lines_of(opened, member_name), wanted[member.filename]
                yield Stream(member_name, lines, root=root, copies=copies)


def _why_refused(member: zipfile.ZipInfo) -> str:
    """Describe why a member is not opened. Its declared size is reliable, as zipfile reads no more."""
    if member.flag_bits & ENCRYPTED:
        return "the member is encrypted"
    if is_archive(member.filename) or member.filename.lower().endswith(".gz"):
        return "an archive inside an archive; unpack it first"
    if _is_bomb(member.file_size, member.compress_size):
        return f"the member unpacks to {member.file_size} bytes, more than {BOMB_RATIO} times its size"
    return ""


def _is_bomb(unpacked_bytes: int, packed_bytes: int) -> bool:
    return unpacked_bytes > max(BOMB_BYTES, BOMB_RATIO * packed_bytes)


def _leads_outside(member_name: str) -> bool:
    parts = re.split(r"[/\\]", member_name)
    return parts[0] == "" or parts[0].endswith(":") or ".." in parts


def _reason(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__


def why_not_opened(name: str, error: OSError) -> DeadLetter:
    """Make the dead letter of a file that the system cannot open."""
    return dead_letter(name, 0, f"the file cannot be read: {_reason(error)}")
