"""Sentences and clauses of a text as terms, so that what is said in one is compared with the right other."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import TypeVar

from generator.checking.numbers.quantities import Quantity, quantities
from indexer.analysis.tokens import Analyzer, TaggedWord, Token
from indexer.corpora.chunking import split_sentences
from indexer.glossary.pairs import HANGUL
from indexer.glossary.storage import Glossary

# Where a clause ends, but for Korean verbs, whose endings are told by the analysis.
BREAK = re.compile(
    r"(?<![\d%℃])[,]\s|,\s(?![\d-])|[;:—]\s|\s[–-]\s|\b(?:while|whereas|but|although|though|yet|because|unless|however|until|when|where)\b",
    re.IGNORECASE,
)
LATIN = re.compile("[A-Za-z]")
PRONOUN = re.compile(r"\s*(?:(?:It|They|This|These|That|Those)\b|(?:이는|이들은|이것은|그것은|이로써) )")
KOREAN_ENDINGS = ("고", "며", "나", "만", "데", "면서", "면", "자", "므로", "니")
AUXILIARY = ("있", "싶", "나서", "보니")
Item = TypeVar("Item")


def starting_in(
    items: Sequence[Item], start_of: Callable[[Item], int], start: int, end: int
) -> Sequence[Item]:
    """Return the items that start in a span, of items in the order of their starts."""
    first = bisect_left(items, start, key=start_of)
    return items[first : bisect_left(items, end, first, key=start_of)]


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause: its span in the text, its tokens, and the number of its sentence."""

    start: int
    end: int
    tokens: tuple[Token, ...]
    sentence: int


@dataclass(frozen=True)
class Text:
    """A text with its tokens, cut into clauses."""

    text: str
    tokens: tuple[Token, ...]
    clauses: tuple[Clause, ...]
    quantities: tuple[Quantity, ...]
    tagged: tuple[TaggedWord, ...] = ()  # of a text with Hangul

    @cached_property
    def korean(self) -> bool:
        """Whether the text is Korean, rather than English with a few terms in Hangul."""
        return bool(self.tagged) and 2 * len(HANGUL.findall(self.text)) > len(LATIN.findall(self.text))

    def words_of(self, clause: Clause) -> str:
        """Return the clause as written."""
        return self.text[clause.start : clause.end]

    def quantities_in(self, start: int, end: int) -> Sequence[Quantity]:
        """Return the quantities that start in a span."""
        return starting_in(self.quantities, _start_of_quantity, start, end)

    def in_quantity(self, token: Token) -> bool:
        """Return whether a token is a part of a number or of its unit."""
        place = bisect_right(self.quantities, token[2], key=_start_of_quantity) - 1
        return place >= 0 and token[2] < self.quantities[place].start + len(self.quantities[place].text)

    def tokens_around(self, place: int) -> tuple[Token, ...]:
        """Return the tokens of the clause that holds a place of the text; none where it has no word."""
        starts = [clause.start for clause in self.clauses]
        return self.clauses[max(0, bisect_right(starts, place) - 1)].tokens if starts else ()

    @cached_property
    def sentences(self) -> dict[int, tuple[int, int, set[str]]]:
        """The sentences by their number: begin, end and terms.

        A sentence that begins with a pronoun is about the one before it, whose terms it has too.
        """
        found: dict[int, tuple[int, int, set[str]]] = {}
        for clause in self.clauses:
            if clause.sentence in found:
                begin, _, words = found[clause.sentence]
            else:
                begin, words = clause.start, set()
                if PRONOUN.match(self.text, begin) and clause.sentence - 1 in found:
                    words = found[clause.sentence - 1][2]
            found[clause.sentence] = begin, clause.end, words | terms_of(clause.tokens)
        return found

    @cached_property
    def sentences_of_quantities(self) -> list[int]:
        """The number of the sentence of each quantity."""
        starts = [clause.start for clause in self.clauses]
        places = [max(0, bisect_right(starts, quantity.start) - 1) for quantity in self.quantities]
        return [self.clauses[place].sentence if self.clauses else 0 for place in places]


def read_text(text: str, analyzer: Analyzer) -> Text:
    """Cut a text into sentences and these into clauses."""
    tokens = tuple(analyzer.analyze(text))
    tagged = analyzer.tagged_words(text) if HANGUL.search(text) else []
    breaks = sorted({match.end() for match in BREAK.finditer(text)} | set(_verb_endings(text, tagged)))
    clauses = []
    for number, (begin, end) in enumerate(split_sentences(text)):
        edges = [begin, *starting_in(breaks, int, begin + 1, end), end]
        for start, stop in pairwise(edges):
            if held := starting_in(tokens, start_of_token, start, stop):
                clauses.append(Clause(start, stop, tuple(held), number))
    return Text(text, tokens, tuple(clauses), tuple(quantities(text)), tuple(tagged))


def start_of_token(token: Token) -> int:
    """Return where a token starts in its text."""
    return token[2]


def _start_of_quantity(quantity: Quantity) -> int:
    return quantity.start


def _verb_endings(text: str, tagged: Sequence[TaggedWord]) -> Iterator[int]:
    for tag, start, end in tagged:
        behind = text[end : end + 4].lstrip(" ,")
        if (
            tag.rpartition("+")[2] == "EC"
            and text[start:end].endswith(KOREAN_ENDINGS)
            and text[end : end + 1] in {" ", ","}
            and not behind.startswith(AUXILIARY)
        ):
            yield end


def terms_of(tokens: Sequence[Token]) -> set[str]:
    """Return the distinct terms of tokens."""
    return {token[0] for token in tokens}


Translation = tuple[tuple[str, ...], tuple[str, ...]]  # terms of a text, and those of the other language


def translations_of(text: Text, glossary: Glossary) -> frozenset[Translation]:
    """Return what the glossary knows of a text's terms."""
    words = [token[0] for token in text.tokens]
    return frozenset(
        (tuple(words[match.start : match.end]), tuple(match.other_tokens))
        for match in glossary.translations(words)
    )


class Bridge:
    """Which terms of another text a token stands for: itself, and across languages the glossary's.

    A pair counts from either side: 의사 is looked up as "physician", but "doctor" as 의사.
    """

    def __init__(
        self, tokens: Sequence[Token], glossary: Glossary, others: Iterable[Translation] = ()
    ) -> None:
        """Look up all tokens of a sentence at once; `others` are the translations of its sources' terms."""
        words = [token[0] for token in tokens]
        self._others: dict[tuple[int, int], set[frozenset[str]]] = {}
        self._own: dict[tuple[int, int], tuple[str, ...]] = {}
        self._technical: set[tuple[int, int]] = set()  # spans of terms that papers list as such
        for match in glossary.translations(words):
            span = self._add(tokens, match.start, match.end, match.other_tokens)
            if not {"keywords", "title", "user"}.isdisjoint(match.pair.sources):
                self._technical.add(span)
        by_first: dict[str, list[Translation]] = {}
        for theirs, ours in others:
            by_first.setdefault(ours[0], []).append((theirs, ours))
        for start, word in enumerate(words):
            for theirs, ours in by_first.get(word, ()):
                if tuple(words[start : start + len(ours)]) == ours:
                    self._add(tokens, start, start + len(ours), theirs)

    def _add(self, tokens: Sequence[Token], start: int, end: int, other: Sequence[str]) -> tuple[int, int]:
        span = tokens[start][2], tokens[end - 1][3]
        self._others.setdefault(span, set()).add(frozenset(other))
        self._own[span] = tuple(token[0] for token in tokens[start:end])
        return span

    def technical_missing(self, tokens: Sequence[Token], held: AbstractSet[str]) -> Iterator[tuple[str, ...]]:
        """Yield the technical terms of these tokens of which `held` has no word, in either language."""
        starts = {token[2] for token in tokens}
        for span in sorted(self._technical):
            words = self._own[span]
            if span[0] in starts and not held & {*words, *chain.from_iterable(self._others[span])}:
                yield words

    def found(self, held: set[str], within: Clause | None = None) -> list[bool]:
        """Tell for each term that the glossary knows whether it stands among `held`, in either language."""
        return [
            held.issuperset(self._own[span]) or any(held.issuperset(other) for other in others)
            for span, others in self._others.items()
            if within is None or within.start <= span[0] < within.end
        ]

    def matched(self, tokens: Sequence[Token], held: AbstractSet[str]) -> set[str]:
        """Return those of the terms in `held` that these tokens stand for, in either language."""
        found = {token[0] for token in tokens if token[0] in held and not token[0].isdigit()}
        if tokens:
            begin, end = tokens[0][2], tokens[-1][3]
            for (start, stop), others in self._others.items():
                if begin <= start and stop <= end:
                    found.update(*(other for other in others if held >= other))
        return found

    def shared(self, tokens: Sequence[Token], held: AbstractSet[str]) -> int:
        """Count the terms of these tokens that stand among `held`, in either language."""
        found = {token[0] for token in tokens if token[0] in held and not token[0].isdigit()}
        translated: set[int] = set()  # where the tokens start
        if tokens:
            begin, end = tokens[0][2], tokens[-1][3]
            for (start, stop), others in self._others.items():
                if begin <= start and stop <= end and any(held >= other for other in others):
                    # A term of several words counts as so many.
                    inside = [token for token in tokens if start <= token[2] < stop]
                    translated |= {token[2] for token in inside if token[0] not in held}
        return len(found) + len(translated)


def nearest_sentences(
    sources: Sequence[Text], tokens: Sequence[Token], bridge: Bridge, near: float
) -> list[dict[int, str]]:
    """Return for each source the sentences, by number, that share most with these tokens of a sentence.

    `near` is the least share of what the best sentence of the sources shares.
    """
    shared = [
        {
            number: (bridge.shared(tokens, words), source.text[begin:end])
            for number, (begin, end, words) in source.sentences.items()
        }
        for source in sources
    ]
    best = max((count for counts in shared for count, _ in counts.values()), default=0)
    return [
        {number: text for number, (count, text) in counts.items() if count >= near * best}
        for counts in shared
    ]
