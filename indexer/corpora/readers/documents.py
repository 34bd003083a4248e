"""Corpora of documents: one paper per file, with the file name as id."""

from pathlib import PurePosixPath

from indexer.corpora.papers import FORBIDDEN_IN_IDENTIFIERS
from indexer.corpora.readers.folders import ENDINGS
from indexer.corpora.readers.lines import BYTE_ORDER_MARK
from indexer.corpora.readers.streams import Damaged, Stream

TEXT_BYTES = 8 << 20


class NoDocument(ValueError):
    """The file is not a paper; the message is the reason."""


def document_id(stream: Stream) -> str:
    """Return the file's name below the corpus folder without its ending, with `_` for invalid characters."""
    name = stream.name_in_corpus.removesuffix(".gz")
    path = PurePosixPath(name)
    stem = str(path.with_suffix("")) if path.suffix.lower() in ENDINGS else name
    return FORBIDDEN_IN_IDENTIFIERS.sub("_", stem)


def read_whole(stream: Stream, most_bytes: int) -> bytes:
    """Return all bytes of a file. Raises `NoDocument` for larger or damaged files."""
    blocks: list[bytes] = []
    length = 0
    try:
        while block := stream.read():
            blocks.append(block)
            length += len(block)
            if length > most_bytes:
                raise NoDocument(f"a file of more than {most_bytes >> 20} MB")
    except Damaged as error:
        raise NoDocument(str(error)) from None
    return b"".join(blocks)


def read_utf8(stream: Stream) -> str:
    """Return a text. Raises `NoDocument`."""
    data = read_whole(stream, TEXT_BYTES).removeprefix(BYTE_ORDER_MARK)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NoDocument(
            f"invalid UTF-8 at byte {error.start + 1}: convert it first (iconv -f CP949 -t UTF-8)"
        ) from None
    if not text.strip():
        raise NoDocument("the file is empty")
    return text
