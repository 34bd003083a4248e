"""Queries as values, the same for all engines.

A Term holds analysed tokens, so a question or an expression is analysed once. The score of an Or is the sum
over the matching clauses, and of an And the sum over all clauses. A Not adds nothing. A Range and an Exact
only filter.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from base.amounts import plain

# A heading is a term of a source's thesaurus, such as MeSH; only sources with a thesaurus search for it.
AnalysedField = Literal["text", "title", "heading"]
# (distance from the first token, token): one token, or several adjacent ones.
Pattern: TypeAlias = tuple[tuple[int, str], ...]
ExactField = Literal[
    "lang",
    "journal",
    "passage_id",
    "doc_id",
    "part",
    "source",
    "type",
    "references",
    "authors",
    "doi",
    "keys",
]


@dataclass(frozen=True, slots=True)
class Term:
    """A word, as written and as tokens; several tokens are joined by OR."""

    text: str
    tokens: tuple[str, ...]
    field: AnalysedField = "text"
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Phrase:
    """Adjacent words in this order: (position, token), with gaps for dropped words."""

    text: str
    tokens: Pattern
    field: AnalysedField = "text"
    weight: float = 1.0
    slop: int = 0


@dataclass(frozen=True, slots=True)
class Range:
    """Years from `low` to `high`, both included; None is open."""

    low: int | None
    high: int | None
    field: Literal["year"] = "year"


@dataclass(frozen=True, slots=True)
class Exact:
    """A field with exactly one of these values."""

    field: ExactField
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Any of the clauses."""

    clauses: tuple["Query", ...]


@dataclass(frozen=True, slots=True)
class And:
    """All of the clauses."""

    clauses: tuple["Query", ...]


@dataclass(frozen=True, slots=True)
class Not:
    """Texts that the clause does not match; only next to a clause that matches."""

    clause: "Query"


Leaf: TypeAlias = Term | Phrase | Range | Exact
Query: TypeAlias = Leaf | Or | And | Not
EVERYTHING = Not(Or(()))


def pattern_clause(
    text: str, pattern: Pattern, field: AnalysedField = "text", weight: float = 1.0
) -> Term | Phrase:
    """Return the clause that searches for a pattern: a word, or a phrase."""
    if len(pattern) == 1:
        return Term(text, (pattern[0][1],), field, weight)
    return Phrase(text, pattern, field, weight)


def or_query(terms: Sequence[Term | Phrase], *, title_weight: float = 0.0) -> Or:
    """Make one OR of terms, which are also searched for in the title if `title_weight` is above 0."""
    clauses: list[Query] = list(terms)
    if title_weight > 0:
        clauses += [replace(term, field="title", weight=term.weight * title_weight) for term in terms]
    return Or(tuple(clauses))


def with_words(query: Query, change: Callable[[Term | Phrase], Query]) -> Query:
    """Return a query with its words and phrases changed."""
    match query:
        case Term() | Phrase():
            return change(query)
        case Or(clauses=clauses) | And(clauses=clauses):
            return type(query)(tuple(with_words(clause, change) for clause in clauses))
        case Not(clause=clause):
            return Not(with_words(clause, change))
        case Range() | Exact():
            return query


def leaves(query: Query, *, negated: bool = True) -> Iterator[Leaf]:
    """Yield the words, phrases and conditions of a query, those under a Not if `negated`."""
    match query:
        case Not(clause=clause):
            yield from leaves(clause) if negated else ()
        case Or(clauses=clauses) | And(clauses=clauses):
            for clause in clauses:
                yield from leaves(clause, negated=negated)
        case _:
            yield query


def tokens_of(leaf: Leaf) -> tuple[str, ...]:
    """Return the tokens that a word or a phrase searches for; a condition has none."""
    match leaf:
        case Term(tokens=tokens):
            return tokens
        case Phrase(tokens=pattern):
            return tuple(token for _, token in pattern)
    return ()


def searched_tokens(query: Query) -> dict[str, float]:
    """Return the tokens that a query searches for, each with its highest weight.

    Clauses under a Not and filters are left out.
    """
    found: dict[str, float] = {}
    for leaf in leaves(query, negated=False):
        if isinstance(leaf, Term | Phrase):
            found |= {token: max(leaf.weight, found.get(token, 0.0)) for token in tokens_of(leaf)}
    return found


def describe(query: Query) -> str:
    """Format a query in the expert language."""
    match query:
        case Term(text=text, field=field, weight=weight):
            name = "" if field == "text" else f"{field}:"
            return f"{name}{text}" + ("" if weight == 1 else f"^{plain(weight)}")
        case Phrase(text=text, field=field, weight=weight, slop=slop):
            name = "" if field == "text" else f"{field}:"
            near = f"~{slop}" if slop else ""
            return f'{name}"{text}"{near}' + ("" if weight == 1 else f"^{plain(weight)}")
        case Range(low=low, high=high):
            return f"year:{low or ''}..{high or ''}"
        case Exact(field=field, values=values):
            return " OR ".join(f'{field}:"{value}"' for value in values)
        case Or(clauses=clauses):
            return " OR ".join(_bracketed(clause, (And, Not)) for clause in clauses)
        case And(clauses=clauses):
            return " AND ".join(_bracketed(clause, (Or,)) for clause in clauses)
        case Not(clause=clause):
            return f"NOT {_bracketed(clause, (Or, And))}"


def _bracketed(clause: Query, kinds: tuple[type, ...]) -> str:
    text = describe(clause)
    return f"({text})" if isinstance(clause, kinds) else text
