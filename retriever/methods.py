"""The ranking methods of `--method`; `ranking.py` has the plan and the order of each."""

from collections.abc import Mapping
from dataclasses import dataclass

from base.notes import Note
from retriever.errors import BadFilter


@dataclass(frozen=True, slots=True)
class Method:
    """What a method uses, and its order in words."""

    order: str
    order_by_vectors: str = ""
    uses_strategy: bool = False  # others ignore a strategy, and say so
    has_conditions: bool = False  # whether the strategy's exclusions and years apply
    is_expression: bool = False  # whether the question is in the expert language
    has_title_clause: bool = False
    synonyms: bool = True  # whether synonyms of the user's file are searched for
    reranks: bool = False  # whether a cross-encoder may rerank the first hits


METHODS: Mapping[str, Method] = {
    "boolean": Method("BM25 of the expression's words", is_expression=True),
    "dense": Method(
        "cosine of the question's and the passages' vectors",
        "cosine of the question's and the passages' vectors",
        reranks=True,
    ),
    "or": Method("BM25 of one OR query over the question's words", has_title_clause=True),
    "paper": Method(
        "reciprocal rank fusion of the progressive queries",
        "cosine of the question's and the passages' vectors, of the progressive queries' union",
        uses_strategy=True,
        synonyms=False,
    ),
    "shrag": Method(
        "BM25 of the question and of the strategy's keywords",
        "BM25 of the question and of the strategy's keywords, and the cosine of the vectors",
        uses_strategy=True,
        has_conditions=True,
        reranks=True,
    ),
}


def method_names() -> tuple[str, ...]:
    """Return the names of all methods."""
    return tuple(METHODS)


def method_named(name: str) -> Method:
    """Return a method; BadFilter, with all names, if none has that name."""
    if name not in METHODS:
        raise BadFilter(Note("no_such_method", method=name, there=", ".join(METHODS)))
    return METHODS[name]
