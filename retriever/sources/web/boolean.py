"""Queries in the Boolean syntax of a service.

Words keep only letters, digits and the characters that join them. Anything that could be syntax becomes a
space. Weights are left out, because no service supports them.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote_plus

from retriever.queries.boolean import AnalysedField, And, Exact, Not, Or, Phrase, Query, Range, Term

NO_WORD = re.compile(r"[^\w.'’-]+|_+")
EDGES = ".'’-"
RESERVED = frozenset({"and", "or", "not", "andnot", "to", "near"})
TITLES = "titles cannot be searched alone here: their words were searched everywhere"


class NotExpressible(ValueError):
    """A query that a service's syntax cannot express; the message is the reason."""


def anywhere(words: str, _: AnalysedField = "text") -> str:
    """Format words for any field: a single word unquoted, so that it is stemmed, several in quotes."""
    return words if words.isalnum() else f'"{words}"'


def in_address(query: str) -> int:
    """Return the length of a query in an address."""
    return len(quote_plus(query))


@dataclass(frozen=True, slots=True)
class Syntax:
    """The syntax of a service for words and operators.

    `word` is called with a word or a phrase, without any syntax, and the field.
    """

    word: Callable[[str, AnalysedField], str] = anywhere
    either: str = " OR "
    both: str = " AND "
    without: str = " NOT "
    brackets: bool = True
    titles: bool = True  # it can search titles alone
    length: Callable[[str], int] = len
    longest: int = 2_000  # by `length`


@dataclass(frozen=True, slots=True)
class WrittenQuery:
    """A query in a service's syntax, "" if there is nothing to send, and notes for the reader."""

    text: str
    notes: tuple[str, ...] = ()


def write_query(query: Query, syntax: Syntax) -> WrittenQuery:
    """Convert a query; if it is too long, its last words are cut, but never its exclusions."""
    words = len(_words(whole := _simplified(query)))

    def length(count: int) -> int:
        return syntax.length(_written(_first_words(whole, count), syntax))

    try:
        text, fit = _written(whole, syntax), words
        if syntax.length(text) > syntax.longest:
            fit = bisect_right(range(1, words), syntax.longest, key=length)
            text = _written(_first_words(whole, fit), syntax) if fit else ""
    except NotExpressible as error:
        return WrittenQuery("", (f"a query was not sent: {error}",))
    if not text:
        why = "its words are too long for the service" if fit < words else "it has no words"
        return WrittenQuery("", () if query == Or(()) else (f"a query was not sent: {why}",))
    lost = f"a query was too long for the service and lost its last {words - fit} of {words} words"
    is_in_titles = any(word.field == "title" for word in _words(whole)[:fit])
    notes = {lost: fit < words, TITLES: is_in_titles and not syntax.titles}
    return WrittenQuery(text, tuple(note for note, applies in notes.items() if applies))


def plain_words(text: str) -> str:
    """Return the words of a text, separated by single spaces, without any character of syntax."""
    cleaned = NO_WORD.sub(" ", unicodedata.normalize("NFC", text))
    words = (word.strip(EDGES) for word in cleaned.split())
    return " ".join(word.lower() if word.lower() in RESERVED else word for word in words if word)


def _simplified(query: Query) -> Query:
    """Drop empty clauses, title words of an Or that are searched everywhere anyway, joins of one clause."""
    if not isinstance(query, Or | And):
        return Not(_simplified(query.clause)) if isinstance(query, Not) else query
    clauses = [each for each in map(_simplified, query.clauses) if each not in {Or(()), And(())}]
    if isinstance(query, Or):
        texts = {each.text for each in clauses if isinstance(each, Term | Phrase) and each.field == "text"}
        clauses = [
            each
            for each in clauses
            if not (isinstance(each, Term | Phrase) and each.field == "title" and each.text in texts)
        ]
    alone = len(clauses) == 1 and not isinstance(clauses[0], Not)
    return clauses[0] if alone else type(query)(tuple(clauses))


def _words(query: Query) -> list[Term | Phrase]:
    """Return the words of a query that are not excluded."""
    if isinstance(query, Or | And):
        return [word for clause in query.clauses for word in _words(clause)]
    return [query] if isinstance(query, Term | Phrase) else []


def _first_words(query: Query, count: int) -> Query:
    """Return the query with its first `count` words, and everything else.

    An alternative without any of its words is dropped with its exclusions.
    """
    left = iter(range(count))

    def cut(part: Query) -> Query:
        if isinstance(part, Or):
            return Or(tuple(kept for each in part.clauses if _words(kept := cut(each)) or not _words(each)))
        if isinstance(part, And):
            return And(tuple(map(cut, part.clauses)))
        is_lost = isinstance(part, Term | Phrase) and next(left, None) is None
        return Or(()) if is_lost else part

    return _simplified(cut(query))


def _written(query: Query, syntax: Syntax) -> str:
    match query:
        case Term(text=text, field=field) | Phrase(text=text, field=field):
            # A heading keeps its commas: Diabetes Mellitus, Type 2.
            parts = text.split(",") if field == "heading" else [text]
            words = ", ".join(filter(None, map(plain_words, parts)))
            return syntax.word(words, field) if words else ""
        case Or(clauses=clauses):
            if any(isinstance(clause, Not) for clause in clauses):
                raise NotExpressible("it only excludes words within an OR")
            found = (_bracketed(clause, syntax) for clause in clauses)
            return syntax.either.join(dict.fromkeys(filter(None, found)))
        case And(clauses=clauses):
            wanted = [clause for clause in clauses if not isinstance(clause, Not)]
            others = [clause.clause for clause in clauses if isinstance(clause, Not)]
            alone = len(wanted) == 1 and not syntax.brackets  # exclusions may follow an OR
            texts = [_written(each, syntax) if alone else _bracketed(each, syntax) for each in wanted]
            # An excluded OR gives one exclusion per word.
            excluded = [one for each in others for one in (each.clauses if isinstance(each, Or) else [each])]
            refused = list(filter(None, (_bracketed(each, syntax) for each in excluded)))
            if refused and not any(texts):
                raise NotExpressible("it only excludes")
            return syntax.both.join(filter(None, texts)) + "".join(syntax.without + each for each in refused)
        case Not():
            raise NotExpressible("it only excludes")
        case Range() | Exact():
            raise NotExpressible("the service does not support one of its filters")


def _bracketed(clause: Query, syntax: Syntax) -> str:
    text = _written(clause, syntax)
    if not text or not isinstance(clause, Or | And):
        return text
    if not syntax.brackets:
        raise NotExpressible("the service knows no brackets")
    return f"({text})"
