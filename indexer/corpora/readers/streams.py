"""Corpus files as streams of decompressed bytes: plain, gzip, members of a zip archive, rows of Parquet."""

import codecs
import gzip
import re
import zipfile
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from base.files.regular_files import open_regular
from indexer.corpora.readers.encodings import Transcoder
from indexer.corpora.readers.folders import PARQUET_ENDINGS, corpus_names, ending_of, is_archive
from indexer.corpora.readers.hub import on_hub, open_hub_file
from indexer.corpora.readers.parquet import ParquetLines

BLOCK_BYTES = 1 << 18
HEAD_BYTES = 1 << 16  # examined for the encoding
# Scholarly text compresses to a third or a tenth; only repetition reaches deflate's limit of a thousandth.
# Small archives may have up to the fixed size at any ratio.
BOMB_BYTES = 256 << 20
BOMB_RATIO = 200
ENCRYPTED = 0x1
GZIP_MAGIC = b"\x1f\x8b"


class Damaged(Exception):
    """The data ends early; the message is the reason."""


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """A file, a member of a zip archive, or a file of the hub. `problem` is the reason why it is not read."""

    path: str  # of the file or archive
    size: int = 0  # as stored
    member: str = ""
    root: str = ""  # the folder or archive of the corpus, or the file's folder
    problem: str = ""
    format: str = ""  # "" until it is detected
    copies: tuple["CorpusFile", ...] = ()  # documents with the same name, best first

    @property
    def name(self) -> str:
        """The name in messages."""
        return f"{self.path}/{self.member}" if self.member else self.path


class Stream:
    """The decompressed bytes of one corpus file in UTF-8. Raises `Damaged` once if they end early."""

    def __init__(self, name: str, opened: Any, packed_bytes: int = 0, *, root: str = "") -> None:
        """Wrap an open file with `read1`, which the caller closes.

        `packed_bytes` limits the decompressed size; `root` is the folder or archive of the corpus.
        """
        self.name = name
        self.name_in_corpus = name.removeprefix(root).lstrip("/")
        self._opened, self._packed_bytes = opened, packed_bytes
        self._ahead = b""
        self._damage: Damaged | None = None  # found while looking ahead
        self._transcoder: Transcoder | None = None
        self._blocks = self._converted()

    @property
    def ending(self) -> str:
        """The ending that determines the kind of file, without `.gz`; '' for others."""
        return ending_of(self.name)

    @property
    def is_transcoded(self) -> bool:
        """Whether the file is in another encoding, and converted to UTF-8."""
        self._look_ahead(1)
        return self._transcoder is not None and self._transcoder.encoding != ""

    @property
    def is_xml(self) -> bool:
        """Whether the file starts like XML."""
        self._look_ahead(1)
        return self._ahead.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"<")

    def read(self) -> bytes:
        """Return the next block; b'' at the end."""
        block, self._ahead = self.peek(), b""
        return block

    def peek(self, least: int = 1) -> bytes:
        """Return the next bytes without consuming them: `least` or more, fewer at the end."""
        self._look_ahead(least)
        if self._damage and not self._ahead:
            damage, self._damage = self._damage, None
            raise damage
        return self._ahead

    def _look_ahead(self, least: int) -> None:
        try:
            while len(self._ahead) < least and (block := next(self._blocks, b"")):
                self._ahead += block
        except Damaged as damage:
            self._damage = damage

    def _converted(self) -> Iterator[bytes]:
        """Yield blocks in UTF-8; the encoding is detected by the start of the file."""
        blocks, head, damage = self._unpacked(), b"", None
        try:
            while len(head) < HEAD_BYTES and (block := next(blocks, b"")):
                head += block
        except Damaged as error:
            damage = error
        if transcoder := Transcoder.of(head):
            self._transcoder, head = transcoder, transcoder.converted(head)
        if head:
            yield head
        if damage:
            raise damage
        for block in blocks:
            if converted := self._transcoder.converted(block) if self._transcoder else block:
                yield converted
        if self._transcoder and (rest := self._transcoder.converted(b"", final=True)):
            yield rest

    def _unpacked(self) -> Iterator[bytes]:
        unpacked_bytes = 0
        while True:
            try:
                block = self._opened.read1(BLOCK_BYTES)
            except Exception as error:  # noqa: BLE001  (zlib, zipfile, pyarrow, the hub's client)
                raise Damaged(f"the file ends early here: {reason(error)}") from None
            if not block:
                return
            unpacked_bytes += len(block)
            if self._packed_bytes and is_bomb(unpacked_bytes, self._packed_bytes):
                raise Damaged(
                    f"the file unpacks to more than {BOMB_RATIO} times its size; reading stops here"
                )
            yield block


@dataclass(slots=True)
class Progress:
    """The bytes read from disk, as stored."""

    finished: int = 0
    size: int = 0  # of the open file
    start: int = 0  # place of a member in its archive
    raw: Any = None  # the open file or archive

    @property
    def bytes(self) -> int:
        """The bytes of the finished files and of the open one."""
        place = self.raw.tell() - self.start if self.raw and not self.raw.closed else 0
        return self.finished + max(0, min(place, self.size))


def open_streams(
    files: Iterable[CorpusFile], progress: Progress
) -> Iterator[tuple[CorpusFile, Stream | str]]:
    """Yield each file that is not empty with its stream, or with the reason why it cannot be read.

    A stream is closed when the next one is requested. An archive stays open for its members.
    """
    for path, group in groupby((file for file in files if file.size or file.problem), lambda file: file.path):
        with ExitStack() as outer:
            archive: zipfile.ZipFile | None = None
            for file in group:
                if file.problem:
                    yield file, file.problem
                    continue
                with ExitStack() as inner:
                    try:
                        opened: Any = inner.enter_context(open_hub_file(path)) if on_hub(path) else None
                        if opened is None and archive is None:
                            opened = outer.enter_context(open_regular(Path(path)))
                            progress.raw = opened.raw
                        if file.member:
                            archive = archive or outer.enter_context(zipfile.ZipFile(opened))
                            opened = inner.enter_context(archive.open(file.member))
                        progress.size, progress.start = file.size, progress.raw.tell() if file.member else 0
                        stream: Stream | str = _stream(file, opened, inner)
                    except Exception as error:  # noqa: BLE001  (as above)
                        stream = f"the file cannot be read: {reason(error)}"
                    yield file, stream
                progress.finished, progress.size = progress.finished + file.size, 0
        progress.raw = None


def _stream(file: CorpusFile, opened: Any, stack: ExitStack) -> Stream:
    """Return the stream of an open file, decompressed."""
    packed_bytes = 0
    if not file.member and (file.name.lower().endswith(".gz") or opened.peek(2)[:2] == GZIP_MAGIC):
        opened = stack.enter_context(gzip.GzipFile(fileobj=opened, mode="rb"))
        packed_bytes = file.size
    if ending_of(file.name) in PARQUET_ENDINGS:
        opened = ParquetLines(opened)
    return Stream(file.name, opened, packed_bytes, root=file.root)


def with_members(file: CorpusFile, endings: Collection[str]) -> list[CorpusFile]:
    """Return the corpus members of a zip archive, refused ones with a problem; any other file alone."""
    is_zip = is_archive(file.path) or (not ending_of(file.path) and zipfile.is_zipfile(file.path))
    if file.problem or not is_zip or not file.size:
        return [replace(file, root=file.root or str(Path(file.path).parent))]
    file = replace(file, root=file.root or file.path)
    try:
        with open_regular(Path(file.path)) as opened, zipfile.ZipFile(opened) as archive:
            members = {member.filename: member for member in archive.infolist() if not member.is_dir()}
    except Exception as error:  # noqa: BLE001  (as above)
        return [replace(file, problem=f"the archive cannot be opened: {reason(error)}")]
    unsafe = sorted(filter(_leads_outside, members))
    found = [replace(file, member=name, problem="the path leads out of the archive") for name in unsafe]
    unpacked_bytes = 0
    for name, copies in corpus_names(members.keys() - unsafe, endings).items():
        first, *others = (_member(file, members[each]) for each in (name, *copies))
        unpacked_bytes += 0 if first.problem else members[name].file_size
        if is_bomb(unpacked_bytes, file.size):
            problem = f"the archive unpacks to more than {BOMB_RATIO} times its size; reading stops here"
            return [*found, replace(file, member=name, problem=problem)]
        found.append(replace(first, copies=tuple(others)))
    return found


def _member(file: CorpusFile, member: zipfile.ZipInfo) -> CorpusFile:
    """Return a member; its declared size is reliable, as zipfile reads no more."""
    problem = ""
    if member.flag_bits & ENCRYPTED:
        problem = "the member is encrypted"
    elif is_archive(member.filename) or member.filename.lower().endswith(".gz"):
        problem = "an archive inside an archive; unpack it first"
    elif is_bomb(member.file_size, member.compress_size):
        problem = f"the member unpacks to {member.file_size} bytes, more than {BOMB_RATIO} times its size"
    return replace(file, member=member.filename, size=member.compress_size, problem=problem)


def is_bomb(unpacked_bytes: int, packed_bytes: int) -> bool:
    """Check whether compressed data of a size unpacks to too much."""
    return unpacked_bytes > max(BOMB_BYTES, BOMB_RATIO * packed_bytes)


def _leads_outside(member_name: str) -> bool:
    parts = re.split(r"[/\\]", member_name)
    return parts[0] == "" or parts[0].endswith(":") or ".." in parts


def reason(error: Exception) -> str:
    """Describe an error of the system or of a decompressor in one line."""
    return getattr(error, "strerror", None) or (str(error) or type(error).__name__).splitlines()[0]
