"""One record of a repository in XML as a paper, by the reader of its format."""

import io
from xml.sax.saxutils import escape

from indexer.corpora.papers import Paper
from indexer.corpora.readers import READERS
from indexer.corpora.readers.detection import format_of
from indexer.corpora.readers.items import DeadLetter, Item, dead_letter, make_item
from indexer.corpora.readers.oai import paper_id
from indexer.corpora.readers.streams import Stream
from indexer.errors import UnknownFormat


def read_metadata(metadata: bytes, identifier: str, source: str) -> Item:
    """Read the XML of a record; return its paper, or a dead letter.

    Args:
        metadata: one element with its content, in UTF-8.
        identifier: of the record, which becomes the id of the paper.
        source: name of the repository, for papers without a source.
    """
    try:
        format_ = format_of(_stream(metadata, identifier)) or ""
    except UnknownFormat as error:
        return dead_letter(identifier, 0, f"no reader for it: {error}", metadata)
    if format_ not in READERS:
        return dead_letter(identifier, 0, "its metadata are not XML", metadata)
    header = f"<record><header><identifier>{escape(identifier)}</identifier></header><metadata>"
    record = header.encode("utf-8", "replace") + metadata + b"</metadata></record>"
    item = next(READERS[format_](_stream(record, identifier)), None)
    if not isinstance(item, Paper):
        reason = item.reason if isinstance(item, DeadLetter) else "there is no record"
        return dead_letter(identifier, 0, f"it cannot be read as {format_}: {reason}", metadata)
    if not (item.title or item.abstract):
        return dead_letter(identifier, 0, "no title and no description", metadata)
    values = {"source": source, **item.model_dump(exclude_unset=True), "id": paper_id(identifier)}
    return make_item(values, identifier, 0, metadata)


def _stream(metadata: bytes, identifier: str) -> Stream:
    return Stream(f"{identifier}.xml", io.BytesIO(metadata))
