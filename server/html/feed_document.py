"""Atom feeds (RFC 4287) of papers.

A feed has no link to itself: the address contains a key, which a copy of the document would pass on. The ids
of feeds and papers do not contain addresses, so they stay the same if the server moves.
"""

import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from base.versions import installed_version
from retriever.reference import one_line, reference_of, web_address
from server.addresses import paper_address

MEDIA_TYPE = "application/atom+xml"
LONGEST_ABSTRACT = 5_000  # characters
XMLNS = "http://www.w3.org/2005/Atom"


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """A paper's record, and the time at which the search first found it."""

    record: Mapping[str, Any]
    found: str


@dataclass(frozen=True, slots=True)
class FeedDocument:
    """A feed; times are ISO 8601, in UTC."""

    id: str  # 32 hexadecimal digits
    title: str
    index: str
    page: str  # address of the search's page
    updated: str
    entries: Sequence[FeedEntry]

    def encoded(self, public: str) -> bytes:
        """Return the document; `public` is the address of the server, without a slash at the end."""
        feed = ET.Element("feed", {"xmlns": XMLNS})
        _add(feed, "id", UUID(hex=self.id).urn)
        _add(feed, "title", self.title)
        _add(feed, "subtitle", self.index)
        _add(feed, "updated", self.updated)
        _add(ET.SubElement(feed, "author"), "name", "SHRAG")
        _add(feed, "generator", "SHRAG", version=installed_version("shrag"))
        ET.SubElement(feed, "link", {"rel": "alternate", "type": "text/html", "href": public + self.page})
        for entry in self.entries:
            _add_paper(ET.SubElement(feed, "entry"), entry, self.index, public)
        ET.indent(feed)
        content: bytes = ET.tostring(feed, "utf-8", xml_declaration=True)
        return content + b"\n"


def paper_urn(doc_id: str, index: str) -> str:
    """Return the id of a paper in feeds."""
    return uuid5(NAMESPACE_URL, paper_address(doc_id, index)).urn


def _add_paper(entry: ET.Element, of: FeedEntry, index: str, public: str) -> None:
    reference = reference_of(of.record)
    doc_id = str(of.record["doc_id"])
    _add(entry, "id", paper_urn(doc_id, index))
    _add(entry, "title", reference.title or doc_id)
    _add(entry, "updated", of.found)
    for author in of.record.get("authors") or ():  # as written, not split into parts
        _add(ET.SubElement(entry, "author"), "name", str(author))
    address = public + paper_address(doc_id, index)
    ET.SubElement(entry, "link", {"rel": "alternate", "type": "text/html", "href": address})
    if web := web_address(of.record):
        ET.SubElement(entry, "link", {"rel": "related", "href": web})
    published = ", ".join(filter(None, (reference.journal, str(reference.year or ""))))
    if text := "\n\n".join(filter(None, (published, reference.abstract[:LONGEST_ABSTRACT]))):
        _add(entry, "summary", text, keep_lines=True)


def _add(parent: ET.Element, tag: str, text: str, *, keep_lines: bool = False, **attributes: str) -> None:
    """Add an element with text, without characters that XML does not allow."""
    lines = text.split("\n") if keep_lines else [text]
    ET.SubElement(parent, tag, attributes).text = "\n".join(map(one_line, lines))
