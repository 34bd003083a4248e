"""Explanation of scores of the embedded engine, from tantivy's own explanation."""

import json
from typing import Any

import tantivy

from retriever.engines import Explanation, TermScore
from retriever.engines.explaining import contributions, in_order, value_in
from retriever.engines.ordering import SCORE_DECIMALS
from retriever.engines.tantivy_queries import SCHEMA, any_token, compiled
from retriever.errors import UnknownPassage
from retriever.queries.boolean import Phrase, Query, Term


def explain(searcher: tantivy.Searcher, query: Query, passage_id: str) -> Explanation:
    """Explain the score of a passage, token by token; UnknownPassage if the index lacks it."""
    target = tantivy.Query.term_query(SCHEMA, "passage_id", passage_id, index_option="basic")
    hits = searcher.search(target, 1, count=False).hits
    if not hits:
        raise UnknownPassage(
            f"no passage {passage_id!r} in this index; take a passage_id from the hits of a search"
        )
    address = hits[0][1]
    whole = _explained(searcher, compiled(query), address)
    if whole is None:
        return Explanation(passage_id, 0.0, ())
    terms = contributions(
        query,
        lambda leaf: _term_scores(searcher, leaf, address),
        lambda part: _explained(searcher, compiled(part), address) is not None,
    )
    score = round(float(whole["value"]), SCORE_DECIMALS)
    return Explanation(passage_id, score, in_order(terms or ()))


def _term_scores(
    searcher: tantivy.Searcher, query: Term | Phrase, address: tantivy.DocAddress
) -> list[TermScore]:
    """Explain the tokens of a word, or a phrase as one; tokens that the passage lacks are left out.

    The document frequency of a phrase is the number of passages that contain it; its idf is the sum of the
    idf of its tokens, as in tantivy.
    """
    if isinstance(query, Phrase) and len(query.tokens) > 1:
        parts = [(" ".join(token for _, token in query.tokens), compiled(query))]
    else:
        tokens = query.tokens if isinstance(query, Term) else [token for _, token in query.tokens]
        parts = [(token, any_token(query.field, (token,), query.weight)) for token in tokens]
    scores = []
    for token, part in parts:
        explained = _explained(searcher, part, address)
        if explained is None:
            continue
        document_frequency = value_in(explained, "n, number of docs")
        if document_frequency is None:
            counted = searcher.search(part, 1, count=True)
            document_frequency = counted.count  # type: ignore[attr-defined]  # not in its stub
        scores.append(
            TermScore(
                token=token,
                field=query.field,
                weight=query.weight,
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
