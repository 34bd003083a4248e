"""Queries in the Boolean syntax of a service.

Words keep only letters, digits and the characters that join them. Anything that could be syntax becomes a
space. Weights are left out, because no service supports them.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from retriever.queries.boolean import AnalysedField, And, Exact, Not, Or, Phrase, Query, Range, Term

NO_WORD = re.compile(r"[^\w.'’-]+|_+")
EDGES = ".'’-"
RESERVED = frozenset({"and", "or", "not", "andnot", "to", "near"})


class NotExpressible(ValueError):
    """A query that a service's syntax cannot express; the message is the reason."""


@dataclass(frozen=True, slots=True)
class Syntax:
    """The syntax of a service for words and operators.

    `word` is called with a word or a phrase, without any syntax, and the field.
    """

    word: Callable[[str, AnalysedField], str]
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


def searched_everywhere(words: str, field: AnalysedField) -> str:
    """Format words for any field: a single word unquoted, so that it is stemmed, several in quotes."""
    del field
    return words if words.isalnum() else f'"{words}"'


def write_query(query: Query, syntax: Syntax) -> WrittenQuery:
    """Convert a query; if it is too long, its last words are cut, but never its exclusions."""
    try:
        text = _written(query, syntax)
        if not text:
            empty = isinstance(query, Or) and not query.clauses
            return WrittenQuery("", () if empty else ("a query was not sent: it has no words",))
        if syntax.length(text) <= syntax.longest:
            return WrittenQuery(text, _notes(query, syntax))
        words = len(_leaves(query))
        fit, too_many = 0, words
        while too_many - fit > 1:
            middle = (fit + too_many) // 2
            shorter = _first_words(query, middle)
            if shorter is not None and syntax.length(_written(shorter, syntax)) <= syntax.longest:
                fit = middle
            else:
                too_many = middle
        shorter = _first_words(query, fit) if fit else None
        if shorter is None:
            return WrittenQuery("", ("a query was not sent: its words are too long for the service",))
        left_out = f"a query was too long for the service and lost its last {words - fit} of {words} words"
        return WrittenQuery(_written(shorter, syntax), (left_out, *_notes(shorter, syntax)))
    except NotExpressible as error:
        return WrittenQuery("", (f"a query was not sent: {error}",))


def plain_words(text: str) -> str:
    """Return the words of a text, separated by single spaces, without any character of syntax."""
    cleaned = NO_WORD.sub(" ", unicodedata.normalize("NFC", text))
    words = (word.strip(EDGES) for word in cleaned.split())
    return " ".join(word.lower() if word.lower() in RESERVED else word for word in words if word)


def heading_words(text: str) -> str:
    """Return a heading like `plain_words`, but with its commas: Diabetes Mellitus, Type 2."""
    return ", ".join(filter(None, map(plain_words, text.split(","))))


def _notes(query: Query, syntax: Syntax) -> tuple[str, ...]:
    if syntax.titles or not any(leaf.field == "title" for leaf in _leaves(query)):
        return ()
    return ("titles cannot be searched alone here: their words were searched everywhere",)


def _leaves(query: Query) -> list[Term | Phrase]:
    match query:
        case Term() | Phrase():
            return [query]
        case Or(clauses=clauses):
            return [leaf for clause in _without_implied(clauses) for leaf in _leaves(clause)]
        case And(clauses=clauses):
            return [leaf for clause in clauses for leaf in _leaves(clause)]
        case _:
            return []


def _first_words(query: Query, count: int) -> Query | None:
    """Return the query with its first `count` words and all its exclusions; None without any."""
    match query:
        case Or(clauses=clauses) | And(clauses=clauses):
            kept: list[Query] = []
            for clause in _without_implied(clauses) if isinstance(query, Or) else clauses:
                if isinstance(clause, Not):
                    kept.append(clause)
                elif count > 0 and (shorter := _first_words(clause, count)) is not None:
                    kept.append(shorter)
                    count -= len(_leaves(clause))
            return type(query)(tuple(kept)) if any(not isinstance(each, Not) for each in kept) else None
        case _:
            return query


def _without_implied(clauses: Sequence[Query]) -> list[Query]:
    """Drop title clauses of an Or whose words are searched everywhere anyway."""
    everywhere = {each.text for each in clauses if isinstance(each, Term | Phrase) and each.field == "text"}
    return [
        each
        for each in clauses
        if not (isinstance(each, Term | Phrase) and each.field == "title" and each.text in everywhere)
    ]


def _written(query: Query, syntax: Syntax) -> str:
    match query:
        case Term(text=text, field=field) | Phrase(text=text, field=field):
            words = heading_words(text) if field == "heading" else plain_words(text)
            return syntax.word(words, field) if words else ""
        case Or(clauses=clauses):
            if any(isinstance(clause, Not) for clause in clauses):
                raise NotExpressible("it only excludes words within an OR")
            parts = [_bracketed(clause, syntax) for clause in _without_implied(clauses)]
            return syntax.either.join(dict.fromkeys(filter(None, parts)))
        case And(clauses=clauses):
            return _written_and(clauses, syntax)
        case Not():
            raise NotExpressible("it only excludes")
        case Range() | Exact():
            raise NotExpressible("the service does not support one of its filters")


def _written_and(clauses: Sequence[Query], syntax: Syntax) -> str:
    wanted = [clause for clause in clauses if not isinstance(clause, Not)]
    alone = len(wanted) == 1 and not syntax.brackets  # exclusions may follow an OR
    parts = [_written(clause, syntax) if alone else _bracketed(clause, syntax) for clause in wanted]
    refused = [_bracketed(each, syntax) for each in _refused(clauses)]
    parts, refused = list(filter(None, parts)), list(filter(None, refused))
    if not parts and refused:
        raise NotExpressible("it only excludes")
    return syntax.both.join(parts) + "".join(syntax.without + part for part in refused)


def _refused(clauses: Sequence[Query]) -> Iterator[Query]:
    """Yield the exclusions; an excluded OR gives one exclusion per word."""
    for clause in clauses:
        if isinstance(clause, Not):
            yield from clause.clause.clauses if isinstance(clause.clause, Or) else (clause.clause,)


def _bracketed(clause: Query, syntax: Syntax) -> str:
    if not isinstance(clause, Or | And):
        return _written(clause, syntax)
    parts = _without_implied(clause.clauses) if isinstance(clause, Or) else clause.clauses
    if len(parts) == 1:
        return _bracketed(parts[0], syntax)
    if not syntax.brackets:
        raise NotExpressible("the service knows no brackets")
    text = _written(clause, syntax)
    return f"({text})" if text else ""
