"""Explanation of a passage's score by a query, token by token, the same for all engines.

Each word and each phrase of the query is searched for alone, within the passage.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from retriever.engines import Engine
from retriever.engines.term_statistics import inverse_document_frequency
from retriever.formula import TokenPlaces
from retriever.queries.boolean import And, Exact, Leaf, Not, Or, Pattern, Phrase, Query, Term, leaves
from retriever.queries.filters import Filters


@dataclass(frozen=True, slots=True)
class TermScore:
    """The contribution of one token of a query to the score of a passage (BM25)."""

    token: str
    field: str
    weight: float
    frequency: float
    document_frequency: int
    idf: float
    score: float


def explain_query(engine: Engine, query: Query, passage_id: str) -> tuple[TermScore, ...]:
    """Explain the score of a passage of the index: the tokens that add to it, highest first."""
    parts = {leaf: _parts_of(leaf) for leaf in leaves(query)}
    asked = list(dict.fromkeys(part for of in parts.values() for part in of))
    here = Exact("passage_id", (passage_id,))
    found = engine.search([(And((part, here)), 1) for part in asked], filters=Filters(), collapse=False)
    scores = {part: hits[0].score for part, hits in zip(asked, found, strict=True) if hits}
    held = {leaf for leaf, of in parts.items() if not scores.keys().isdisjoint(of)}
    adding = [part for leaf in _contributing(query, held) or () for part in parts[leaf] if scores.get(part)]
    return _term_scores(engine, passage_id, adding, scores)


def in_order(terms: Iterable[TermScore]) -> tuple[TermScore, ...]:
    """Return the nonzero contributions, highest first."""
    nonzero = (term for term in terms if term.score)
    return tuple(sorted(nonzero, key=lambda term: (-term.score, term.field, term.token)))


def _parts_of(leaf: Leaf) -> list[Leaf]:
    """Return the explained parts of a leaf: each token of a word, anything else as a whole."""
    if isinstance(leaf, Term):
        return [Term(token, (token,), leaf.field, leaf.weight) for token in leaf.tokens]
    return [leaf]


def _contributing(query: Query, held: Collection[Leaf]) -> list[Leaf] | None:
    """Return the leaves of a query that may add to the score of a passage; None if it does not match.

    Args:
        query: of any form.
        held: its leaves that the passage matches.
    """
    match query:
        case Not(clause=clause):
            return [] if _contributing(clause, held) is None else None
        case And(clauses=clauses):
            sides = [_contributing(clause, held) for clause in clauses]
            return None if None in sides else [leaf for side in sides for leaf in side or ()]
        case Or(clauses=clauses):
            # As in the engines, a Not applies to all clauses next to it.
            wanted = [clause for clause in clauses if not isinstance(clause, Not)]
            if any(_contributing(clause, held) is None for clause in clauses if isinstance(clause, Not)):
                return None
            matching = [side for clause in wanted if (side := _contributing(clause, held)) is not None]
            only_negations = bool(clauses) and not wanted
            return [leaf for side in matching for leaf in side] if matching or only_negations else None
        case _:
            return [query] if query in held else None


def _term_scores(
    engine: Engine, passage_id: str, adding: Iterable[Leaf], scores: Mapping[Leaf, float]
) -> tuple[TermScore, ...]:
    """Return the parts that add to the score; one that a query contains twice adds twice."""
    words = [part for part in adding if isinstance(part, Term | Phrase)]
    patterns: dict[Leaf, Pattern] = {
        part: part.tokens if isinstance(part, Phrase) else tuple(enumerate(part.tokens)) for part in words
    }
    tokens = {part: [Term(token, (token,), part.field) for _, token in patterns[part]] for part in words}
    counted = list(dict.fromkeys([*words, *(term for of in tokens.values() for term in of)]))
    passages = dict(zip(counted, engine.counts([(part, Filters()) for part in counted]), strict=True))
    places = TokenPlaces.of(engine.rows([passage_id]), {token for of in patterns.values() for _, token in of})

    def term_score(part: Term | Phrase) -> TermScore:
        counts = places.pattern_counts(patterns[part], titles=part.field == "title")
        idf = sum(inverse_document_frequency(passages[term], engine.passage_count) for term in tokens[part])
        token = " ".join(token for _, token in patterns[part])
        frequency = max(1.0, float(counts[0]))  # a loose phrase is counted once
        return TermScore(token, part.field, part.weight, frequency, passages[part], idf, scores[part])

    return in_order(map(term_score, words))
