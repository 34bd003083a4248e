"""Corpus files as streams of decompressed bytes in UTF-8, and their lines.

Encodings: UTF-8, UTF-16 (Excel's Unicode text), CP949 (Excel's for Korean CSV); lines may end with a carriage
return alone (Excel for Mac).
"""

import codecs
import gzip
import io
import re
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, groupby
from pathlib import Path
from typing import Any

from base.files.regular_files import open_regular
from indexer.corpora.readers.files import (
    BOMB,
    FORMATS_OF_DOCUMENTS,
    PARQUET_ENDINGS,
    CorpusFile,
    ending_of,
    is_bomb,
    why,
)
from indexer.corpora.readers.hub import on_hub, open_hub_file
from indexer.corpora.readers.items import HEAD_BYTES
from indexer.corpora.readers.parquet import ParquetLines

BLOCK_BYTES = 1 << 18
EXAMINED_BYTES = 1 << 16  # of the encoding and the format
LINE_BYTES = 64 << 20
GZIP_MAGIC = b"\x1f\x8b"
UTF16_SHARE, UTF16_TIMES = 0.1, 4  # of NUL bytes in a file of UTF-16, and in one half of its bytes
LEAST_KOREAN = 10  # characters, below which CP949 is not assumed
STANDARD_SHARE, STANDARD_BYTES = 0.95, 2  # of the characters in KS X 1001; bytes of one in EUC-KR
# Frequent syllables, about half of Korean text, and their least share: other encodings give arbitrary ones.
FREQUENT = frozenset(
    "이다는의에을가고한를은로하기사지어도서자인대정그나시과해일있리수전제들보으조부동성구상생경학적용연화관"
)
FREQUENT_SHARE = 0.25
CARRIAGE_RETURN = re.compile(rb"\r(?!\n|$)")
BINARY = re.compile(rb"%PDF-|\0\0\0")
CONVERT = "convert the file to UTF-8 (iconv -f CP949 -t UTF-8, Western texts: -f CP1252)"


class Stream:
    """The decompressed bytes of one corpus file in UTF-8; `problem` is the reason if they end early."""

    def __init__(
        self, name: str, opened: Any, packed_bytes: int = 0, *, root: str = "", refused: str = ""
    ) -> None:
        """Wrap an open file with `read1`, which the caller closes.

        `packed_bytes` limits the decompressed size; `root` is the folder or archive of the corpus; `refused`
        is the reason why the file cannot be read.
        """
        self.refused = refused
        self.name = name
        self.name_in_corpus = name.removeprefix(root).lstrip("/")
        self.ending = ending_of(name)
        self.problem = ""
        self.encoding = ""  # other than UTF-8, known after the first bytes
        self._opened, self._packed_bytes = opened, packed_bytes
        self._blocks = self._converted()
        self._ahead = b""

    @property
    def is_xml(self) -> bool:
        """Whether the file starts like XML."""
        return self.peek().removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"<")

    def read(self) -> bytes:
        """Return the next block; b'' at the end."""
        block, self._ahead = self.peek(), b""
        return block

    def peek(self, least: int = 1) -> bytes:
        """Return the next bytes without consuming them: `least` or more, fewer at the end."""
        while len(self._ahead) < least and (block := next(self._blocks, b"")):
            self._ahead += block
        return self._ahead

    def lines(self, *, blank: bool = False) -> Iterator[tuple[int, bytes, str]]:
        """Yield (number from 1, line without its line feed, problem or ''), blank lines only on request.

        Of a line over 64 MiB only the head is kept. If the stream ends early, the incomplete line is the last
        one. A byte order mark at the start is dropped.
        """
        number, begun, problem = 0, bytearray(), ""
        if self.peek(len(codecs.BOM_UTF8)).startswith(codecs.BOM_UTF8):
            self._ahead = self._ahead.removeprefix(codecs.BOM_UTF8)
        while block := self.read():
            *lines, last = block.split(b"\n")
            for line in lines:
                number += 1
                if begun:
                    problem = problem or _too_long(len(begun) + len(line))
                    line = bytes(begun) + (b"" if problem else line)  # noqa: PLW2901
                    begun.clear()
                if problem or blank or (line and not line.isspace()):
                    yield number, line, problem
                problem = ""
            if not problem:
                begun += last
            if problem := problem or _too_long(len(begun)):
                del begun[HEAD_BYTES:]
        if self.problem or problem or (begun if blank else begun.strip()):
            yield number + 1, bytes(begun), self.problem or problem

    def _converted(self) -> Iterator[bytes]:
        """Yield blocks in UTF-8 with line feeds. Invalid bytes stay, so that readers report their lines."""
        blocks, head = self._unpacked(), b""
        while len(head) < EXAMINED_BYTES and (block := next(blocks, b"")):
            head += block
        self.encoding = encoding_of(head)
        if not self.encoding and (BINARY.search(head[:1024]) or not CARRIAGE_RETURN.search(head)):
            yield from filter(None, chain([head], blocks))
            return
        errors = "replace" if self.encoding.startswith("utf-16") else "surrogateescape"
        decoder: Any = codecs.getincrementaldecoder(self.encoding or "utf-8")(errors)
        decoder = io.IncrementalNewlineDecoder(decoder, translate=True)
        for block in chain([head], blocks, [b""]):
            if text := decoder.decode(block, final=not block):
                yield text.encode("utf-8", "surrogateescape")

    def _unpacked(self) -> Iterator[bytes]:
        unpacked_bytes = 0
        while True:
            try:
                block = self._opened.read1(BLOCK_BYTES)
            except Exception as error:  # noqa: BLE001  (zlib, zipfile, pyarrow, the hub's client)
                self.problem = f"the file ends early here: {why(error)}"
                return
            if not block:
                return
            unpacked_bytes += len(block)
            if self._packed_bytes and is_bomb(unpacked_bytes, self._packed_bytes):
                self.problem = f"the file {BOMB}"
                return
            yield block


def _too_long(length: int) -> str:
    return f"a line of more than {LINE_BYTES} bytes" if length > LINE_BYTES else ""


def encoding_of(head: bytes) -> str:
    """Return the encoding of a file by its start: "utf-16", "cp949", …, or "" for UTF-8 and everything else.

    Bytes are CP949 if they are no UTF-8, nearly all of their characters beyond ASCII are valid and in
    KS X 1001, and many are frequent syllables, which other encodings of East Asia give by chance.
    """
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    even, odd = head[::2].count(0), head[1::2].count(0)
    if max(even, odd) > UTF16_SHARE * len(head) and max(even, odd) > UTF16_TIMES * min(even, odd):
        return "utf-16-le" if odd > even else "utf-16-be"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)  # the last character may be incomplete
    except UnicodeDecodeError:
        return "cp949" if _is_cp949(head) else ""
    return ""


def _is_cp949(head: bytes) -> bool:
    characters = [each for each in head.decode("cp949", "surrogateescape") if not each.isascii()]
    standard = sum(len(each.encode("euc_kr", "ignore")) == STANDARD_BYTES for each in characters)
    frequent = sum(each in FREQUENT for each in characters)
    is_korean = standard >= max(LEAST_KOREAN, STANDARD_SHARE * len(characters))
    return is_korean and frequent >= FREQUENT_SHARE * len(characters)


@dataclass(slots=True)
class Progress:
    """The bytes read from disk, as stored."""

    finished: int = 0
    raw: Any = None  # the open file

    @property
    def bytes(self) -> int:
        """The bytes of the finished files and of the open one."""
        return self.finished + (self.raw.tell() if self.raw and not self.raw.closed else 0)


def open_streams(files: Iterable[CorpusFile], progress: Progress) -> Iterator[tuple[CorpusFile, Stream]]:
    """Yield each file with its stream; no empty file of records.

    A stream is closed when the next one is requested. An archive stays open for its members.
    """
    present = (file for file in files if file.size or file.problem or file.format in FORMATS_OF_DOCUMENTS)
    for path, group in groupby(present, lambda file: file.path):
        with ExitStack() as outer:
            archive: zipfile.ZipFile | None = None
            for file in group:
                with ExitStack() as inner:
                    try:
                        if file.member and not file.problem:
                            archive = archive or _archive(path, outer)
                        stream = _stream(file, archive, inner, progress)
                    except Exception as error:  # noqa: BLE001  (as above)
                        stream = Stream(file.name, None, refused=f"the file cannot be read: {why(error)}")
                    yield file, stream
                progress.finished, progress.raw = progress.finished + file.size, None


def _archive(path: str, stack: ExitStack) -> zipfile.ZipFile:
    return stack.enter_context(zipfile.ZipFile(stack.enter_context(open_regular(Path(path)))))


def _stream(
    file: CorpusFile, archive: zipfile.ZipFile | None, stack: ExitStack, progress: Progress
) -> Stream:
    """Open a file, or a member of an archive, as a stream of decompressed bytes."""
    if file.problem:
        return Stream(file.name, None, refused=file.problem)
    opened: Any
    packed_bytes = 0
    if archive:
        opened = stack.enter_context(archive.open(file.member))
    else:
        opened = open_hub_file(file.path) if on_hub(file.path) else open_regular(Path(file.path))
        progress.raw = stack.enter_context(opened).raw
        if file.name.lower().endswith(".gz") or opened.peek(2)[:2] == GZIP_MAGIC:
            opened = stack.enter_context(gzip.GzipFile(fileobj=opened, mode="rb"))
            packed_bytes = file.size
    if ending_of(file.name) in PARQUET_ENDINGS:
        opened = ParquetLines(opened)
    return Stream(file.name, opened, packed_bytes, root=file.root)
