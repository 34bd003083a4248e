"""Records of OAI-PMH responses (version 2.0): a header with the identifier, and the metadata in a format."""

import unicodedata
from collections.abc import Callable, Iterator
from typing import Any
from xml.etree.ElementTree import Element

from indexer.corpora.papers import FORBIDDEN_IN_IDENTIFIERS
from indexer.corpora.readers.items import DeadLetter, Item, admitted
from indexer.corpora.readers.streams import Stream
from indexer.corpora.readers.xml_records import elements_named, start_of, text_in

RECORD = "record"


def paper_id(identifier: str) -> str:
    """Return the id of a record's paper: its identifier, composed, with white space as %20."""
    return FORBIDDEN_IN_IDENTIFIERS.sub(
        lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()),
        unicodedata.normalize("NFC", identifier),
    )


def is_deleted(record: Element) -> bool:
    """Check for a deleted record, which has no metadata."""
    header = record.find("header")
    return header is not None and header.get("status") == "deleted"


def identifier_of(record: Element) -> str:
    """Return the identifier in the header of a record, "" if it is not a record of OAI-PMH."""
    return text_in(record, "header/identifier")


def payloads(
    stream: Stream, name: str, record_of: Callable[[Element, str, Stream], dict[str, Any]]
) -> Iterator[Item]:
    """Read the elements called `name`, in the records of OAI-PMH responses or alone; skip deleted records.

    `record_of` converts an element, given its OAI identifier or "".
    """
    for found in elements_named(stream, {RECORD, name}):
        if isinstance(found, DeadLetter):
            yield found
            continue
        line, element = found
        identifier = identifier_of(element) if element.tag == RECORD else ""
        if is_deleted(element):
            continue
        inner = element.find(f"metadata/{name}") if identifier else None
        record = record_of(element if inner is None else inner, identifier, stream)
        yield admitted(record, stream.name, line, start_of(element))
