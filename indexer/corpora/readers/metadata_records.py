"""One record of a repository in XML as a paper: Dublin Core, or any format that has a reader."""

import io
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

from indexer.corpora.papers import Paper
from indexer.corpora.readers import READERS, oai_dc
from indexer.corpora.readers.detection import format_of
from indexer.corpora.readers.items import DeadLetter, Item, admitted, dead_letter
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
        root: Element = fromstring(metadata, forbid_dtd=True)
    except (DefusedXmlException, ParseError, ValueError) as error:
        return dead_letter(identifier, 0, f"its metadata are not valid XML: {error}", metadata)
    if oai_dc.has_elements(root):
        record = oai_dc.paper_record(root, identifier=paper_id(identifier))
        if not record.keys() & {"title", "abstract"}:
            return dead_letter(identifier, 0, "no title and no description", metadata)
        return admitted({"source": source, **record}, identifier, 0, metadata)
    return _read_by_format(root, metadata, identifier, source)


def _read_by_format(root: Element, metadata: bytes, identifier: str, source: str) -> Item:
    """Read a record with the reader of its format."""
    named = f"no reader for records <{str(root.tag)[:100]}>"
    try:
        format_ = format_of(_stream(metadata, identifier)) or ""
    except UnknownFormat:
        return dead_letter(identifier, 0, named, metadata)
    if format_ not in READERS:
        return dead_letter(identifier, 0, named, metadata)
    item = next(iter(READERS[format_](_stream(metadata, identifier))), None)
    if not isinstance(item, Paper):
        reason = item.reason if isinstance(item, DeadLetter) else "no record"
        return dead_letter(identifier, 0, f"{named}, and as {format_}: {reason}", metadata)
    record = {"source": source, **item.record(), "id": paper_id(identifier)}
    return admitted(record | ({"body": item.body} if item.body else {}), identifier, 0, metadata)


def _stream(metadata: bytes, identifier: str) -> Stream:
    return Stream(f"{identifier}.xml", io.BytesIO(metadata))
