"""An institution's own terms: compounds and names that the dictionary would cut otherwise.

A file of UTF-8 text, a term a line, behind it its parts where it is to be cut:

    # names
    세종시 세종 시
    가디언즈오브더갤럭시
    C++

What stands behind a # at the start of a line, or behind white space, is a comment. Capitals count. The same
entries are rules of Elasticsearch (`user_dictionary_rules` of nori's tokenizer) and a dictionary of MeCab's.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from base.errors import InvalidCall
from base.files.regular_files import read_regular
from base.terminal.output import STEERING

MOST_ENTRIES = 100_000
LONGEST_TERM = 100  # characters
LARGEST_FILE = 16_000_000  # bytes
# A # begins a comment in nori's rules, wherever it stands; commas and quotes mean something to Elasticsearch,
# which reads a rule as a line of CSV when it looks for one that stands twice.
FORBIDDEN = '#,"'
COMMENT = re.compile(r"(?:^|(?<=\s))#.*")


class Entry(NamedTuple):
    """A term, and the parts it is cut into; none where it stays whole."""

    term: str
    parts: tuple[str, ...] = ()


@dataclass(frozen=True)
class UserDictionary:
    """Entries in the order of their terms, each term once; a value, alike from whatever file it came."""

    entries: tuple[Entry, ...]

    @cached_property
    def hash(self) -> str:
        """Return 16 hexadecimal digits that tell this dictionary from others."""
        return hashlib.sha256(self.text().encode()).hexdigest()[:16]

    def rules(self) -> list[str]:
        """Return the entries as `user_dictionary_rules` of nori's tokenizer."""
        return [" ".join((term, *parts)) for term, parts in self.entries]

    def text(self) -> str:
        """Return the entries as a file that reads as this dictionary again."""
        return "".join(f"{rule}\n" for rule in self.rules())


class TermFinder:
    """Finds the terms of a dictionary in texts."""

    def __init__(self, dictionary: UserDictionary) -> None:
        """Sort the terms by their first character and length."""
        self._terms = frozenset(entry.term for entry in dictionary.entries)
        lengths: dict[str, set[int]] = {}
        for term in self._terms:
            lengths.setdefault(term[0], set()).add(len(term))
        self._lengths = {first: tuple(sorted(found, reverse=True)) for first, found in lengths.items()}

    def longest(self, text: str) -> dict[int, int]:
        """Return where terms begin in `text`, and where the longest of each place ends."""
        found = {}
        terms, lengths_of = self._terms, self._lengths.get
        for start, character in enumerate(text):
            for length in lengths_of(character, ()):
                word = text[start : start + length]  # shorter at the text's end
                if word in terms:
                    found[start] = start + len(word)
                    break
        return found

    def nested(self) -> set[str]:
        """Return the terms that stand within longer ones."""
        inside: set[str] = set()
        for term in self._terms:
            for start, character in enumerate(term):
                for length in self._lengths.get(character, ()):
                    part = term[start : start + length]
                    if part in self._terms and part != term:
                        inside.add(part)
        return inside


def outermost(found: dict[int, int]) -> list[tuple[int, int]]:
    """Return the places of `TermFinder.longest` that do not lie within earlier ones."""
    places = []
    reached = 0
    for start, end in found.items():
        if end > reached:
            places.append((start, end))
            reached = end
    return places


def read_user_dictionary(path: Path) -> UserDictionary:
    """Read a dictionary's file.

    Raises:
        InvalidCall: no such file, or something in it that cannot be an entry; with file and line.
    """
    return parse_user_dictionary(read_written(path, "dictionary"), str(path))


def parse_user_dictionary(data: bytes, source: str) -> UserDictionary:
    """Read the bytes of a dictionary's file; `source` names it in errors.

    Raises:
        InvalidCall: something that cannot be an entry, or no entry at all.
    """
    entries: dict[str, tuple[str, ...]] = {}
    lines: dict[str, int] = {}
    for number, line in decoded_lines(data, source):
        try:
            term, parts = _entry(line.split())
        except ValueError as error:
            raise InvalidCall(f"{source}, line {number}: {error}") from None
        if entries.setdefault(term, parts) != parts:
            raise InvalidCall(
                f"{source}, line {number}: {term} has other parts in line {lines[term]}; keep one of the two"
            )
        lines.setdefault(term, number)
        if len(entries) > MOST_ENTRIES:
            raise InvalidCall(f"{source}, line {number}: more than {MOST_ENTRIES:,} terms")
    if not entries:
        raise InvalidCall(f"{source}: no terms in it; write a term a line, behind it its parts if it has any")
    return UserDictionary(tuple(Entry(term, parts) for term, parts in sorted(entries.items())))


def read_written(path: Path, kind: str) -> bytes:
    """Read a file that a person wrote; `kind` names it in errors.

    Raises:
        InvalidCall: no such file, or one of more than 16 MB.
    """
    try:
        return read_regular(path, LARGEST_FILE)
    except OSError as error:
        raise InvalidCall(f"the {kind} {path} cannot be read: {error.strerror or error}") from error


def decoded_lines(data: bytes, source: str) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines of a file that a person wrote, composed (NFC); no comments, no empty lines.

    Raises:
        InvalidCall: a line that is not UTF-8, or has control characters in it.
    """
    for number, raw in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        try:
            line = unicodedata.normalize("NFC", raw.decode("utf-8").removesuffix("\r"))
        except UnicodeDecodeError as error:
            raise InvalidCall(f"{source}, line {number}: not UTF-8 (byte {error.start + 1})") from None
        for character in line:
            if STEERING.match(character) and character != "\t":
                code = f"U+{ord(character):04X}"
                raise InvalidCall(f"{source}, line {number}: a control character ({code})")
        if text := COMMENT.sub("", line).rstrip():
            yield number, text


def _entry(words: list[str]) -> Entry:
    term, parts = words[0], tuple(words[1:])
    for character in FORBIDDEN:
        if any(character in word for word in words):
            raise ValueError(f"{character} cannot stand in a term; nori's rules have no way to write it")
    if len(term) > LONGEST_TERM:
        raise ValueError(f"a term of {len(term)} characters, {LONGEST_TERM} are allowed")
    if parts and "".join(parts) != term:
        raise ValueError(f"the parts {' + '.join(parts)} do not make up {term}")
    return Entry(term, parts if len(parts) > 1 else ())
