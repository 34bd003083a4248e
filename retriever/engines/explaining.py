"""Explanations of a passage's score token by token, for all engines."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from retriever.engines import TermScore
from retriever.queries.boolean import And, Exact, Not, Or, Phrase, Query, Range, Term

Leaf = Term | Phrase
LeafScores = Callable[[Leaf], list[TermScore] | None]
FilterMatches = Callable[[Range | Exact], bool]


def contributions(query: Query, scores_of: LeafScores, matches: FilterMatches) -> list[TermScore] | None:
    """Return the contribution of each token to the score of a passage; None if the query does not match it.

    Explanations of engines do not name the words of a phrase, so each token and phrase is explained
    separately. `scores_of` returns the contribution of a word or phrase; None if the passage lacks it.
    """
    match query:
        case Term() | Phrase():
            return scores_of(query) or None
        case Range() | Exact():
            return [] if matches(query) else None
        case Not(clause=clause):
            return [] if contributions(clause, scores_of, matches) is None else None
        case And(clauses=clauses):
            sides = [contributions(clause, scores_of, matches) for clause in clauses]
            return None if None in sides else _joined(sides)
        case Or(clauses=clauses):
            # As in the engines, a Not applies to all clauses next to it.
            wanted = [clause for clause in clauses if not isinstance(clause, Not)]
            unwanted = [clause for clause in clauses if isinstance(clause, Not)]
            if unwanted and contributions(And(tuple(unwanted)), scores_of, matches) is None:
                return None
            if unwanted and not wanted:
                return []
            return _joined([contributions(clause, scores_of, matches) for clause in wanted])


def leaves(query: Query) -> Iterator[Term | Phrase | Range | Exact]:
    """Yield the words, phrases and filters of a query, including those under a Not."""
    match query:
        case Not(clause=clause):
            yield from leaves(clause)
        case And(clauses=clauses) | Or(clauses=clauses):
            for clause in clauses:
                yield from leaves(clause)
        case _:
            yield query


def parts_of(leaf: Leaf) -> list[tuple[str, Leaf]]:
    """Return the explained parts of a leaf with their names: each token of a word, a phrase as one."""
    tokens = leaf.tokens if isinstance(leaf, Term) else tuple(token for _, token in leaf.tokens)
    if isinstance(leaf, Phrase) and len(tokens) > 1:
        return [(" ".join(tokens), leaf)]
    return [(token, Term(token, (token,), leaf.field, leaf.weight)) for token in tokens]


def in_order(terms: Iterable[TermScore]) -> tuple[TermScore, ...]:
    """Return the nonzero contributions, highest first."""
    return tuple(
        sorted((term for term in terms if term.score), key=lambda term: (-term.score, term.field, term.token))
    )


def _joined(sides: Iterable[list[TermScore] | None]) -> list[TermScore] | None:
    """Join the contributions of the matching clauses; None if none matches."""
    matching = [side for side in sides if side is not None]
    return [term for side in matching for term in side] if matching else None


def value_in(explanation: dict[str, Any], description: str) -> float | None:
    """Return the first value in the tree whose description starts with the given text."""
    if explanation["description"].startswith(description):
        return float(explanation["value"])
    found = (value_in(detail, description) for detail in explanation.get("details", ()))
    return next((value for value in found if value is not None), None)
