"""Files of Dublin Core: `oai_dc` records of saved OAI-PMH responses, or elements `dc` alone."""

from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element

from indexer.corpora.readers.bibliography import record_id
from indexer.corpora.readers.items import Item
from indexer.corpora.readers.oai import paper_id, payloads
from indexer.corpora.readers.oai_dc import paper_record
from indexer.corpora.readers.streams import Stream


def read_dublin_core(stream: Stream) -> Iterator[Item]:
    """Read the records of a file."""
    return payloads(stream, "dc", _record_of)


def _record_of(element: Element, identifier: str, stream: Stream) -> dict[str, Any]:
    """Return the record of an element `dc`; `identifier` is that of OAI-PMH, or ""."""
    record = paper_record(element, identifier=paper_id(identifier))
    if not identifier:
        key = next(iter(record.get("identifiers", ())), "")
        content = (record.get("title", ""), record.get("abstract", ""))
        record["id"] = record_id(stream, doi=record.get("doi", ""), key=key, content=content)
    return record
