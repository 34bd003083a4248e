"""Parser of answers: collects values outside of records, and the metadata of each record as XML.

No tree of all records is built. A record that is too large or too deep is kept without its metadata, with the
problem; the others of its page are read. Names are compared without their namespace, which some repositories
omit.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.etree.ElementTree import ParseError, TreeBuilder, tostring

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import XMLParser

from base.untrusted import one_line
from indexer.harvesting.repair import repaired

ROOT = "OAI-PMH"
LIST, IDENTIFY = "ListRecords", "Identify"
VERB_DEPTH, RECORD_DEPTH = 2, 3  # OAI-PMH/ListRecords/record
NESTING = 50
MOST_ELEMENTS = 5_000_000  # of an answer
MOST_VALUES = 10_000  # of an answer, outside of metadata
VALUE_CHARACTERS = 20_000  # of each; a resumption token may be long
ELEMENT_BYTES = 50  # added for each element to the size of a record, as it takes memory without any text


class Malformed(ValueError):
    """The answer is no valid answer of the protocol; the message is the reason."""


@dataclass(frozen=True, slots=True)
class ListedRecord:
    """A record of a page: its metadata as XML, empty if it is deleted or has a problem."""

    identifier: str
    datestamp: str = ""
    deleted: bool = False
    metadata: bytes = b""
    problem: str = ""


@dataclass(slots=True)
class ParsedAnswer:
    """The content of an answer, and the target of the XML parser that collects it."""

    record_bytes: int
    path: list[str] = field(default_factory=list)
    verb: str = ""  # the element beside responseDate and request
    values: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    errors: list[tuple[str, str]] = field(default_factory=list)
    records: list[ListedRecord] = field(default_factory=list)
    nameless: int = 0
    token_attributes: Mapping[str, str] = field(default_factory=dict)
    _elements: int = 0
    _code: str = ""
    _text: list[str] | None = None
    _room: int = 0  # for more characters of the text
    _record: dict[str, Any] | None = None
    _builder: TreeBuilder | None = None  # of the metadata
    _depth: int = 0  # of the metadata in the answer
    _size: int = 0

    def first(self, name: str) -> str:
        """Return the first value of an element, "" without one."""
        return next(iter(self.values.get(name, ())), "")

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Handle a start tag."""
        name = tag.rpartition("}")[2]
        self.path.append(name)
        self._elements += 1
        depth = len(self.path)
        if self._elements > MOST_ELEMENTS:
            raise Malformed(f"it has more than {MOST_ELEMENTS:,} elements")
        if depth == 1 and name != ROOT:
            what = "a web page" if name.lower() == "html" else f"XML with the root <{one_line(name)}>"
            raise Malformed(f"it is {what}, not an answer of the protocol")
        if self._builder is not None:
            self._start_in_metadata(tag, attributes)
            return
        if depth > NESTING:
            raise Malformed(f"elements are nested deeper than {NESTING} levels")
        if depth == VERB_DEPTH:
            self._code = attributes.get("code", "")
            self.verb = name
        elif name == "record" and depth == RECORD_DEPTH and self.verb == LIST:
            self._record = {}
        elif self._record is not None and depth == RECORD_DEPTH + 1:
            if name == "header":
                self._record["deleted"] = attributes.get("status") == "deleted"
            elif name == "metadata":
                self._builder, self._depth, self._size = TreeBuilder(), depth, 0
                self._builder.start(tag, {})
        elif name == "resumptionToken":
            self.token_attributes = dict(attributes)
        self._text, self._room = [], VALUE_CHARACTERS

    def _start_in_metadata(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._grow(ELEMENT_BYTES + len(tag) + sum(len(key) + len(value) for key, value in attributes.items()))
        if len(self.path) - self._depth > NESTING:
            self._refuse(f"its metadata are nested deeper than {NESTING} levels")
        if self._builder and not self._refused:
            self._builder.start(tag, dict(attributes))

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > self.record_bytes:
            self._refuse(f"a record of more than {self.record_bytes:,} bytes")

    def _refuse(self, problem: str) -> None:
        if self._record is not None and not self._refused:
            self._record["problem"] = problem

    @property
    def _refused(self) -> bool:
        return self._record is not None and "problem" in self._record

    def data(self, text: str) -> None:
        """Handle text."""
        if self._builder is not None:
            self._grow(len(text))
            if not self._refused:
                self._builder.data(text)
        elif self._text is not None and self._room > 0:
            self._text.append(text)
            self._room -= len(text)

    def end(self, tag: str) -> None:
        """Handle an end tag."""
        name, depth = self.path.pop(), len(self.path) + 1
        if self._builder is not None:
            if depth > self._depth:
                if not self._refused:
                    self._builder.end(tag)
                return
            self._end_metadata(tag)
        elif name == "record" and depth == RECORD_DEPTH and self._record is not None:
            self._end_record()
        elif self._text is not None:
            self._keep_value(name, "".join(self._text)[:VALUE_CHARACTERS].strip())
        self._text = None

    def _end_metadata(self, tag: str) -> None:
        if not self._refused and self._builder and self._record is not None:
            self._builder.end(tag)
            metadata = list(self._builder.close())
            if metadata:
                metadata[0].tail = None
                self._record["metadata"] = tostring(metadata[0], encoding="utf-8")
        self._builder = None

    def _keep_value(self, name: str, value: str) -> None:
        depth = len(self.path) + 1
        if self._record is not None:
            if name in {"identifier", "datestamp"} and depth == RECORD_DEPTH + 2:
                self._record.setdefault(name, value)
        elif name == "error" and depth == VERB_DEPTH:
            self.errors.append((self._code, one_line(value)))
        elif sum(map(len, self.values.values())) < MOST_VALUES:
            self.values[name].append(value)

    def _end_record(self) -> None:
        record = ListedRecord(**{"identifier": "", **(self._record or {})})
        self._record = None
        if not record.identifier:
            self.nameless += 1
        elif record.deleted:
            self.records.append(ListedRecord(record.identifier, record.datestamp, deleted=True))
        elif not record.metadata and not record.problem:
            self.records.append(ListedRecord(record.identifier, record.datestamp, problem="no metadata"))
        else:
            self.records.append(record)

    def close(self) -> None:
        """End the document."""


def parse_answer(content: bytes, record_bytes: int) -> tuple[ParsedAnswer, bool]:
    """Parse an answer; the second value is true if it had to be repaired. Raises `Malformed`."""
    try:
        return _parse(content, record_bytes), False
    except ParseError as error:
        better = repaired(content)
        if better is None:
            raise _refused(content, f"it is not valid XML: {error}") from None
    try:
        return _parse(better, record_bytes, encoding="utf-8"), True
    except ParseError as error:
        raise _refused(content, f"it is not valid XML: {error}") from None


def _parse(content: bytes, record_bytes: int, encoding: str | None = None) -> ParsedAnswer:
    answer = ParsedAnswer(record_bytes)
    parser: Any = XMLParser(target=answer, encoding=encoding, forbid_dtd=True)
    try:
        parser.feed(content)
        parser.close()
    except DefusedXmlException:
        raise _refused(content, "it is XML with a DOCTYPE or custom entities, which is refused") from None
    except (ParseError, Malformed):
        raise
    except (ValueError, LookupError) as error:
        raise Malformed(f"it is XML in an encoding that cannot be read: {error}") from None
    return answer


def _refused(content: bytes, why: str) -> Malformed:
    is_page = b"<html" in content[:2_000].lower()
    return Malformed("it is a web page, not an answer of the protocol" if is_page else why)
