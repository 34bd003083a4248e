"""Records of XML files: alone, or in OAI-PMH responses (2.0) with an identifier in their headers."""

import unicodedata
from collections.abc import Callable, Collection, Iterator
from typing import Any
from xml.etree.ElementTree import Element

from indexer.corpora.papers import FORBIDDEN_IN_IDENTIFIERS
from indexer.corpora.readers.items import DeadLetter, Item, dead_letter, make_item
from indexer.corpora.readers.streams import Stream
from indexer.corpora.readers.xml_records import elements_named, start_of, text_in

RECORD = "record"


def paper_id(identifier: str) -> str:
    """Return the id of a record's paper: its identifier, composed, with white space as %20."""
    return FORBIDDEN_IN_IDENTIFIERS.sub(
        lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()),
        unicodedata.normalize("NFC", identifier),
    )


def payloads(
    stream: Stream, names: Collection[str], record_of: Callable[[Element, str, Stream], dict[str, Any]]
) -> Iterator[Item]:
    """Read the elements with some names, in the records of OAI-PMH responses or alone; skip deleted records.

    `record_of` converts an element, given the id of its OAI record or "".
    """
    for found in elements_named(stream, {RECORD, *names}):
        if isinstance(found, DeadLetter):
            yield found
            continue
        line, element = found
        header = element.find("header") if element.tag == RECORD else None
        if header is not None and header.get("status") == "deleted":
            continue
        inner = next((each for name in names for each in element.iterfind(f".//{name}")), None)
        payload = element if inner is None or element.tag in {*names} - {RECORD} else inner
        record = record_of(payload, paper_id(text_in(header, "identifier")), stream)
        if record.keys() <= {"id", "lang"}:
            reason = f"the record has no values: <{'> or <'.join(names)}> is expected"
            yield dead_letter(stream.name, line, reason, start_of(element))
        else:
            yield make_item(record, stream.name, line, start_of(element))
