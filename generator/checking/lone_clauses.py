"""Clauses without evidence in a sentence whose other clauses have some.

"Scores rose by 0.62 points, and students earned higher salaries": each clause needs its own evidence.
"""

from collections.abc import Iterator

from generator.checking.clauses import Bridge, Clause, Text, terms_of
from generator.checking.opposites import AXIS_WORDS, FUNCTION_WORDS, TOPICAL

LEAST_WORDS, LEAST_PAIRS = 3, 3  # content words, or glossary terms across languages, of a clause
LEAST_HELD, LEAST_HELD_ACROSS = 0.3, 0.1  # share of these that the sources must hold


def lone_clauses(own: Text, held: set[str], bridge: Bridge, *, across: bool) -> Iterator[str]:
    """Yield the clauses of a sentence of whose words the sources have too few.

    A clause with a number is compared by its number.
    """
    for clause in own.clauses:
        if any(clause.start <= quantity.start < clause.end for quantity in own.quantities):
            continue
        if across:
            found, least, share = bridge.found(held, clause), LEAST_PAIRS, LEAST_HELD_ACROSS
        else:
            found, least, share = [word in held for word in _content(clause)], LEAST_WORDS, LEAST_HELD
        alone = not across and len(own.clauses) > 1 and len(found) == least - 1 and not any(found)
        if alone or (len(found) >= least and sum(found) < share * len(found)):
            yield own.words_of(clause).strip()


def _content(clause: Clause) -> set[str]:
    words = terms_of(clause.tokens) - (AXIS_WORDS.keys() - TOPICAL) - FUNCTION_WORDS
    return {word for word in words if not word.isdigit()}
