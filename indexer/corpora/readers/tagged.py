"""Records of tagged lines, as in RIS: a tag and a value, and lines that continue it."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from indexer.corpora.readers.encodings import conversion
from indexer.corpora.readers.items import HEAD_BYTES, DeadLetter, dead_letter
from indexer.corpora.readers.lines import LINE_BYTES, numbered_lines
from indexer.corpora.readers.streams import Stream


@dataclass(frozen=True, slots=True)
class Layout:
    """The lines of a format: the tag and value of a line, the tags that start and end a record.

    Without `last`, only the next record ends a record. Lines `outside` of records are skipped. The values of
    the tags `by_line` are lines, of others the lines are joined.
    """

    line: re.Pattern[str]  # groups: tag, value
    first: str
    last: str = ""
    by_line: Collection[str] = ()
    outside: Collection[str] = ()


@dataclass(slots=True)
class TaggedRecord:
    """A record: its line from 1, and the values of each tag, as lists of lines."""

    line: int
    head: bytes = b""
    values: dict[str, list[list[str]]] = field(default_factory=dict)
    by_line: Collection[str] = ()
    size: int = 0  # bytes
    problem: str = ""
    last: list[str] = field(default_factory=list)  # the lines of the last value

    def put(self, tag: str, text: str) -> None:
        """Add a value."""
        self.last = [text]
        self.values.setdefault(tag, []).append(self.last)

    def add(self, line: bytes) -> None:
        """Count a line, and keep the start of the record."""
        self.size += len(line)
        if len(self.head) < HEAD_BYTES:
            self.head += line + b"\n"
        if self.size > LINE_BYTES:
            self.problem, self.values, self.last = f"a record of more than {LINE_BYTES} bytes", {}, []

    def all(self, *tags: str) -> list[str]:
        """Return the values of some tags, in the order of the tags."""
        texts: list[str] = []
        for tag in tags:
            for lines in self.values.get(tag, ()):
                texts += lines if tag in self.by_line else [" ".join(filter(None, lines))]
        return list(filter(None, texts))


def tagged_records(stream: Stream, layout: Layout) -> Iterator[TaggedRecord | DeadLetter]:
    """Yield the records of a stream; text between records is skipped, an invalid record is a dead letter."""
    record: TaggedRecord | None = None
    for number, line, unread in numbered_lines(stream):
        text, problem = decode_line(line, number, unread)
        found = layout.line.match(text)
        tag = found[1] if found else ""
        if record and tag == layout.first:
            yield _finished(record, stream.name)
            record = None
        if tag == layout.first:
            record = TaggedRecord(number, by_line=layout.by_line)
        elif record is None:
            if problem or (tag and tag not in layout.outside):
                reason = problem or f"{tag} before {layout.first}, which starts a record"
                yield dead_letter(stream.name, number, reason, line)
            continue
        record.add(line)
        record.problem = record.problem or problem
        if tag and tag == layout.last:
            yield _finished(record, stream.name)
            record = None
        elif found and not record.problem:
            record.put(tag, (found[2] or "").strip())
        elif text and record.values:
            record.last.append(text.strip())
    if record:
        if layout.last:
            record.problem = record.problem or f"no {layout.last} at its end: the file may be truncated"
        yield _finished(record, stream.name)


def decode_line(line: bytes, number: int, problem: str) -> tuple[str, str]:
    """Return the text of a line without its end, and the problem of the line, '' without one."""
    try:
        return line.decode("utf-8").strip("\r\n"), problem
    except UnicodeDecodeError as error:
        reason = problem or f"invalid UTF-8 at byte {error.start + 1} of line {number}: {conversion(line)}"
        return line.decode("utf-8", "replace").strip("\r\n"), reason


def _finished(record: TaggedRecord, file: str) -> TaggedRecord | DeadLetter:
    return dead_letter(file, record.line, record.problem, record.head) if record.problem else record
