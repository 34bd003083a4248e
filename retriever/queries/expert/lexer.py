"""Lexer of the expert language."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from base.notes import Note
from retriever.errors import BadExpression

Kind = Literal["(", ")", "AND", "OR", "NOT", "+", "field", "word", "phrase", "end"]
Field = Literal[
    "text", "title", "year", "lang", "journal", "author", "type", "id", "passage_id", "doc_id", "part"
]

FIELD_NAMES: dict[Field, tuple[str, ...]] = {
    "title": ("제목", "ti"),
    "text": ("본문", "초록", "abstract"),
    "year": ("연도", "년도", "발행년", "발행연도"),
    "lang": ("언어", "language"),
    "journal": ("학술지", "저널"),
    "author": ("저자", "au"),
    "type": ("유형", "자료유형"),
    "id": (),
    "passage_id": (),
    "doc_id": (),
    "part": (),
}
FIELDS: dict[str, Field] = {name: field for field, others in FIELD_NAMES.items() for name in (field, *others)}
ANALYSED: tuple[Field, ...] = ("text", "title")
SHOWN_FIELDS = ", ".join(
    f"{field} ({', '.join(FIELD_NAMES[field])})" for field in FIELD_NAMES if FIELD_NAMES[field]
)

OPERATORS: dict[str, Kind] = {
    "AND": "AND", "&": "AND", "&&": "AND", "OR": "OR", "|": "OR", "||": "OR", "NOT": "NOT",
}  # fmt: skip
SIGNS: dict[str, Kind] = {"-": "NOT", "!": "NOT", "+": "+"}

DOUBLE_QUOTES = '"“”„‟＂'
CLOSING: dict[str, str] = {**dict.fromkeys(DOUBLE_QUOTES, DOUBLE_QUOTES), "「": "」", "『": "』"}
QUOTES = "".join(CLOSING) + "」』"
OPEN_BRACKETS, CLOSE_BRACKETS = "(（", ")）"
WORD = re.compile(rf"[^\s{OPEN_BRACKETS}{CLOSE_BRACKETS}{QUOTES}]+")
SPACE = re.compile(r"\s*")

FIELD = re.compile(r"(?P<name>[^\W\d_]\w*)[:：](?P<value>.*)", re.DOTALL)
NO_FIELD_VALUE = re.compile("//|:|：|[0-9]")
NUMBER = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?")
FUZZY = re.compile(r".*[^\W\d_]~[0-9.]*", re.DOTALL)
HIGHEST_WEIGHT = 1000
HIGHEST_SLOP = 1000
NEAR_MISS = 0.75  # of a field's name, as difflib counts


@dataclass(frozen=True, slots=True)
class Lexeme:
    """A lexeme of an expression: `text` is a word, a phrase without quotes, or a field."""

    kind: Kind
    text: str
    start: int
    weight: float = 1.0
    slop: int = 0


def lexemes(expression: str) -> list[Lexeme]:
    """Split an expression into lexemes; the last one marks the end.

    Raises:
        BadExpression: an unclosed quote, an unknown field, a weight or slop that is not a number.
    """
    return [*_Lexer(expression).lexemes(), Lexeme("end", "", len(expression))]


class _Lexer:
    def __init__(self, expression: str) -> None:
        self._text = expression
        self._place = 0

    def lexemes(self) -> Iterator[Lexeme]:
        text = self._text
        while (start := self._skip(SPACE)) < len(text):
            character = text[start]
            if character in OPEN_BRACKETS:
                self._place += 1
                yield Lexeme("(", "(", start)
            elif character in CLOSE_BRACKETS:
                self._place += 1
                yield Lexeme(")", ")", start, self._weight_behind())
            elif character in CLOSING:
                yield self._phrase()
            elif character in QUOTES:
                raise BadExpression(Note("quote_not_opened"), text, start)
            else:
                yield from self._word()

    def _skip(self, what: re.Pattern[str]) -> int:
        found = what.match(self._text, self._place)
        if found:
            self._place = found.end()
        return self._place

    def _phrase(self) -> Lexeme:
        start = self._place
        closing = CLOSING[self._text[start]]
        ends = (self._text.find(quote, start + 1) for quote in closing)
        end = min((place for place in ends if place >= 0), default=-1)
        if end < 0:
            raise BadExpression(Note("quote_not_closed"), self._text, start)
        self._place = end + 1
        # A phrase can be written in straight quotes again only if it contains none.
        text = re.sub(f"[{DOUBLE_QUOTES}]", " ", self._text[start + 1 : end])
        slop = self._slop_behind()
        return Lexeme("phrase", text, start, self._weight_behind(), slop)

    def _slop_behind(self) -> int:
        if not self._text.startswith("~", self._place):
            return 0
        start = self._place
        self._place = re.compile("~[0-9]*").match(self._text, start).end()  # type: ignore[union-attr]
        digits = self._text[start + 1 : self._place]
        if not digits or len(digits) > len(str(HIGHEST_SLOP)) or int(digits) > HIGHEST_SLOP:
            reason = Note("slop_out_of_range", most=HIGHEST_SLOP)
            raise BadExpression(reason, self._text, start)
        return int(digits)

    def _weight_behind(self) -> float:
        if not self._text.startswith("^", self._place):
            return 1.0
        start = self._place
        self._skip(WORD)
        return self._weight(self._text[start + 1 : self._place], start)

    def _weight(self, number: str, start: int) -> float:
        if not NUMBER.fullmatch(number) or float(number) > HIGHEST_WEIGHT:
            reason = Note("weight_out_of_range", most=HIGHEST_WEIGHT)
            raise BadExpression(reason, self._text, start)
        return float(number)

    def _word(self) -> Iterator[Lexeme]:
        start = self._place
        word = self._text[start : self._skip(WORD)]
        signs = len(word) - len(word.lstrip("".join(SIGNS)))
        behind_sign = self._text[self._place : self._place + 1]
        if signs == len(word) and behind_sign not in {*OPEN_BRACKETS, *CLOSING}:
            signs = 0  # a dash between words
        if start and not (self._text[start - 1].isspace() or self._text[start - 1] in OPEN_BRACKETS):
            signs = 0  # "knowledge graph"-based
        for place in range(start, start + signs):
            yield Lexeme(SIGNS[self._text[place]], self._text[place], place)
        word, start = word[signs:], start + signs
        if word in OPERATORS:
            yield Lexeme(OPERATORS[word], word, start)
        elif word:
            yield from self._field_or_word(word, start)

    def _field_or_word(self, word: str, start: int) -> Iterator[Lexeme]:
        found = FIELD.fullmatch(word)
        field = FIELDS.get(_folded(found["name"])) if found else None
        if found and field is None and _looks_like_field(found["name"], found["value"]):
            reason = Note("no_such_field", field=found["name"], fields=SHOWN_FIELDS)
            raise BadExpression(reason, self._text, start)
        if not found or field is None:
            yield self._weighted_word(word, start)
            return
        yield Lexeme("field", field, start)
        value, start = found["value"], start + found.start("value")
        if value in OPERATORS:
            yield Lexeme(OPERATORS[value], value, start)
        elif value and field in ANALYSED:
            yield self._weighted_word(value, start)
        elif value:
            yield Lexeme("word", value, start)

    def _weighted_word(self, word: str, start: int) -> Lexeme:
        text, caret, number = word.rpartition("^")
        if caret:
            weight = self._weight(number if text else "", start + len(text))
        else:
            text, weight = word, 1.0
        if FUZZY.fullmatch(text):
            reason = '~ belongs after a phrase in quotes ("…"~3); words are stemmed, not matched roughly'
            raise BadExpression(reason, self._text, start + text.rindex("~"))
        return Lexeme("word", text, start, weight)


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).lower()


def _looks_like_field(name: str, value: str) -> bool:
    if not unicodedata.normalize("NFC", name).isalpha():
        return False
    if not NO_FIELD_VALUE.match(value):
        return True
    return value[0].isdigit() and bool(get_close_matches(_folded(name), FIELDS, 1, NEAR_MISS))
