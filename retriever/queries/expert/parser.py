"""Lexemes of the expert language to a query; each word and phrase is analysed once, here."""

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import get_args

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
    Range,
    Term,
)
from retriever.queries.expert.lexer import ANALYSED, OPERATORS, Field, Lexeme, lexemes
from retriever.queries.filters import parse_language, parse_years
from retriever.queries.keywords import pattern_of

DEEPEST = 50
ENDS = frozenset({"AND", "OR", ")", "end"})
# Written bare, such a word is read as itself again: no sign before it, no field, weight or operator in it.
PLAIN_WORD = re.compile(r"[^-+!:：^~][^:：^~]*")


def parse_expression(text: str, analyzer: Analyzer) -> Query | None:
    """Read an expression of the expert language; None where no word is left to search for (stop words).

    The language is described in `retriever.queries.expert`. A Term holds the token of a word, a Phrase those
    of a word of several tokens or of a phrase in quotes, with the positions the analyzer gives them; where it
    stacks a compound on its parts, the parts.

    Raises:
        BadExpression: the expression cannot be read.
    """
    for position, character in enumerate(text):
        if unicodedata.category(character) == "Cs":
            raise BadExpression("half of a surrogate pair is no character", text, position)
    return _Parser(text, analyzer).parse()


@dataclass(frozen=True, slots=True)
class _Part:
    """A side of an operator. `query` is None where its words fell away; `negative` only leaves out."""

    query: Query | None
    start: int
    negative: bool = False
    must: bool = False


class _Parser:
    def __init__(self, text: str, analyzer: Analyzer) -> None:
        self._text = text
        self._analyzer = analyzer
        self._lexemes = lexemes(text)
        self._place = 0
        self._depth = 0

    def parse(self) -> Query | None:
        if self._next.kind == "end":
            return None
        whole = self._alternatives("text")
        if self._next.kind == ")":
            raise self._bad(Note("bracket_not_opened"), self._next)
        if whole.negative:
            reason = Note("only_excludes")
            raise BadExpression(reason, self._text, whole.start)
        return whole.query

    @property
    def _next(self) -> Lexeme:
        return self._lexemes[self._place]

    def _take(self) -> Lexeme:
        lexeme = self._lexemes[self._place]
        self._place += 1
        return lexeme

    def _bad(self, reason: str, lexeme: Lexeme) -> BadExpression:
        return BadExpression(reason, self._text, lexeme.start)

    def _alternatives(self, field: Field) -> _Part:
        """Read up to a closing bracket or the end: sides of OR, and what holds for all of them."""
        for_all: list[_Part] = []
        sides = [self._conjunction(field, for_all)]
        while self._next.kind == "OR":
            self._take()
            sides.append(self._conjunction(field, for_all))
        if len(sides) == 1 and not for_all:
            return sides[0]
        for side in sides:
            if side.negative and len(sides) > 1:
                reason = Note("side_only_excludes")
                raise BadExpression(reason, self._text, side.start)
        start = sides[0].start
        return _all_of([_Part(_or(_queries(sides)), start), *for_all], start)

    def _conjunction(self, field: Field, for_all: list[_Part]) -> _Part:
        sides = [self._side_by_side(field, for_all)]
        while self._next.kind == "AND":
            self._take()
            sides.append(self._side_by_side(field, for_all))
        return _all_of(sides, sides[0].start)

    def _side_by_side(self, field: Field, for_all: list[_Part]) -> _Part:
        """Parse adjacent clauses without an operator; filters and negations next to words go to `for_all`."""
        start = self._next.start
        parts: list[_Part] = []
        while self._next.kind not in ENDS:
            parts.append(self._signed(field))
        if not parts:
            raise self._nothing_beside_operator()
        words: list[_Part] = []
        beside: list[_Part] = []
        for part in parts:
            # In year:(2019 2021) the values are what is looked for.
            filters = field in ANALYSED and part.query is not None and _only_filters(part.query)
            (beside if part.negative or filters else words).append(part)
        if not words:
            return _all_of(beside, start)
        for_all += beside
        return _Part(self._words(words), start)

    def _nothing_beside_operator(self) -> BadExpression:
        beside = [*self._lexemes[max(0, self._place - 1) : self._place], self._next]
        operator = next((each for each in beside if each.kind in {"AND", "OR"}), None)
        if operator is None:
            return self._bad(Note("bracket_not_opened"), self._next)
        return self._bad(Note("operator_needs_sides", operator=operator.text), operator)

    def _words(self, parts: list[_Part]) -> Query | None:
        must = _queries(part for part in parts if part.must)
        may = _queries(part for part in parts if not part.must)
        if not must or not may:
            return _and(must) if must else _or(may)
        # What may match adds to the score beside a copy, without weight, of what must.
        anchor = next((one for one in must if isinstance(one, Term | Phrase)), None)
        if anchor is None:
            start = next(part.start for part in parts if part.must)
            reason = Note("plus_before_brackets")
            raise BadExpression(reason, self._text, start)
        either = _or([replace(anchor, weight=0.0), *may])
        return _and([*must, either] if either else must)

    def _signed(self, field: Field) -> _Part:
        sign = None
        start = self._next.start
        negative = must = False
        while self._next.kind in {"NOT", "+"}:
            sign = self._take()
            negative ^= sign.kind == "NOT"
            must |= sign.kind == "+"
        if sign is not None and self._next.kind in ENDS:
            raise self._bad(Note("sign_needs_operand", sign=sign.text), sign)
        part = self._operand(field)
        if negative:
            query = _negated(part.query) if part.query else None
            return _Part(query, start, not part.negative)
        return replace(part, start=start, must=must)

    def _operand(self, field: Field) -> _Part:
        lexeme = self._take()
        if lexeme.kind == "(":
            return self._brackets(lexeme, field)
        if lexeme.kind != "field":
            return _Part(self._leaf(lexeme, field), lexeme.start)
        if self._next.kind not in {"word", "phrase", "("}:
            raise self._bad(Note("field_needs_value", field=lexeme.text), lexeme)
        inner: Field = lexeme.text  # type: ignore[assignment]
        return replace(self._operand(inner), start=lexeme.start)

    def _brackets(self, opening: Lexeme, field: Field) -> _Part:
        if self._next.kind == ")":
            raise self._bad(Note("brackets_empty"), opening)
        if self._next.kind == "end":
            raise self._bad(Note("bracket_not_closed"), opening)
        self._depth += 1
        if self._depth > DEEPEST:
            raise self._bad(Note("brackets_too_deep", most=DEEPEST), opening)
        part = self._alternatives(field)
        self._depth -= 1
        closing = self._take()
        if closing.kind != ")":
            raise self._bad(Note("bracket_not_closed"), opening)
        query = _weighed(part.query, closing.weight) if part.query else None
        return _Part(query, opening.start, part.negative)

    def _leaf(self, lexeme: Lexeme, field: Field) -> Query | None:
        if field == "text" or field == "title":  # noqa: PLR1714 - mypy narrows this form
            return self._analysed(lexeme, field)
        if lexeme.weight != 1 or lexeme.slop:
            raise self._bad(Note("field_only_filters", field=field), lexeme)
        value = unicodedata.normalize("NFC", lexeme.text.strip())
        try:
            return VALUES[field](value)
        except BadFilter as error:
            raise self._bad(note_in(error), lexeme) from None

    def _analysed(self, lexeme: Lexeme, field: AnalysedField) -> Term | Phrase | None:
        tokens = self._analyzer.analyze(unicodedata.normalize("NFC", lexeme.text))
        if not tokens:
            return None
        pattern = pattern_of(tokens)
        text, weight = lexeme.text, lexeme.weight
        plain = lexeme.kind == "word" and PLAIN_WORD.fullmatch(text) and text not in OPERATORS
        if plain and len(pattern) == 1:
            return Term(text, (pattern[0][1],), field, weight)
        return Phrase(text, pattern, field, weight, lexeme.slop)


def _exact(field: ExactField, value: str) -> Query:
    if not value:
        raise BadFilter(Note("value_missing", field=field))
    if field == "part" and value not in get_args(Part):
        raise BadFilter(Note("no_such_part", part=value, parts=", ".join(get_args(Part))))
    return Exact(field, (value,))


VALUES: dict[Field, Callable[[str], Query]] = {
    "year": parse_years,
    "lang": lambda value: Exact("lang", (parse_language(value),)),
    "journal": lambda value: _exact("journal", value),
    "author": lambda value: _exact("authors", value),
    "type": lambda value: _exact("type", value),
    "id": lambda value: Or((_exact("doc_id", value), _exact("passage_id", value))),
    "passage_id": lambda value: _exact("passage_id", value),
    "doc_id": lambda value: _exact("doc_id", value),
    "part": lambda value: _exact("part", value),
}


def _queries(parts: Iterable[_Part]) -> list[Query]:
    return [part.query for part in parts if part.query is not None]


def _all_of(parts: list[_Part], start: int) -> _Part:
    """Join what must all hold; where every word of it fell away, what it leaves out falls away too."""
    if all(part.negative for part in parts):
        return _Part(_and(_queries(parts)), start, negative=True)
    if all(part.negative or part.query is None for part in parts):
        return _Part(None, start)
    return _Part(_and(_queries(parts)), start)


def _only_filters(query: Query) -> bool:
    match query:
        case Term() | Phrase():
            return False
        case Range() | Exact():
            return True
        case Not(clause=clause):
            return _only_filters(clause)
        case Or(clauses=clauses) | And(clauses=clauses):
            return all(map(_only_filters, clauses))


def _joined(kind: type[Or | And], queries: list[Query]) -> Query | None:
    clauses = [one for query in queries for one in (query.clauses if isinstance(query, kind) else (query,))]
    return clauses[0] if len(clauses) == 1 else kind(tuple(clauses)) if clauses else None


_or, _and = partial(_joined, Or), partial(_joined, And)


def _negated(query: Query) -> Query | None:
    """Negate; what is negated twice is what it was."""
    if isinstance(query, Not):
        return query.clause
    if isinstance(query, And) and all(isinstance(clause, Not) for clause in query.clauses):
        return _or([clause.clause for clause in query.clauses if isinstance(clause, Not)])
    return Not(query)


def _weighed(query: Query, weight: float) -> Query:
    if weight == 1:
        return query
    match query:
        case Term() | Phrase():
            return replace(query, weight=query.weight * weight)
        case Or(clauses=clauses) | And(clauses=clauses):
            return type(query)(tuple(_weighed(clause, weight) for clause in clauses))
        case _:
            return query
