"""User dictionaries: compounds and names that the built-in dictionary would split wrongly.

A UTF-8 text file with one term per line, followed by its parts if it is to be split:

    # names
    세종시 세종 시
    가디언즈오브더갤럭시
    C++

A # at the start of a line, or after white space, starts a comment. Terms are case-sensitive. The same entries
are written as rules of Elasticsearch (`user_dictionary_rules` of nori's tokenizer) and as a MeCab dictionary.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import NamedTuple

from base.errors import InvalidCall
from base.files.regular_files import read_regular
from base.terminal.output import STEERING
from indexer.analysis.normal_form import normal_form

MOST_ENTRIES = 100_000
LONGEST_TERM = 100  # characters
LARGEST_FILE = 16_000_000  # bytes
# A # starts a comment anywhere in nori's rules. Commas and quotes are special to Elasticsearch, which parses
# rules as CSV lines when it looks for duplicates.
FORBIDDEN = '#,"'
COMMENT = re.compile(r"(?:^|(?<=\s))#.*")


class Entry(NamedTuple):
    """A term and its parts; no parts if it is not split."""

    term: str
    parts: tuple[str, ...] = ()


@dataclass(frozen=True)
class UserDictionary:
    """Entries sorted by term, each term once; independent of the file that contained them."""

    entries: tuple[Entry, ...]

    @cached_property
    def hash(self) -> str:
        """Return a hash of the entries, 16 hexadecimal digits."""
        return hashlib.sha256(self.text().encode()).hexdigest()[:16]

    def rules(self) -> list[str]:
        """Return the entries as `user_dictionary_rules` of nori's tokenizer."""
        return [" ".join((term, *parts)) for term, parts in self.entries]

    def text(self) -> str:
        """Return the entries in the file format, to be parsed into the same dictionary."""
        return "".join(f"{rule}\n" for rule in self.rules())

    def normalized(self) -> "UserDictionary":
        """Return the dictionary for texts in their normal form."""
        normal = {}
        for term, parts in self.entries:
            whole, end, of_whole = normal_form(term, hanja=True).text, 0, []
            for part in parts:
                start, end = end, end + len(normal_form(part, hanja=True).text)
                of_whole.append(whole[start:end])
            normal[whole] = tuple(of_whole)
        return UserDictionary(tuple(Entry(term, parts) for term, parts in sorted(normal.items())))

    def nesting(self) -> dict[str, int]:
        """Map each term within longer ones to the depth of its nesting: 1 within one, 2 within that."""
        terms = {entry.term for entry in self.entries}
        lengths = sorted(set(map(len, terms)))
        depths: dict[str, int] = {}
        for term in sorted(terms, key=len, reverse=True):
            for length, start in product(lengths[: lengths.index(len(term))], range(len(term))):
                part = term[start : start + length]
                if part in terms:
                    depths[part] = max(depths.get(part, 0), depths.get(term, 0) + 1)
        return depths


def read_user_dictionary(path: Path) -> UserDictionary:
    """Read a dictionary file.

    Raises:
        InvalidCall: no such file, or an invalid entry; with file and line.
    """
    return parse_user_dictionary(read_written(path, "dictionary"), str(path))


def parse_user_dictionary(data: bytes, source: str) -> UserDictionary:
    """Parse the bytes of a dictionary file; `source` names it in errors.

    Raises:
        InvalidCall: an invalid entry, or no entry at all.
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
        raise InvalidCall(f"{source}: no terms in it; write one term per line, followed by its parts if any")
    return UserDictionary(tuple(Entry(term, parts) for term, parts in sorted(entries.items())))


def read_written(path: Path, kind: str) -> bytes:
    """Read a file written by a user; `kind` names it in errors.

    Raises:
        InvalidCall: the file does not exist, or is larger than 16 MB.
    """
    try:
        return read_regular(path, LARGEST_FILE)
    except OSError as error:
        raise InvalidCall(f"the {kind} {path} cannot be read: {error.strerror or error}") from error


def decoded_lines(data: bytes, source: str) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines of a user's file, composed (NFC), without comments and empty lines.

    Raises:
        InvalidCall: a line that is not UTF-8 or contains control characters.
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
            raise ValueError(f"a term cannot contain {character}; nori's rules have no escape for it")
    if len(term) > LONGEST_TERM:
        raise ValueError(f"a term of {len(term)} characters, {LONGEST_TERM} are allowed")
    if parts and "".join(parts) != term:
        raise ValueError(f"the parts {' + '.join(parts)} do not make up {term}")
    return Entry(term, parts if len(parts) > 1 else ())
