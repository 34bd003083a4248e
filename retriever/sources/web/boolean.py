"""Queries in the Boolean syntax of a service.

Words keep only letters, digits and the characters that join them. Anything that could be syntax becomes a
space. Weights are left out, because no service supports them.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from urllib.parse import quote_plus

from retriever.queries.boolean import AnalysedField, And, Exact, Not, Or, Phrase, Query, Range, Term, leaves

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

    def written(words: int) -> str:
        return _written(query, syntax, iter(range(words)))[0]

    try:
        text = _written(query, syntax, counter := count())[0]
        words = fit = next(counter)
        if syntax.length(text) > syntax.longest:
            fit = bisect_right(range(1, words), syntax.longest, key=lambda some: syntax.length(written(some)))
            text = written(fit)
    except NotExpressible as error:
        return WrittenQuery("", (f"a query was not sent: {error}",))
    if not text:
        why = "its words are too long for the service" if fit < words else "it has no words"
        return WrittenQuery("", () if query == Or(()) else (f"a query was not sent: {why}",))
    lost = f"a query was too long for the service and lost its last {words - fit} of {words} words"
    searched = _without_titles(list(leaves(query)))
    is_in_titles = any(isinstance(word, Term | Phrase) and word.field == "title" for word in searched)
    notes = {lost: fit < words, TITLES: is_in_titles and not syntax.titles}
    return WrittenQuery(text, tuple(note for note, applies in notes.items() if applies))


def plain_words(text: str) -> str:
    """Return the words of a text, separated by single spaces, without any character of syntax."""
    cleaned = NO_WORD.sub(" ", unicodedata.normalize("NFC", text))
    words = (word.strip(EDGES) for word in cleaned.split())
    return " ".join(word.lower() if word.lower() in RESERVED else word for word in words if word)


def _written(query: Query, syntax: Syntax, left: Iterator[int]) -> tuple[str, bool]:
    """Return the text of a query with the words that are left, and whether it joins several parts.

    Exclusions use up no words, and are dropped only together with the words beside them.
    """
    match query:
        case Term(text=text, field=field) | Phrase(text=text, field=field):
            # A heading keeps its commas: Diabetes Mellitus, Type 2.
            parts = text.split(",") if field == "heading" else [text]
            words = ", ".join(filter(None, map(plain_words, parts)))
            is_lost = next(left, None) is None
            return ("" if is_lost or not words else syntax.word(words, field)), False
        case Or(clauses=clauses):
            if any(isinstance(clause, Not) for clause in clauses):
                raise NotExpressible("it only excludes words within an OR")
            found = (_part(clause, syntax, left) for clause in _without_titles(clauses))
            texts = list(dict.fromkeys(filter(None, found)))
            return syntax.either.join(texts), len(texts) > 1
        case And(clauses=clauses):
            wanted = [clause for clause in clauses if not isinstance(clause, Not)]
            others = [clause.clause for clause in clauses if isinstance(clause, Not)]
            if not wanted:
                raise NotExpressible("it only excludes")
            kept = [each for each in (_written(clause, syntax, left) for clause in wanted) if each[0]]
            # An excluded OR gives one exclusion per word.
            excluded = [one for each in others for one in (each.clauses if isinstance(each, Or) else [each])]
            refused = list(filter(None, (_part(each, syntax, count()) for each in excluded)))
            if len(kept) < 2 and not (refused and syntax.brackets):  # noqa: PLR2004 - exclusions may follow an OR
                texts = [text for text, _ in kept]
            else:
                texts = [_bracketed(*each, syntax) for each in kept]
            text = syntax.both.join(texts) + "".join(syntax.without + each for each in refused if kept)
            return text, len(kept) + len(refused) > 1 or any(joins for _, joins in kept)
        case Not():
            raise NotExpressible("it only excludes")
        case Range() | Exact():
            raise NotExpressible("the service does not support one of its filters")


def _without_titles(clauses: Sequence[Query]) -> list[Query]:
    """Drop the title words of an Or that are searched everywhere anyway."""
    words = [clause for clause in clauses if isinstance(clause, Term | Phrase)]
    everywhere = {word.text for word in words if word.field == "text"}
    dropped = [word for word in words if word.field == "title" and word.text in everywhere]
    return [clause for clause in clauses if clause not in dropped]


def _part(query: Query, syntax: Syntax, left: Iterator[int]) -> str:
    return _bracketed(*_written(query, syntax, left), syntax)


def _bracketed(text: str, joins: bool, syntax: Syntax) -> str:
    if joins and not syntax.brackets:
        raise NotExpressible("the service knows no brackets")
    return f"({text})" if joins else text
