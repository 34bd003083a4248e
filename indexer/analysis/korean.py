"""Lucene's nori chain for Korean on MeCab with the same dictionary (mecab-ko-dic 2.1.1).

The chain: nori tokenizer → part-of-speech filter → Hanja converted to Hangul → lowercase.

Differences between MeCab and nori are resolved as in nori:

- Of two dictionary entries with the same surface, context ids and cost, nori takes the first
  (만드 → 만들, 이것 → 이거), MeCab the last.
- Runs of unknown characters are grouped by script (km², ˈmæɹɪlənd), not by
  MeCab's character classes.
- At each place nori considers only the longest user word, at almost no cost.
"""

import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from threading import Lock
from typing import NamedTuple

import _mecab
import regex

from indexer.analysis import Decompound
from indexer.analysis.best_path import best_path
from indexer.analysis.characters import is_punctuation, split_points, unknown_run_end
from indexer.analysis.dictionary import (
    LONGEST_UNKNOWN_WORD,
    MARKS,
    SOLID_SPACE,
    USER_MARK,
    open_tagger,
)
from indexer.analysis.tokens import TaggedToken, TaggedWord, Token
from indexer.analysis.user_dictionary import TermFinder, UserDictionary, outermost

# Lucene's own list (KoreanPartOfSpeechStopFilter.DEFAULT_STOP_TAGS) without XPN, which would turn
# 비선형 (nonlinear) into 선형 (linear).
STOP_TAGS = frozenset(
    "EP EF EC ETN ETM IC JKS JKC JKG JKO JKB JKV JKQ JX JC MAG MAJ MM "
    "SP SSC SSO SC SE XSA XSN XSV UNA NA VSV".split()
)
NOUN, PROPER_NOUN = "NNG", "NNP"
# MeCab builds the lattice of a whole sentence in memory, so long texts are processed in pieces.
PIECE_CHARACTERS = 10_000
CACHED_ENTRIES = 400_000
# MeCab skips tabs and line ends like spaces; nori treats them as punctuation. They are replaced by a
# character that produces no line in MeCab's output.
CONTROL_CHARACTERS = dict.fromkeys((0, 9, 10, 11, 12, 13, ord(SOLID_SPACE)), "\u2028")
# Characters that nori treats as spaces.
WHITE_SPACE = dict.fromkeys((0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000), " ")
MECAB_TRANSLATION = CONTROL_CHARACTERS | WHITE_SPACE
# The punctuation in the dictionary. For nori any other punctuation is an unknown word, which extends over the
# following punctuation and spaces.
KNOWN_PUNCTUATION = "".join(MARKS)
# Before a space, nori's unknown word would include the space, and MeCab's would not. Such marks are replaced
# by substitutes with the same entries, which are never unknown words.
MARK = f"[{regex.escape(KNOWN_PUNCTUATION)}]"
BEFORE_SPACE = regex.compile(rf"(?<!{MARK}){MARK}++(?= )")
SUBSTITUTES = str.maketrans(MARKS)
ALWAYS_READ = frozenset(MARKS.values())
# Spaces that are words, or parts of words, for nori: several spaces, and one after unknown punctuation.
WORDS_OF_SPACE = regex.compile(
    r" (?: +|(?<=[[\p{P}\p{S}\p{Zl}\p{Cf}ㆍ]--" + MARK + r"][\p{P}\p{S}]* ))",
    regex.VERSION1,
)

HANGUL_SYLLABLES = range(0xAC00, 0xD7A4)
# All words of an ASCII text; the dictionary contains only punctuation of these characters.
ASCII_WORD = re.compile("[A-Za-z]+|[0-9]+")

Normalize = Callable[[str], str | None]


class Piece(NamedTuple):
    """A token of a dictionary entry, relative to the start of the entry."""

    term: str
    position: int
    start: int
    end: int
    tag: str


class Entry(NamedTuple):
    """The tokens for one line of MeCab's output (surface and feature)."""

    surface: str
    length: int
    whole: str | None  # the term, if it is the only one and covers the surface
    pieces: tuple[Piece, ...]
    positions: int
    unknown: bool  # not in the dictionary: nori may group it differently


class NormalizedWords(dict[str, str | None]):
    """Cache of normalised words."""

    def __init__(self, normalize: Normalize) -> None:
        """Create an empty cache."""
        self._normalize = normalize

    def __missing__(self, word: str) -> str | None:
        """Normalise and cache a word."""
        if len(self) >= CACHED_ENTRIES:
            self.clear()
        term = self[word] = self._normalize(word)
        return term


def lowercase(term: str) -> str:
    """Lowercase each code point, as Lucene does (İ becomes i): the length never changes."""
    if term.isascii():
        return term.lower()
    return "".join(char.lower()[0] for char in term)


class KoreanAnalyzer:
    """nori's chain on MeCab; `normalize` is applied to each term, and None drops the term.

    Threads may share an analyzer; a lock serialises their access to MeCab's lattice.
    """

    name = "korean"

    def __init__(
        self,
        decompound: Decompound = "discard",
        normalize: Normalize = lowercase,
        dictionary: UserDictionary | None = None,
    ) -> None:
        """Open the memory-mapped dictionary, shared by processes, and an optional user dictionary."""
        self.decompound: str = decompound
        self._normalize = normalize
        self._user_entries = dictionary.entries if dictionary else ()
        self._finder = TermFinder(dictionary) if dictionary else None
        self._tagger = open_tagger(dictionary)
        self._lattice = _mecab.Lattice()
        self._lattice.add_request_type(_mecab.MECAB_ALLOCATE_SENTENCE)
        self._entries: dict[str, Entry] = {}
        self._ascii_terms = NormalizedWords(normalize)
        self._lock = Lock()

    def analyze(self, text: str) -> list[Token]:
        """Return the tokens of `text` in order of position, longest first at the same position."""
        tokens: list[Token] = []
        position = 0
        with self._lock:
            for start, end in split_points(text, PIECE_CHARACTERS):
                position = self._analyze_piece(text[start:end], start, position, tokens)
        return tokens

    def tagged_tokens(self, text: str) -> list[TaggedToken]:
        """Return the tokens of `analyze` with their parts of speech.

        Parts of a proper noun are proper nouns. A token that nori groups differently from MeCab has the tag
        of the word in which it starts.
        """
        tokens: list[Token] = []
        tags: list[str] = []
        position = 0
        with self._lock:
            for start, end in split_points(text, PIECE_CHARACTERS):
                read, leading, lines = self._read(text[start:end])
                position = self._tokens_of(read, lines, start + leading, position, tokens, tags)
        return list(zip(tokens, tags, strict=True))

    def tagged_words(self, text: str) -> list[TaggedWord]:
        """Return the words of `text` with their parts of speech, several joined by +."""
        words: list[TaggedWord] = []
        with self._lock:
            for start, end in split_points(text, PIECE_CHARACTERS):
                read, leading, lines = self._read(text[start:end])
                words += _tagged(read, lines, start + leading)
        return words

    def _analyze_piece(self, text: str, origin: int, position: int, tokens: list[Token]) -> int:
        """Append the tokens of `text`, which starts at `origin`; return the position after them."""
        if self._finder is None and text.isascii():
            longest = max(map(len, text.split()), default=0)
            if longest <= LONGEST_UNKNOWN_WORD:
                return self._analyze_ascii(text, origin, position, tokens)
        read, leading, lines = self._read(text)
        return self._tokens_of(read, lines, origin + leading, position, tokens)

    def _tokens_of(
        self,
        text: str,
        lines: list[str],
        origin: int,
        position: int,
        tokens: list[Token],
        tags: list[str] | None = None,
    ) -> int:
        """Append the tokens and the parts of speech of MeCab's lines for `text`, which starts at `origin`."""
        entry_of, find, append = self._entries.get, text.find, tokens.append
        size = len(text)
        end = cursor = 0  # ends of the last token and of MeCab's last word
        for line in lines:
            entry = entry_of(line)
            if entry is None:
                # MeCab's positions are in bytes and include the preceding white space.
                entry = self._remember(line, len(text[:cursor].encode()))
            surface, length, whole, pieces, positions, unknown = entry
            start = find(surface, cursor)  # only white space separates two words
            cursor = start + length
            if start < end or (unknown and not _ends_like_mecab(surface, text[cursor : cursor + 1])):
                start = max(start, end)
                while start < cursor:
                    end = unknown_run_end(text, start, size)
                    if not is_punctuation(text[start]):
                        term = self._normalize(text[start:end])
                        if term is not None:
                            append((term, position, origin + start, origin + end))
                            if tags is not None:
                                tags.append(_tag(line).partition("+")[0])
                        position += 1
                    start = end
                continue
            end = cursor
            if whole is not None:
                append((whole, position, origin + start, origin + end))
            elif pieces:
                begin = origin + start
                for term, offset, first, last, _ in pieces:
                    append((term, position + offset, begin + first, begin + last))
            if tags is not None:
                tags += [piece.tag for piece in pieces]
            position += positions
        return position

    def _analyze_ascii(self, text: str, origin: int, position: int, tokens: list[Token]) -> int:
        """Append the tokens of an unambiguous ASCII text, in a quarter of the time."""
        term_of, append = self._ascii_terms.__getitem__, tokens.append
        for word in ASCII_WORD.finditer(text):
            term = term_of(word[0])
            if term is not None:
                start, end = word.span()
                append((term, position, origin + start, origin + end))
            position += 1
        return position

    def _read(self, text: str) -> tuple[str, int, list[str]]:
        """Return MeCab's input, the number of spaces stripped from its start, and MeCab's lines."""
        if not text.isprintable():  # all translated characters are unprintable
            text = text.translate(MECAB_TRANSLATION)
        longest = self._finder.longest(text) if self._finder else {}
        if longest:
            text = _mecab_input(longest, text)
        else:
            text = BEFORE_SPACE.sub(_substitutes, WORDS_OF_SPACE.sub(_solid, text))
        # Leading white space would change MeCab's analysis of the first word.
        leading = len(text) - len(text := text.lstrip(" "))
        if len(self._entries) >= CACHED_ENTRIES:
            self._entries.clear()
        self._lattice.set_sentence(text)
        self._tagger.parse(self._lattice)
        lines = self._lattice.to_string().split("\n")
        del lines[-2:]  # EOS, and the rest after the last line feed
        if longest:
            moved = {start - leading: end - leading for start, end in longest.items()}
            self._search_user_words(text, lines, moved)
        return text, leading, lines

    def _search_user_words(self, text: str, lines: list[str], longest: dict[int, int]) -> None:
        """Search the path again in sentences where MeCab left out user words that nori might take.

        If the outermost user words do not overlap and all were taken, MeCab's path is nori's: no path has
        more user words, and MeCab, which values each less, found the best of all paths.
        """
        places: list[tuple[int, int]] = []  # of MeCab's words, including the preceding white space
        taken = set()
        cursor = 0
        for line in lines:
            surface = line[: line.index("\t")]
            start = text.find(surface, cursor)
            places.append((cursor, cursor := start + len(surface)))
            if USER_MARK in line:
                taken.add((start, cursor))
        wanted = outermost(longest)
        overlapping = {one for pair in pairwise(wanted) if pair[1][0] < pair[0][1] for one in pair}
        doubtful = taken.symmetric_difference(wanted) | overlapping
        if not doubtful:
            return
        # All paths include the substitute marks, so each stretch between two of them is independent.
        ends = [end for _, end in places]
        borders = [0, *(index for index, line in enumerate(lines) if line[0] in ALWAYS_READ), len(lines) - 1]
        sentences = {
            bisect_right(borders, index, hi=len(borders) - 1)
            for start, end in doubtful
            for index in range(bisect_right(ends, start), bisect_left(ends, end) + 1)
        }
        for border in sorted(sentences, reverse=True):
            first, last = borders[border - 1], borders[border]
            path = best_path(text, self._lattice, longest, places[first][0], places[last][1])
            if path:
                lines[first : last + 1] = [self._line(node, byte) for node, byte in path]

    def _line(self, node: _mecab.Node, position: int) -> str:
        """Format a node as a line of MeCab's output, and cache its entry."""
        line = f"{node.surface}\t{node.feature}"
        if line not in self._entries:
            self._remember_node(line, node, position)
        return line

    def _remember(self, line: str, position: int) -> Entry:
        """Parse the entry of a line of MeCab's output, and cache it by the line."""
        node = self._lattice.begin_nodes(position)
        while not node.isbest:
            node = node.bnext
        return self._remember_node(line, node, position)

    def _remember_node(self, line: str, node: _mecab.Node, position: int) -> Entry:
        surface, _, feature = line.partition("\t")
        if USER_MARK in feature:
            entry = self._user_entry(*self._user_entries[int(feature.rpartition(",")[2])])
        else:
            unknown = node.stat == _mecab.MECAB_UNK_NODE
            if not unknown:
                feature = self._first_twin(node, position)
            entry = self._entry(surface, feature.split(","), unknown)
        if _tag(line) == PROPER_NOUN:
            entry = entry._replace(pieces=tuple(piece._replace(tag=PROPER_NOUN) for piece in entry.pieces))
        self._entries[line] = entry
        return entry

    def _first_twin(self, node: _mecab.Node, position: int) -> str:
        """Return the feature of the duplicate that nori takes: the inflected one, from the earlier file."""
        cost = node.wcost
        alike = (node.length, node.rlength, node.lc_attr, node.rc_attr)
        features = []
        twin = self._lattice.begin_nodes(position)
        while twin is not None:
            if twin.wcost == cost and (twin.length, twin.rlength, twin.lc_attr, twin.rc_attr) == alike:
                features.append(str(twin.feature))
            twin = twin.bnext
        return next((feature for feature in features if ",Inflect," in feature), features[0])

    def _entry(self, surface: str, feature: list[str], unknown: bool) -> Entry:
        """Apply the whole chain to one dictionary entry.

        The feature's columns: part of speech, class, final consonant, reading, type, first and last part of
        speech, expression (parts as surface/tag/class, joined by +).
        """
        length = len(surface)
        if is_punctuation(surface[0]):
            return Entry(surface, length, None, (), 0, unknown)
        tag, expression = feature[0], feature[-1]
        reading, kind = feature[3:5] or ("*", "*")
        whole = reading if reading not in {"*", ""} else surface
        first_tag = tag.partition("+")[0]
        if unknown or kind == "*" or self.decompound == "none":
            return self._finish(surface, [(whole, first_tag, 0, 0, length)], 1, unknown)
        named = (part.split("/")[:2] for part in expression.split("+"))
        parts = [(form.strip(), part_tag) for form, part_tag in named if form.strip()]
        stacked: list[tuple[str, str, int, int, int]] = []
        if self.decompound == "mixed":
            stacked.append((whole, first_tag, 0, 0, length))
        rest = sum(len(form) for form, _ in parts)
        for offset, (form, part_tag) in enumerate(parts):
            if kind == "Compound":
                # Aligned from the end, so that the parts cover the surface, with the surface's letters: nori
                # keeps only their lengths (동명 of 동명왕, which the dictionary splits into 해릉+왕).
                start, rest = length - rest, rest - len(form)
                written = surface[start : start + len(form)] if start >= 0 else form
                stacked.append((written, part_tag, offset, start, start + len(form)))
            else:
                stacked.append((form, part_tag, offset, 0, length))
        return self._finish(surface, stacked, len(parts), unknown)

    def _user_entry(self, term: str, parts: Sequence[str]) -> Entry:
        """Apply the whole chain to a user word, a common noun; nori may treat its parts as punctuation."""
        length = len(term)
        if not parts or self.decompound == "none":
            if is_punctuation(term[0]):
                return Entry(term, length, None, (), 0, unknown=False)
            return self._finish(term, [(term, NOUN, 0, 0, length)], 1, unknown=False)
        stacked = [(term, NOUN, 0, 0, length)] if self.decompound == "mixed" else []
        start = 0
        for offset, part in enumerate(parts):
            stacked.append((part, NOUN, offset, start, start + len(part)))
            start += len(part)
        return self._finish(term, stacked, len(parts), unknown=False)

    def _finish(
        self, surface: str, stacked: list[tuple[str, str, int, int, int]], positions: int, unknown: bool
    ) -> Entry:
        pieces = []
        for form, tag, offset, start, end in stacked:
            term = None if tag in STOP_TAGS else self._normalize(form)
            if term is not None:
                pieces.append(Piece(term, offset, start, end, sys.intern(tag)))
        length = len(surface)
        covering = len(pieces) == 1 and pieces[0][1:4] == (0, 0, length)
        return Entry(surface, length, pieces[0].term if covering else None, tuple(pieces), positions, unknown)


def _tagged(text: str, lines: list[str], origin: int) -> Iterator[TaggedWord]:
    """Yield the words of MeCab's lines for `text`, which starts at `origin`."""
    cursor = 0
    for line in lines:
        surface = line.partition("\t")[0]
        start = text.find(surface, cursor)
        cursor = start + len(surface)
        yield _tag(line), origin + start, origin + cursor


def _tag(line: str) -> str:
    """Return the part of speech of a line of MeCab's output; several are joined by +."""
    return line.partition("\t")[2].partition(",")[0]


def _solid(spaces: regex.Match[str]) -> str:
    return SOLID_SPACE * len(spaces[0])


def _substitutes(marks: regex.Match[str]) -> str:
    return MARKS.get(marks[0]) or marks[0].translate(SUBSTITUTES)


def _mecab_input(longest: dict[int, int], text: str) -> str:
    """Prepare text for MeCab, except for marks within user words and one space after them."""
    ends = frozenset(longest.values())
    inside = {place for start, end in outermost(longest) for place in range(start, end)}

    def solid(spaces: regex.Match[str]) -> str:
        return " " if len(spaces[0]) == 1 and spaces.start() in ends else _solid(spaces)

    def substitutes(marks: regex.Match[str]) -> str:
        return "".join(
            mark if place in inside else MARKS[mark] for place, mark in enumerate(marks[0], marks.start())
        )

    return BEFORE_SPACE.sub(substitutes, WORDS_OF_SPACE.sub(solid, text))


def _ends_like_mecab(surface: str, following: str) -> bool:
    """Check whether nori's unknown word before `following` is the same as MeCab's."""
    return surface.isascii() and (following.isascii() or ord(following) in HANGUL_SYLLABLES)
