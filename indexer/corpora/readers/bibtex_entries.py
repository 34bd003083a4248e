"""Entries of BibTeX files as fields of TeX, read in pieces.

The grammar is that of BibTeX 0.99d (`btxdoc`): braces balance, text outside of entries is a comment, values
are joined with #, and names without quotes are numbers or abbreviations of @string.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from indexer.corpora.readers.items import HEAD_BYTES, DeadLetter, dead_letter
from indexer.corpora.readers.lines import LINE_BYTES, numbered_lines
from indexer.corpora.readers.streams import Stream
from indexer.corpora.readers.tagged import decoded

BEGINS = re.compile(r"(?<![\w.])@\s*([A-Za-z][\w-]*)\s*([{(])")
BEGINS_LINE = re.compile(r"@[A-Za-z]+\s*[{(]\s*[^\s,{}=\"]*,")  # an entry, not a line of a value
NO_ENTRIES = frozenset({"comment", "preamble"})
BRACES = re.compile(r"[{}]")
BRACES_OR_END = re.compile(r"[{})]")
BRACES_OR_QUOTE = re.compile(r'[{}"]')
ESCAPED_BRACE = re.compile(r"(?<!\\)\\([{}])")
COMMANDS = {"{": "{\\textbraceleft}", "}": "{\\textbraceright}"}
# A key may have spaces, TeX and equals signs, but is no field (an entry without a key).
KEY = re.compile(r"\s*+(?![A-Za-z][\w-]*\s*=)((?:[^,{}\"]|\{[^{}]*\})*+)(?=,|$)")
FIELD = re.compile(r"[\s,]*([^\s=,{}\"]+)\s*=\s*")
BARE = re.compile(r"[^\s,#{}\"=]+")
JOINED = re.compile(r"\s*#\s*")
MONTHS = {name: name.capitalize() for name in "jan feb mar apr may jun jul aug sep oct nov dec".split()}
CHILDREN = frozenset({"article", "inproceedings", "misc", "phdthesis", "mastersthesis", "online"})
# Fields of the parent itself (BibLaTeX manual, appendix B).
NOT_INHERITED = frozenset(
    "title subtitle author abstract annotation keywords doi url urldate pages note crossref xdata ids file "
    "shorttitle sortkey".split()
)
MOST_STRINGS = 100_000


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry: its line from 1, kind and field names in lower case, values as TeX."""

    line: int
    head: bytes
    kind: str
    key: str
    fields: dict[str, str]


@dataclass(slots=True)
class _Unfinished:
    """An entry up to the current line; `depth` is the number of open braces."""

    line: int
    kind: str
    opening: str
    depth: int
    pieces: list[str] = field(default_factory=list)
    size: int = 0
    head: bytes = b""
    problem: str = ""

    def add(self, text: str) -> None:
        self.size += len(text)
        if self.size > LINE_BYTES:
            self.problem, self.pieces = f"an entry of more than {LINE_BYTES} bytes", []
        elif not self.problem:
            self.pieces.append(text)

    def end_in(self, text: str, place: int) -> int:
        """Return the place of the end of the entry in a line, -1 if it goes on; count the braces."""
        opened, closed = text.count("{", place), text.count("}", place)
        if self.opening == "{" and closed < self.depth:
            self.depth += opened - closed
            return -1
        for found in (BRACES if self.opening == "{" else BRACES_OR_END).finditer(text, place):
            if found[0] == "{":
                self.depth += 1
            elif found[0] == "}":
                self.depth -= 1
            if self.depth <= 0 and found[0] == ("}" if self.opening == "{" else ")"):
                return found.start()
        return -1


class _Malformed(ValueError):
    """An entry cannot be parsed; the message is the reason."""


def entries(stream: Stream) -> Iterator[Entry | DeadLetter]:
    """Yield the entries of a file, with the abbreviations of @string replaced."""
    strings = dict(MONTHS)
    for entry in _unfinished(stream):
        if isinstance(entry, DeadLetter):
            yield entry
        elif entry.problem:
            yield dead_letter(stream.name, entry.line, entry.problem, entry.head)
        else:
            try:
                yield from _parsed(entry, strings)
            except _Malformed as error:
                yield dead_letter(stream.name, entry.line, str(error), entry.head)


def inherited(found: Iterable[Entry | DeadLetter]) -> Iterator[Entry | DeadLetter]:
    """Yield the entries with the fields that they inherit by `crossref` and `xdata`.

    An entry that refers to a later one is yielded after all others. Entries of xdata are left out.
    """
    parents: dict[str, Entry] = {}
    waiting: list[Entry] = []
    for entry in found:
        if isinstance(entry, DeadLetter):
            yield entry
            continue
        if entry.kind not in CHILDREN:
            parents[entry.key] = entry
        names = _referred(entry)
        if any(name not in parents for name in names):
            waiting.append(entry)
        elif entry.kind != "xdata":
            yield _with_inherited(entry, parents, ())
    yield from (_with_inherited(entry, parents, ()) for entry in waiting if entry.kind != "xdata")


def _referred(entry: Entry) -> list[str]:
    names = f"{entry.fields.get('xdata', '')},{entry.fields.get('crossref', '')}".split(",")
    return [name for part in names if (name := part.strip())]


def _with_inherited(entry: Entry, parents: Mapping[str, Entry], below: tuple[str, ...]) -> Entry:
    """Return an entry with the fields of its parents, whose title is the title of its book."""
    fields = dict(entry.fields)
    for name in _referred(entry):
        if name not in parents or name in below:
            continue
        parent = _with_inherited(parents[name], parents, (*below, name))
        own = parent.fields
        if parent.kind != "xdata":
            own = {key: value for key, value in own.items() if key not in NOT_INHERITED}
            own["booktitle"] = own.get("booktitle") or parent.fields.get("title", "")
        fields = own | fields
    return replace(entry, fields={key: value for key, value in fields.items() if value})


def _unfinished(stream: Stream) -> Iterator[_Unfinished | DeadLetter]:
    """Yield the texts of the entries."""
    entry: _Unfinished | None = None
    for number, line, unread in numbered_lines(stream):
        text, problem = decoded(line, number, unread)
        if problem and entry is None and not BEGINS.search(text):
            yield dead_letter(stream.name, number, problem, line)
        if entry and BEGINS_LINE.match(text):
            yield _closed(entry)
            entry = None
        place = 0
        while place >= 0:
            if entry is None:
                if not (begin := BEGINS.search(text, place)):
                    break
                entry = _Unfinished(number, begin[1].lower(), begin[2], int(begin[2] == "{"))
                place = begin.end()
            entry.problem = entry.problem or problem
            if len(entry.head) < HEAD_BYTES:
                entry.head += line + b"\n"
            end = entry.end_in(text, place)
            entry.add(text[place : end if end >= 0 else None] + "\n")
            place = end + 1 if end >= 0 else -1
            if end >= 0:
                yield entry
                entry = None
    if entry:
        yield _closed(entry)


def _closed(entry: _Unfinished) -> _Unfinished:
    """Return an entry without an end; it counts as complete if only escaped braces are unbalanced."""
    text = "".join(entry.pieces).rstrip()
    balanced = ESCAPED_BRACE.sub(lambda found: COMMANDS[found[1]], text)
    if balanced.endswith("}") and balanced.count("}") == balanced.count("{") + 1:
        entry.pieces = [balanced[:-1]]
    else:
        entry.problem = entry.problem or "its braces are not balanced: the file may be truncated"
    return entry


def _parsed(entry: _Unfinished, strings: dict[str, str]) -> Iterator[Entry]:
    body = "".join(entry.pieces)
    if entry.kind in NO_ENTRIES:
        return
    if entry.kind == "string":
        if len(strings) < MOST_STRINGS:
            strings |= _fields(body, 0, strings)
        return
    key = KEY.match(body)
    fields = _fields(body, key.end() if key else 0, strings)
    yield Entry(entry.line, entry.head, entry.kind, key[1].strip() if key else "", fields)


def _fields(body: str, place: int, strings: dict[str, str]) -> dict[str, str]:
    """Parse the fields of an entry; the first of two with the same name counts."""
    fields: dict[str, str] = {}
    while found := FIELD.match(body, place):
        name, place = found[1].lower(), found.end()
        parts: list[str] = []
        while True:
            part, place = _part(body, place, strings, name)
            parts.append(part)
            if not (joined := JOINED.match(body, place)):
                break
            place = joined.end()
        fields.setdefault(name, "".join(parts))
    if rest := body[place:].strip(" \t\r\n,"):
        raise _Malformed(f"no field at {rest[:40]!r}")
    return fields


def _part(body: str, place: int, strings: dict[str, str], name: str) -> tuple[str, int]:
    """Return a part of a value and the place after it."""
    start = body[place : place + 1]
    if start in {"{", '"'}:
        end = _end_of_part(body, place)
        if end < 0:
            raise _Malformed(f"the value of {name[:40]!r} has no end")
        return body[place + 1 : end], end + 1
    if not (bare := BARE.match(body, place)):
        raise _Malformed(f"the field {name[:40]!r} has no value")
    return strings.get(bare[0].lower(), bare[0]), bare.end()


def _end_of_part(body: str, place: int) -> int:
    """Return the place of the brace or quote that ends the part at `place`, -1 without one."""
    quoted = body[place] == '"'
    depth = 0
    for found in (BRACES_OR_QUOTE if quoted else BRACES).finditer(body, place + (1 if quoted else 0)):
        depth += {"{": 1, "}": -1, '"': 0}[found[0]]
        if depth == 0 and found[0] == ('"' if quoted else "}"):
            return found.start()
    return -1
