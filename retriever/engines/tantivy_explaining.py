"""Explanation of scores of the embedded engine, from tantivy's own explanation."""

import json
from typing import Any

import tantivy

from retriever.engines import TermScore
from retriever.engines.explaining import Leaf, contributions, in_order, parts_of, value_in
from retriever.engines.tantivy_queries import SCHEMA, compiled
from retriever.queries.boolean import Query


def explain(searcher: tantivy.Searcher, query: Query, passage_id: str) -> tuple[TermScore, ...]:
    """Explain the score of a passage of the index, token by token."""
    target = tantivy.Query.term_query(SCHEMA, "passage_id", passage_id, index_option="basic")
    [(_, address)] = searcher.search(target, 1, count=False).hits
    terms = contributions(
        query,
        lambda leaf: _term_scores(searcher, leaf, address),
        lambda part: _explained(searcher, compiled(part), address) is not None,
    )
    return in_order(terms or ())


def _term_scores(searcher: tantivy.Searcher, leaf: Leaf, address: tantivy.DocAddress) -> list[TermScore]:
    """Explain the tokens of a word, or a phrase as one; tokens that the passage lacks are left out.

    The document frequency of a phrase is the number of passages that contain it; its idf is the sum of the
    idf of its tokens, as in tantivy.
    """
    scores = []
    for token, part in parts_of(leaf):
        explained = _explained(searcher, compiled(part), address)
        if explained is None:
            continue
        document_frequency = value_in(explained, "n, number of docs")
        if document_frequency is None:
            counted = searcher.search(compiled(part), 1, count=True)
            document_frequency = counted.count  # type: ignore[attr-defined]  # not in its stub
        scores.append(
            TermScore(
                token=token,
                field=leaf.field,
                weight=leaf.weight,
                frequency=value_in(explained, "freq, occurrences") or 0.0,
                document_frequency=int(document_frequency),
                idf=value_in(explained, "idf") or 0.0,
                score=float(explained["value"]),
            )
        )
    return scores


def _explained(
    searcher: tantivy.Searcher, query: tantivy.Query, address: tantivy.DocAddress
) -> dict[str, Any] | None:
    """Return tantivy's tree of value, description and details; None if the passage does not match."""
    try:
        explanation: dict[str, Any] = json.loads(query.explain(searcher, address).to_json())
    except ValueError as error:
        if "does not match" in str(error):
            return None
        raise
    return explanation
