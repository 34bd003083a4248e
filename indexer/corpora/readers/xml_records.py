"""Records of XML files, parsed in pieces: neither a file nor anything outside of records is held in memory.

Entities declared in a file are refused, external ones are never read, and nesting is bounded. The named
characters of HTML, which the DTDs of JATS and PubMed declare, are known. Names have no namespace.
"""

import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping
from html.entities import html5
from typing import Any
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, tostring

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import XMLParser

from indexer.corpora.papers import FORBIDDEN_IN_IDENTIFIERS
from indexer.corpora.readers.items import Found, Unreadable
from indexer.corpora.readers.streams import LINE_BYTES, Stream

RECORD = "record"  # of OAI-PMH
NESTING = 200
HEAD_CHARACTERS = 200
NAMED_CHARACTERS = {name.removesuffix(";"): text for name, text in html5.items()}
# Elements that end a word, and those whose text repeats that of others.
BLOCKS = frozenset("p title sec list-item break br label disp-formula AbstractText".split())
ANNOTATIONS = frozenset({"annotation", "annotation-xml"})


class _Elements:
    """Target of the parser: collects the outermost elements with given names as (line, tree)."""

    def __init__(self, names: Collection[str]) -> None:
        self.parser: Any = None
        self.records: list[tuple[int, Element]] = []
        self.is_inside = False
        self._names = names
        self._depth = self._record_depth = self._line = 0
        self._builder = TreeBuilder()

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._depth += 1
        if self._depth > NESTING:
            raise Unreadable(f"elements nested deeper than {NESTING} levels")
        tag = _local(tag)
        if not self.is_inside and tag in self._names:
            self.is_inside, self._builder, self._record_depth = True, TreeBuilder(), self._depth
            self._line = self.parser.parser.CurrentLineNumber
        if self.is_inside:
            self._builder.start(tag, {_local(name): text for name, text in attributes.items()})

    def data(self, text: str) -> None:
        if self.is_inside:
            self._builder.data(text)

    def end(self, tag: str) -> None:
        if self.is_inside:
            self._builder.end(_local(tag))
            if self._depth == self._record_depth:
                self.records.append((self._line, self._builder.close()))
                self.is_inside = False
        self._depth -= 1

    def close(self) -> None:
        pass


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def elements_named(
    stream: Stream, names: Collection[str], *, forbid_doctype: bool = False
) -> Iterator[tuple[int, Element]]:
    """Yield (line from 1, tree) of each outermost element with one of the names, in any namespace.

    Raises `Unreadable` after the last element before an error.
    """
    target, head, problem, line = _Elements(names), stream.peek(), "", 0
    encoding = "utf-8" if stream.encoding else None  # instead of the declared one
    read_bytes = unfinished_bytes = 0
    try:
        target.parser = parser = XMLParser(target=target, forbid_dtd=forbid_doctype, encoding=encoding)
        parser.entity.update(NAMED_CHARACTERS)
        while block := stream.read():
            parser.feed(block)
            yield from target.records
            target.records.clear()
            read_bytes += len(block)
            unfinished_bytes = unfinished_bytes + len(block) if target.is_inside else 0
            # The parser holds unfinished comments and tags.
            if max(unfinished_bytes, read_bytes - parser.parser.CurrentByteIndex) > LINE_BYTES:
                raise Unreadable(f"a record, comment or tag of more than {LINE_BYTES} bytes")  # noqa: TRY301
        if not (problem := stream.problem):
            parser.close()
    except DefusedXmlException:
        what = "a DOCTYPE or custom entities" if forbid_doctype else "custom entities"
        problem = f"XML with {what} is refused"
    except Unreadable as error:
        problem = str(error)
    except ParseError as error:
        problem, line = f"invalid XML: {error}", error.position[0]
    except (ValueError, LookupError) as error:
        problem = f"XML in an encoding that cannot be read: {error}"
    yield from target.records
    if problem:
        raise Unreadable(problem, line, head)


def payloads(
    stream: Stream, names: Collection[str], record_of: Callable[[Element, str, Stream], dict[str, Any]]
) -> Iterator[Found]:
    """Read the elements with some names, alone or in the records of OAI-PMH responses (2.0).

    `record_of` converts an element, given the id of its OAI record or "". Deleted records are skipped.
    """
    for line, element in elements_named(stream, {RECORD, *names}):
        header = element.find("header") if element.tag == RECORD else None
        if header is not None and header.get("status") == "deleted":
            continue
        inner = next((each for name in names for each in element.iterfind(f".//{name}")), None)
        payload = element if inner is None or element.tag in {*names} - {RECORD} else inner
        record = record_of(payload, paper_id(text_in(header, "identifier")), stream)
        is_empty = record.keys() <= {"id", "lang"}
        reason = f"the record has no values: <{'> or <'.join(names)}> is expected" if is_empty else ""
        yield line, start_of(element), reason or record


def paper_id(identifier: str) -> str:
    """Return the id of a repository's record: its identifier, composed, with white space as %20."""
    return FORBIDDEN_IN_IDENTIFIERS.sub(
        lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()),
        unicodedata.normalize("NFC", identifier),
    )


def text_in(element: Element | None, path: str = "", without: Collection[str] = ()) -> str:
    """Return the text within an element, or within its first descendant at a path, on one line.

    Elements named in `without`, and annotations of formulas, are left out.
    """
    found = element.find(path) if element is not None and path else element
    return "" if found is None else " ".join("".join(_pieces(found, {*ANNOTATIONS, *without})).split())


def _pieces(element: Element, without: Collection[str], *, is_formula: bool = False) -> Iterator[str]:
    """Yield the texts of an element; the white space of formulas is layout."""
    is_formula = is_formula or element.tag == "math"
    edge = " " if element.tag in BLOCKS else ""
    names = {child.tag for child in element}
    skipped = {*without, "tex-math"} if "math" in names else without
    yield edge
    yield _piece(element.text, is_formula=is_formula)
    for child in element:
        if child.tag not in skipped:
            yield from _pieces(child, without, is_formula=is_formula)
        yield _piece(child.tail, is_formula=is_formula)
    yield edge


def _piece(text: str | None, *, is_formula: bool) -> str:
    return (text.strip() if is_formula else text) if text else ""


def texts_in(element: Element | None, path: str) -> list[str]:
    """Return the texts of all descendants at a path that have one."""
    return [] if element is None else list(filter(None, map(text_in, element.iterfind(path))))


def start_of(element: Element) -> bytes:
    """Return the start of an element for a dead letter."""
    return tostring(element, encoding="unicode")[:HEAD_CHARACTERS].encode("utf-8", "backslashreplace")
