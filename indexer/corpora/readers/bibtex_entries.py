"""Entries of BibTeX files as fields of TeX, read in pieces, with inherited fields.

The grammar is that of BibTeX 0.99d (`btxdoc`): braces balance, text outside of entries is a comment, values
are joined with #, and names without quotes are numbers or abbreviations of @string. On reported files,
bibtexparser 2.1 and pybtex 0.26 lose five of eleven entries with odd keys.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from indexer.corpora.readers.items import HEAD_BYTES, DeadLetter, dead_letter
from indexer.corpora.readers.lines import LINE_BYTES, numbered_lines
from indexer.corpora.readers.streams import Stream
from indexer.corpora.readers.tagged import decode_line

BEGINS = re.compile(r"(?<![\w.])@\s*([A-Za-z][\w-]*)\s*([{(])")
BEGINS_LINE = re.compile(r"@[A-Za-z]+\s*[{(]\s*[^\s,{}=\"]*,")  # an entry, not a line of a value
NO_ENTRIES = frozenset({"comment", "preamble"})
BRACES = re.compile(r"[{}]")
BRACES_OR_QUOTE = re.compile(r'[{}"]')
ESCAPED_BRACE = re.compile(r"(?<!\\)\\([{}])")
COMMANDS = {"{": "{\\textbraceleft}", "}": "{\\textbraceright}"}
# A key may have spaces, TeX and equals signs, but has no value (an entry without a key or a comma after it).
KEY = re.compile(r"\s*+(?![A-Za-z][\w-]*\s*=)((?:(?!=\s*\{)[^,{}\"]|\{[^{}]*\}){0,300}?)\s{0,80}(?=[,}])")
FIELD = re.compile(r"[\s,]*([^\s=,{}\"]+)\s*=\s*")
BARE = re.compile(r"[^\s,#{}()\"=]+")
JOINED = re.compile(r"\s*#\s*")
END = re.compile(r"[\s,]*[})]")
MONTHS = {name: name.capitalize() for name in "jan feb mar apr may jun jul aug sep oct nov dec".split()}
MOST_STRINGS, LONGEST_STRING = 100_000, 10_000  # characters
MOST_PARENTS, MOST_LEVELS = 10, 3  # of an entry; levels of inheritance
WHITE_SPACE = re.compile(r"\s+")
CHILDREN = frozenset({"article", "inproceedings", "misc", "phdthesis", "mastersthesis", "online"})
# Fields of the parent itself (BibLaTeX manual, appendix B).
NOT_INHERITED = frozenset(
    "title subtitle author abstract annotation keywords doi url urldate pages note crossref xdata ids file "
    "shorttitle sortkey".split()
)


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry: its line from 1, kind and field names in lower case, values as TeX."""

    line: int
    head: bytes
    kind: str
    key: str
    fields: dict[str, str]


@dataclass(slots=True)
class _Chunk:
    """Lines with whole entries; `depth` is the number of open braces at their end."""

    line: int
    is_open: bool = True  # an entry in parentheses, which no line has ended
    pieces: list[str] = field(default_factory=list)
    depth: int = 0
    size: int = 0
    head: bytes = b""
    problem: str = ""

    def add(self, text: str, line: bytes, problem: str) -> None:
        self.depth += text.count("{") - text.count("}")
        self.is_open = self.is_open and not text.rstrip().endswith(")")
        self.size += len(line)
        self.problem = self.problem or problem
        if len(self.head) < HEAD_BYTES:
            self.head += line + b"\n"
        if self.size > LINE_BYTES:
            self.problem, self.pieces = f"an entry of more than {LINE_BYTES} bytes", []
        else:
            self.pieces.append(text)

    @property
    def text(self) -> str:
        """The text, with escaped braces as commands if the braces are not balanced otherwise."""
        text = "\n".join(self.pieces)
        return text if self.depth == 0 else ESCAPED_BRACE.sub(lambda found: COMMANDS[found[1]], text)


class _Malformed(ValueError):
    """An entry cannot be parsed; the message is the reason."""


def entries(stream: Stream) -> Iterator[Entry | DeadLetter]:
    """Yield the entries of a file, with the abbreviations of @string replaced."""
    strings = dict(MONTHS)
    for chunk in _chunks(stream):
        if isinstance(chunk, DeadLetter):
            yield chunk
            continue
        try:
            yield from _parsed(chunk, strings)
        except _Malformed as error:
            yield dead_letter(stream.name, chunk.line, str(error), chunk.head)


def inherit_fields(found: Iterable[Entry | DeadLetter]) -> Iterator[Entry | DeadLetter]:
    """Yield the entries with the fields that they inherit by `crossref` and `xdata`, in any case of the key.

    An entry that refers to a later one is yielded after all others. Entries of xdata are left out.
    """
    parents: dict[str, Entry] = {}
    waiting: list[Entry] = []
    for entry in found:
        if isinstance(entry, DeadLetter):
            yield entry
            continue
        if entry.kind not in CHILDREN:
            parents[entry.key.lower()] = entry
        if any(name not in parents for name in _referred(entry)):
            waiting.append(entry)
        elif entry.kind != "xdata":
            yield _with_inherited(entry, parents)
    yield from (_with_inherited(entry, parents) for entry in waiting if entry.kind != "xdata")


def _referred(entry: Entry) -> list[str]:
    names = f"{entry.fields.get('xdata', '')},{entry.fields.get('crossref', '')}".split(",")
    return [name for each in names if (name := each.strip().lower())][:MOST_PARENTS]


def _with_inherited(entry: Entry, parents: Mapping[str, Entry], level: int = 0) -> Entry:
    """Return an entry with the fields of its parents, whose title is the title of its book."""
    fields = entry.fields
    for name in _referred(entry) if level < MOST_LEVELS else ():
        if name not in parents:
            continue
        parent = _with_inherited(parents[name], parents, level + 1)
        own = parent.fields
        if parent.kind != "xdata":
            own = {key: value for key, value in own.items() if key not in NOT_INHERITED}
            own["booktitle"] = own.get("booktitle") or parent.fields.get("title", "")
        fields = own | fields
    return replace(entry, fields=fields)


def _chunks(stream: Stream) -> Iterator[_Chunk | DeadLetter]:
    """Yield lines that hold whole entries; an entry without an end goes on to the next one."""
    chunk: _Chunk | None = None
    for number, line, unread in numbered_lines(stream):
        text, problem = decode_line(line, number, unread)
        if chunk and (BEGINS_LINE.match(text) or (chunk.depth <= 0 and not chunk.is_open)):
            yield chunk
            chunk = None
        if chunk is None:
            begin = BEGINS.search(text)
            if begin is None:
                if problem:
                    yield dead_letter(stream.name, number, problem, line)
                continue
            chunk = _Chunk(number, is_open=begin[2] == "(")
        chunk.add(text, line, problem)
    if chunk:
        yield chunk


def _parsed(chunk: _Chunk, strings: dict[str, str]) -> Iterator[Entry]:
    """Yield the entries of a chunk."""
    if chunk.problem:
        raise _Malformed(chunk.problem)
    text, place = chunk.text, 0
    while begin := BEGINS.search(text, place):
        kind, place = begin[1].lower(), begin.end()
        if kind in NO_ENTRIES:
            if (place := _end_of_part(text, place - 1)) < 0:
                return
            continue
        key = None if kind == "string" else KEY.match(text, place)
        most = LONGEST_STRING if kind == "string" else LINE_BYTES
        fields, place = _fields(text, key.end() if key else place, strings, most)
        if kind != "string":
            yield Entry(chunk.line, chunk.head, kind, key[1] if key else "", fields)
        elif len(strings) < MOST_STRINGS:
            strings |= fields


def _fields(text: str, place: int, strings: dict[str, str], most: int) -> tuple[dict[str, str], int]:
    """Return the fields of an entry and the place after it; the first of two with the same name counts.

    Repeated white space counts as one space, as in TeX. Abbreviations may double in length each time they are
    joined, so all values together have at most `most` characters.
    """
    fields: dict[str, str] = {}
    size = 0
    while found := FIELD.match(text, place):
        name, place = found[1].lower(), found.end()
        parts: list[str] = []
        while True:
            part, place = _part(text, place, strings, name)
            parts.append(part)
            if (size := size + len(part)) > most:
                raise _Malformed(f"values of more than {most:,} characters")
            if not (joined := JOINED.match(text, place)):
                break
            place = joined.end()
        fields.setdefault(name, WHITE_SPACE.sub(" ", "".join(parts)))
    if end := END.match(text, place):
        return fields, end.end()
    rest = text[place:].strip(" \t\r\n,")
    raise _Malformed(f"no field at {rest[:40]!r}" if rest else "its braces are not balanced: truncated?")


def _part(text: str, place: int, strings: dict[str, str], name: str) -> tuple[str, int]:
    """Return a part of a value and the place after it."""
    if text[place : place + 1] in {"{", '"'}:
        end = _end_of_part(text, place)
        if end < 0:
            raise _Malformed(f"the value of {name[:40]!r} has no end: its braces are not balanced")
        return text[place + 1 : end], end + 1
    if not (bare := BARE.match(text, place)):
        raise _Malformed(f"the field {name[:40]!r} has no value")
    return strings.get(bare[0].lower(), bare[0]), bare.end()


def _end_of_part(text: str, place: int) -> int:
    """Return the place of the brace or quote that ends the part at `place`, -1 without one."""
    quoted = text[place] == '"'
    depth = 0
    for found in (BRACES_OR_QUOTE if quoted else BRACES).finditer(text, place + (1 if quoted else 0)):
        depth += {"{": 1, "}": -1, '"': 0}[found[0]]
        if depth == 0 and found[0] == ('"' if quoted else "}"):
            return found.start()
    return -1
