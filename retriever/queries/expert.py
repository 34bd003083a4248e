"""The expert language of librarians and researchers, parsed into queries.

    제목:"지식 그래프" AND (retrieval OR 검색) NOT survey year:2019..2024

docs/reference/expert-language.md describes it. An expression is split into lexemes, which recursive descent
turns into a query: NOT binds first, then words side by side, then AND, then OR. A filter or a NOT next to
words applies to everything in the same brackets.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import replace
from difflib import get_close_matches
from typing import Literal, NamedTuple, get_args

from base.notes import Note, note_in
from indexer.analysis import Analyzer
from indexer.corpora.chunking import Part
from retriever.errors import BadExpression, BadFilter
from retriever.queries.boolean import (
    AnalysedField,
    And,
    Exact,
    ExactField,
    Not,
    Or,
    Phrase,
    Query,
    Term,
    leaves,
    with_words,
)
from retriever.queries.filters import FIELDS, SHOWN_FIELDS, Field, parse_language, parse_years
from retriever.queries.keywords import pattern_of

Kind = Literal["(", ")", "AND", "OR", "NOT", "+", "field", "word", "phrase", "end"]
ANALYSED: tuple[Field, ...] = ("text", "title")
OPERATORS: dict[str, Kind] = {
    "AND": "AND", "&": "AND", "&&": "AND", "OR": "OR", "|": "OR", "||": "OR", "NOT": "NOT",
}  # fmt: skip
SIGNS: dict[str, Kind] = {"-": "NOT", "!": "NOT", "+": "+"}
ENDS = frozenset({"AND", "OR", ")", "end"})

DOUBLE_QUOTES = '"“”„‟＂'
CLOSING: dict[str, str] = {**dict.fromkeys(DOUBLE_QUOTES, DOUBLE_QUOTES), "「": "」", "『": "』"}
QUOTES = "".join(CLOSING) + "」』"
OPEN_BRACKETS, CLOSE_BRACKETS = "(（", ")）"
WORD = re.compile(rf"[^\s{OPEN_BRACKETS}{CLOSE_BRACKETS}{QUOTES}]+")
DOI_WITH_BRACKETS = re.compile(r"doi[:：]10\.[^\s()]*(?:\([^\s()]*\)[^\s()]*)+", re.IGNORECASE)
FIELD = re.compile(r"(?P<name>[^\W\d_]\w*)[:：](?P<value>.*)", re.DOTALL)
NO_FIELD_VALUE = re.compile("//|:|：|[0-9]")
NUMBER = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?")
OTHER_OPERATORS = {  # by the code of a note
    "operators_in_capitals": re.compile("and|or|not"),
    "operators_of_others": re.compile(r"(?:NEAR|ADJ)(?:/?\d+)?|(?:PRE|WITHIN|[WNwn])/\d+"),
    "no_truncation": re.compile(r"[\w-]+\*"),
}
SLOP = re.compile("~([0-9]*)")
FUZZY = re.compile(r".*[^\W\d_](~)[0-9.]*", re.DOTALL)
# Written bare, such a word is read as itself again: no sign before it, no field, weight or operator in it.
PLAIN_WORD = re.compile(r"[^-+!:：^~][^:：^~]*")
HIGHEST_WEIGHT = HIGHEST_SLOP = 1000
NEAR_MISS = 0.75  # of a field's name, as difflib counts
DEEPEST = 50


class Lexeme(NamedTuple):
    """A lexeme of an expression: `text` is a word, a phrase without quotes, or a field."""

    kind: Kind
    text: str
    start: int
    weight: float = 1.0
    slop: int = 0


def _lexemes(text: str) -> Iterator[Lexeme]:
    """Yield the lexemes of an expression; the last one marks the end."""
    place = 0
    while place < len(text):
        start, sign = place, text[place]
        place += 1
        if sign in OPEN_BRACKETS:
            yield Lexeme("(", "(", start)
        elif sign in CLOSE_BRACKETS:
            place, weight = _weight_behind(text, place)
            yield Lexeme(")", ")", start, weight)
        elif sign in CLOSING:
            ends = [end for quote in CLOSING[sign] if (end := text.find(quote, place)) >= 0]
            if not ends:
                raise BadExpression(Note("quote_not_closed"), text, start)
            # A phrase can be written in straight quotes again only if it contains none.
            phrase = re.sub(f"[{DOUBLE_QUOTES}]", " ", text[place : min(ends)])
            place, slop = _slop_behind(text, min(ends) + 1)
            place, weight = _weight_behind(text, place)
            yield Lexeme("phrase", phrase, start, weight, slop)
        elif sign in QUOTES:
            raise BadExpression(Note("quote_not_opened"), text, start)
        elif found := DOI_WITH_BRACKETS.match(text, start) or WORD.match(text, start):
            place = found.end()
            yield from _signs_and_word(text, start, place)
    yield Lexeme("end", "", len(text))


def _slop_behind(text: str, place: int) -> tuple[int, int]:
    """Return the place behind a slop (~3), and its number; 0 if there is none."""
    if not (found := SLOP.match(text, place)):
        return place, 0
    digits = found[1]
    if not digits or len(digits) > len(str(HIGHEST_SLOP)) or int(digits) > HIGHEST_SLOP:
        raise BadExpression(Note("slop_out_of_range", most=HIGHEST_SLOP), text, place)
    return found.end(), int(digits)


def _weight_behind(text: str, place: int) -> tuple[int, float]:
    """Return the place behind a weight (^2), and its number; 1 if there is none."""
    found = WORD.match(text, place) if text.startswith("^", place) else None
    return (found.end(), _weight(text, found[0][1:], place)) if found else (place, 1.0)


def _weight(text: str, number: str, place: int) -> float:
    if not NUMBER.fullmatch(number) or float(number) > HIGHEST_WEIGHT:
        raise BadExpression(Note("weight_out_of_range", most=HIGHEST_WEIGHT), text, place)
    return float(number)


def _signs_and_word(text: str, start: int, end: int) -> Iterator[Lexeme]:
    word = text[start:end]
    signs = len(word) - len(word.lstrip("".join(SIGNS)))
    before, behind = text[start - 1 : start], text[end : end + 1]
    if signs == len(word) and (not behind or behind not in OPEN_BRACKETS + "".join(CLOSING)):
        signs = 0  # a dash between words
    if before and not before.isspace() and before not in OPEN_BRACKETS:
        signs = 0  # "knowledge graph"-based
    for place in range(start, start + signs):
        yield Lexeme(SIGNS[text[place]], text[place], place)
    word, start = word[signs:], start + signs
    found = FIELD.fullmatch(word)
    field = FIELDS.get(_folded(found["name"])) if found else None
    if found and field:
        yield Lexeme("field", field, start)
        word, start = found["value"], start + found.start("value")
    elif found and _looks_like_field(found["name"], found["value"]):
        raise BadExpression(Note("no_such_field", field=found["name"], fields=SHOWN_FIELDS), text, start)
    if word in OPERATORS:
        yield Lexeme(OPERATORS[word], word, start)
    elif word and field and field not in ANALYSED:
        yield Lexeme("word", word, start)
    elif word:
        weighed, caret, number = word.rpartition("^")
        weight = _weight(text, number if weighed else "", start + len(weighed)) if caret else 1.0
        word = weighed if caret else word
        if fuzzy := FUZZY.fullmatch(word):
            reason = '~ belongs after a phrase in quotes ("…"~3); words are stemmed, not matched roughly'
            raise BadExpression(reason, text, start + fuzzy.start(1))
        yield Lexeme("word", word, start, weight)


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).lower()


def _looks_like_field(name: str, value: str) -> bool:
    if not unicodedata.normalize("NFC", name).isalpha():
        return False
    misspelt = value[:1].isdigit() and get_close_matches(_folded(name), FIELDS, 1, NEAR_MISS)
    return bool(misspelt or not NO_FIELD_VALUE.match(value))


def parse_expression(text: str, analyzer: Analyzer) -> Query | None:
    """Parse an expression; return None where no word is left to search for (stop words).

    Each word and phrase is analysed once, here. A Term holds the token of a word, a Phrase those of a word of
    several tokens or of a phrase in quotes, with the positions the analyzer gives them; where it stacks a
    compound on its parts, the parts.

    Raises:
        BadExpression: the expression cannot be read.
    """
    return _Parser(text, analyzer).parse()


def expression_notes(text: str) -> Iterator[Note]:
    """Yield a note for each kind of operator that is only a word here: and, NEAR/3, a star."""
    words = dict.fromkeys(lexeme.text for lexeme in _lexemes(text) if lexeme.kind == "word")
    for code, sign in OTHER_OPERATORS.items():
        if found := [word for word in words if sign.fullmatch(word)]:
            yield Note(code, words=", ".join(found))


class _Side(NamedTuple):
    """A side of an operator. `query` is None where its words fell away; `negative` only leaves out."""

    query: Query | None
    start: int
    negative: bool = False
    must: bool = False


class _Parser:
    def __init__(self, text: str, analyzer: Analyzer) -> None:
        self._text = text
        self._analyzer = analyzer
        self._lexemes = list(_lexemes(text))
        self._place = 0
        self._depth = 0

    def parse(self) -> Query | None:
        if self._next.kind == "end":
            return None
        whole = self._alternatives("text")
        if self._next.kind == ")":
            raise self._bad(Note("bracket_not_opened"), self._next)
        if whole.negative:
            raise self._bad(Note("only_excludes"), whole)
        return whole.query

    @property
    def _next(self) -> Lexeme:
        return self._lexemes[self._place]

    def _take(self, *kinds: Kind) -> Lexeme | None:
        """Return the next lexeme and go on if it is of one of these kinds, else None."""
        if self._next.kind not in kinds:
            return None
        self._place += 1
        return self._lexemes[self._place - 1]

    def _bad(self, reason: str, at: Lexeme | _Side) -> BadExpression:
        return BadExpression(reason, self._text, at.start)

    def _alternatives(self, field: Field) -> _Side:
        """Parse up to a closing bracket or the end: sides of OR, and what holds for all of them."""
        for_all: list[_Side] = []
        sides = [self._conjunction(field, for_all)]
        while self._take("OR"):
            sides.append(self._conjunction(field, for_all))
        if len(sides) == 1 and not for_all:
            return sides[0]
        for side in sides if len(sides) > 1 else ():
            if side.negative:
                raise self._bad(Note("side_only_excludes"), side)
        start = sides[0].start
        return _all_of([_Side(_joined(Or, _queries(sides)), start), *for_all], start)

    def _conjunction(self, field: Field, for_all: list[_Side]) -> _Side:
        sides = [self._side_by_side(field, for_all)]
        while self._take("AND"):
            sides.append(self._side_by_side(field, for_all))
        return _all_of(sides, sides[0].start)

    def _side_by_side(self, field: Field, for_all: list[_Side]) -> _Side:
        """Parse adjacent clauses without an operator; filters and negations next to words go to `for_all`."""
        start = self._next.start
        words: list[_Side] = []
        beside: list[_Side] = []
        while self._next.kind not in ENDS:
            side = self._signed(field)
            # In year:(2019 2021) the values are what is looked for.
            filters = field in ANALYSED and side.query is not None and _only_filters(side.query)
            (beside if side.negative or filters else words).append(side)
        if words:
            for_all += beside
            return _Side(self._words(words), start)
        if beside:
            return _all_of(beside, start)
        around = self._lexemes[max(0, self._place - 1) : self._place + 1]
        for each in around:
            if each.kind in {"AND", "OR"}:
                raise self._bad(Note("operator_needs_sides", operator=each.text), each)
        raise self._bad(Note("bracket_not_opened"), self._next)

    def _words(self, sides: list[_Side]) -> Query | None:
        must = _queries(side for side in sides if side.must)
        may = _queries(side for side in sides if not side.must)
        if not must or not may:
            return _joined(And, must) if must else _joined(Or, may)
        # What may match adds to the score beside a copy, without weight, of what must.
        anchor = next((one for one in must if isinstance(one, Term | Phrase)), None)
        if anchor is None:
            raise self._bad(Note("plus_before_brackets"), next(side for side in sides if side.must))
        either = _joined(Or, [replace(anchor, weight=0.0), *may])
        return _joined(And, [*must, either] if either else must)

    def _signed(self, field: Field) -> _Side:
        start = self._next.start
        negative = must = False
        while sign := self._take("NOT", "+"):
            negative ^= sign.kind == "NOT"
            must |= sign.kind == "+"
            if self._next.kind in ENDS:
                raise self._bad(Note("sign_needs_operand", sign=sign.text), sign)
        side = self._operand(field)
        if negative:
            return _Side(_negated(side.query) if side.query else None, start, not side.negative)
        return side._replace(start=start, must=must)

    def _operand(self, field: Field) -> _Side:
        if opening := self._take("("):
            return self._brackets(opening, field)
        if not (named := self._take("field")):
            self._place += 1
            lexeme = self._lexemes[self._place - 1]
            return _Side(self._leaf(lexeme, field), lexeme.start)
        if self._next.kind not in {"word", "phrase", "("}:
            raise self._bad(Note("field_needs_value", field=named.text), named)
        return self._operand(FIELDS[named.text])._replace(start=named.start)

    def _brackets(self, opening: Lexeme, field: Field) -> _Side:
        if self._next.kind == ")":
            raise self._bad(Note("brackets_empty"), opening)
        if self._next.kind == "end":
            raise self._bad(Note("bracket_not_closed"), opening)
        self._depth += 1
        if self._depth > DEEPEST:
            raise self._bad(Note("brackets_too_deep", most=DEEPEST), opening)
        side = self._alternatives(field)
        self._depth -= 1
        if not (closing := self._take(")")):
            raise self._bad(Note("bracket_not_closed"), opening)
        query = _weighed(side.query, closing.weight) if side.query else None
        return _Side(query, opening.start, side.negative)

    def _leaf(self, lexeme: Lexeme, field: Field) -> Query | None:
        if field == "text" or field == "title":  # noqa: PLR1714 - mypy narrows this form
            return self._analysed(lexeme, field)
        if lexeme.weight != 1 or lexeme.slop:
            raise self._bad(Note("field_only_filters", field=field), lexeme)
        value = unicodedata.normalize("NFC", lexeme.text.strip())
        try:
            return _condition(field, value)
        except BadFilter as error:
            raise self._bad(note_in(error), lexeme) from None

    def _analysed(self, lexeme: Lexeme, field: AnalysedField) -> Term | Phrase | None:
        tokens = self._analyzer.analyze(unicodedata.normalize("NFC", lexeme.text))
        if not tokens:
            return None
        pattern, text, weight = pattern_of(tokens), lexeme.text, lexeme.weight
        plain = lexeme.kind == "word" and PLAIN_WORD.fullmatch(text) and text not in OPERATORS
        if plain and len(pattern) == 1:
            return Term(text, (pattern[0][1],), field, weight)
        return Phrase(text, pattern, field, weight, lexeme.slop)


# The stored fields of a condition.
EXACT: dict[Field, tuple[ExactField, ...]] = {
    "lang": ("lang",),
    "journal": ("journal",),
    "author": ("authors",),
    "type": ("type",),
    "id": ("doc_id", "passage_id"),
    "doi": ("doi",),
    "passage_id": ("passage_id",),
    "doc_id": ("doc_id",),
    "part": ("part",),
}


def _condition(field: Field, value: str) -> Query:
    if field == "year":
        return parse_years(value)
    if not value:
        raise BadFilter(Note("value_missing", field=field))
    if field == "part" and value not in get_args(Part):
        raise BadFilter(Note("no_such_part", part=value, parts=", ".join(get_args(Part))))
    value = parse_language(value) if field == "lang" else value
    clauses = tuple(Exact(name, (value,)) for name in EXACT[field])
    return clauses[0] if len(clauses) == 1 else Or(clauses)


def _queries(sides: Iterable[_Side]) -> list[Query]:
    return [side.query for side in sides if side.query is not None]


def _all_of(sides: list[_Side], start: int) -> _Side:
    """Join what must all hold; where every word of it fell away, what it leaves out falls away too."""
    negative = all(side.negative for side in sides)
    if not negative and all(side.negative or side.query is None for side in sides):
        return _Side(None, start)
    return _Side(_joined(And, _queries(sides)), start, negative)


def _only_filters(query: Query) -> bool:
    return not any(isinstance(leaf, Term | Phrase) for leaf in leaves(query))


def _joined(kind: type[Or | And], queries: list[Query]) -> Query | None:
    clauses = [one for query in queries for one in (query.clauses if isinstance(query, kind) else (query,))]
    return clauses[0] if len(clauses) == 1 else kind(tuple(clauses)) if clauses else None


def _negated(query: Query) -> Query | None:
    """Negate; what is negated twice is what it was."""
    if isinstance(query, Not):
        return query.clause
    if isinstance(query, And) and all(isinstance(clause, Not) for clause in query.clauses):
        return _joined(Or, [clause.clause for clause in query.clauses if isinstance(clause, Not)])
    return Not(query)


def _weighed(query: Query, weight: float) -> Query:
    return with_words(query, lambda word: replace(word, weight=word.weight * weight))
