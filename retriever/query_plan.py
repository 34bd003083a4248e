"""The plan of a question: its named queries, which can be shown, edited and sent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from base.notes import Note
from retriever.queries.boolean import Or, Query, Term, or_query
from retriever.queries.keywords import Keyword
from retriever.question import Question

QUESTION = "question"  # the whole question, in `shrag` with the keywords of its strategy
NOTHING_TO_SEARCH = Note("nothing_to_search")
ALL_LEFT_OUT = Note("all_left_out")
EXPRESSION = "expression"  # of the expert language
FEEDBACK = "feedback"  # terms of the best passages
BRIDGES = "bridges"  # names in the best passages, and the words that these leave uncovered
NEAREST = "nearest"  # the passages nearest to the question's vector; not a query of words


def progressive_name(n: int) -> str:
    """Return the name of the progressive query of the first n keywords."""
    return f"SQ{n}"


def progressive_number(name: str) -> int | None:
    """Return the n of SQn; None for another query."""
    number = name.removeprefix("SQ")
    return int(number) if number != name and number.isdecimal() else None


@dataclass(frozen=True, slots=True)
class NamedQuery:
    """A query with its name and its number of hits."""

    name: str
    query: Query
    k: int


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """The queries of one question for one call to the engine, and the number of `nearest` passages by vector.

    The rows of the passages found by the first `read` queries are always needed, so an engine may return them
    with the hits.
    """

    queries: tuple[NamedQuery, ...] = ()
    nearest: int = 0
    read: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the queries, and of the nearest passages if there are any."""
        return (*(named.name for named in self.queries), *([NEAREST] if self.nearest else []))

    def without(self, *names: str) -> "QueryPlan":
        """Return the plan without the queries of these names."""
        kept = tuple(named for named in self.queries if named.name not in names)
        read = sum(named.name not in names for named in self.queries[: self.read])
        return QueryPlan(kept, 0 if NEAREST in names else self.nearest, read)


def question_query(question: Question, *, title_weight: float) -> Or:
    """Join the question's distinct tokens, and the synonyms of the user's file."""
    texts = question.texts
    terms = [Term(texts.get(token, token), (token,)) for token in question.weights]
    synonyms = (each.clause() for expansion in question.synonyms for each in expansion.equivalents)
    return or_query([*terms, *dict.fromkeys(synonyms)], title_weight=title_weight)


def weighted_query(weights: Mapping[str, float], texts: Mapping[str, str]) -> Or:
    """Join tokens with their weights; `texts` are their written forms."""
    return or_query(
        [
            Term(texts.get(token, token), (token,), weight=round(weight, 4))
            for token, weight in weights.items()
        ]
    )


def progressive_queries(keywords: Sequence[Keyword], *, hits_per_query: int) -> tuple[NamedQuery, ...]:
    """Make SQn = k1 OR … OR kn for n from all keywords down to 1 (SHRAG, section 3.2).

    The keywords come most important first, so each query drops the least important of the one before.
    """
    clauses = [Term(keyword.text, keyword.tokens) for keyword in keywords]
    queries = [
        NamedQuery(progressive_name(n), Or(tuple(clauses[:n])), hits_per_query)
        for n in range(1, len(clauses) + 1)
    ]
    return tuple(reversed(queries))
