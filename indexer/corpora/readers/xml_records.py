"""Records of XML files, parsed in pieces: neither a file nor anything outside of records is held in memory.

Entities declared in a file are refused, external ones are never read, and nesting is bounded. The named
characters of HTML, which the DTDs of JATS and PubMed declare, are known.
"""

from collections.abc import Collection, Iterator, Mapping
from html.entities import html5
from typing import Any, Protocol
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, tostring

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import XMLParser

from indexer.corpora.readers.items import DeadLetter, dead_letter
from indexer.corpora.readers.lines import LINE_BYTES
from indexer.corpora.readers.streams import Damaged, Stream

NESTING = 200
HEAD_CHARACTERS = 200
NAMED_CHARACTERS = {name.removesuffix(";"): text for name, text in html5.items()}


class Refused(Exception):
    """The rest of the file is unreadable; the message is the reason."""


class Target(Protocol):
    """A target of the parser, which collects records as (line, record)."""

    parser: Any
    records: list[tuple[int, Any]]

    @property
    def is_inside(self) -> bool:
        """Whether a record has started and not ended."""
        ...


class Elements:
    """Collects the outermost elements with given names, as trees. Names of tags have no namespace."""

    def __init__(self, names: Collection[str]) -> None:
        """Collect elements by name."""
        self.parser: Any = None
        self.records: list[tuple[int, Element]] = []
        self._names = names
        self._depth = self._record_depth = self._line = 0
        self._builder: TreeBuilder | None = None

    @property
    def is_inside(self) -> bool:
        """Whether a record has started and not ended."""
        return self._builder is not None

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Start an element."""
        self._depth += 1
        if self._depth > NESTING:
            raise Refused(f"elements nested deeper than {NESTING} levels")
        tag = without_namespace(tag)
        if self._builder is None and tag in self._names:
            self._builder, self._record_depth = TreeBuilder(), self._depth
            self._line = self.parser.parser.CurrentLineNumber
        if self._builder is not None:
            self._builder.start(tag, {without_namespace(name): text for name, text in attributes.items()})

    def data(self, text: str) -> None:
        """Add text."""
        if self._builder is not None:
            self._builder.data(text)

    def end(self, tag: str) -> None:
        """End an element."""
        if self._builder is not None:
            self._builder.end(without_namespace(tag))
            if self._depth == self._record_depth:
                self.records.append((self._line, self._builder.close()))
                self._builder = None
        self._depth -= 1

    def close(self) -> None:
        """End the document."""


def without_namespace(name: str) -> str:
    """Return the local name of a tag or attribute."""
    return name.rpartition("}")[2]


def text_in(element: Element | None, path: str = "") -> str:
    """Return the text within an element, or within its first descendant at a path, on one line."""
    found = element.find(path) if element is not None and path else element
    return "" if found is None else " ".join("".join(found.itertext()).split())


def texts_in(element: Element | None, path: str) -> list[str]:
    """Return the texts of all descendants at a path that have one."""
    return [] if element is None else list(filter(None, map(text_in, element.iterfind(path))))


def start_of(element: Element) -> bytes:
    """Return the start of an element for a dead letter."""
    return tostring(element, encoding="unicode")[:HEAD_CHARACTERS].encode("utf-8", "backslashreplace")


def elements_named(stream: Stream, names: Collection[str]) -> Iterator[tuple[int, Element] | DeadLetter]:
    """Yield (line from 1, tree) of each outermost element with one of the names, in any namespace.

    An error is a dead letter, after which nothing more is read.
    """
    yield from parsed(stream, Elements(names))


def parsed(
    stream: Stream, target: Target, *, forbid_doctype: bool = False
) -> Iterator[tuple[int, Any] | DeadLetter]:
    """Yield the records that the target collects; the rest of the file after an error is one dead letter."""
    try:
        head = stream.peek()
    except Damaged as error:
        yield dead_letter(stream.name, 0, str(error))
        return
    encoding = "utf-8" if stream.is_transcoded else None  # instead of the declared one
    target.parser = parser = XMLParser(target=target, forbid_dtd=forbid_doctype, encoding=encoding)
    parser.entity.update(NAMED_CHARACTERS)
    read_bytes = unfinished_bytes = 0
    problem, line = "", 0
    while not problem:
        try:
            block = stream.read()
            if not block:
                parser.close()
                return
            parser.feed(block)
            read_bytes += len(block)
            unfinished_bytes = unfinished_bytes + len(block) if target.is_inside else 0
            # The parser holds unfinished comments and tags.
            if max(unfinished_bytes, read_bytes - parser.parser.CurrentByteIndex) > LINE_BYTES:
                problem = f"a record, comment or tag of more than {LINE_BYTES} bytes"
        except DefusedXmlException:
            what = "a DOCTYPE or custom entities" if forbid_doctype else "custom entities"
            problem = f"XML with {what} is refused"
        except (Refused, Damaged) as error:
            problem = str(error)
        except ParseError as error:
            problem, line = f"invalid XML: {error}", error.position[0]
        except (ValueError, LookupError) as error:
            problem = f"XML in an encoding that cannot be read: {error}"
        yield from target.records
        target.records.clear()
    yield dead_letter(stream.name, line, problem, head)
