"""The relevance of passages to a question, 0 to 1, for ranking and for thresholds.

The words that question and passage share are the last measure: a logistic regression fitted on training
questions (`python -m eval.development.relevance --home DIR --fit --step 12`), the likelihood that a candidate
is relevant if half of the candidates are.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean

from base.logistic import likelihood
from indexer.vectors.adding import text_to_encode
from retriever.engines import NumberedRows
from retriever.index import SearchIndex
from retriever.keywords.choice import KeywordChoice
from retriever.methods.shrag import TITLE_WEIGHT
from retriever.order.candidate_features import measure_first
from retriever.order.features import best_window, coverage, patterns_of
from retriever.queries.filters import Filters
from retriever.question.analysis import AnalysedQuestion
from retriever.relevance.cascade import PASSAGES, Relevance, leads_of, relevance_by_models
from retriever.requests.request import SearchRequest
from retriever.search import open_ranking, run_stages
from retriever.settings import RetrieverSettings
from retriever.stages.hits import Hit

LEAST_BASE = 0.1  # added to the base before its logarithm is taken
# Passages whose cosines are the baseline, since encoders differ in the range of their cosines.
TAIL_FROM, TAIL_TO = 100, 200  # ranks among the nearest

WORD_WEIGHTS: Mapping[str, float] = {
    "bias": 0.232,
    "base": 4.983,
    "coverage": 0.385,
    "window": 0.379,
    "neighbours": 0.361,
}


async def relevance(
    index: SearchIndex, question: str, hits: Sequence[Hit], settings: RetrieverSettings
) -> Relevance:
    """Measure the relevance of passages to a question; if a measure fails, the next one is used.

    Raises:
        BadQuestion: the question cannot be searched for.
    """
    texts = [text_to_encode(hit.passage) for hit in hits]
    leads = partial(cosine_features, index, question, hits)
    found = await relevance_by_models(index.cross_encoder, question, texts, leads, PASSAGES)
    if found.by or not hits:
        return found
    features = await word_features(index, question, hits, settings)
    return replace(found, scores=tuple(likelihood(WORD_WEIGHTS, row) for row in features), by="words")


async def cosine_features(
    index: SearchIndex, question: str, hits: Sequence[Hit]
) -> list[dict[str, float]] | None:
    """Return the lead of each cosine over the tail of the nearest passages; None without vectors."""
    vector = await index.vectors.encode(question)
    if vector is None:
        return None
    nearest = await index.engine.nearest(vector, TAIL_TO, filters=Filters())
    tail = [hit.score for hit in (nearest[TAIL_FROM:] or nearest[-1:])]
    cosines = await index.engine.similarities(vector, [hit.passage_id for hit in hits])
    return leads_of((cosines.get(hit.passage_id) for hit in hits), fmean(tail) if tail else 0.0)


async def word_features(
    index: SearchIndex, question: str, hits: Sequence[Hit], settings: RetrieverSettings
) -> list[dict[str, float]]:
    """Return the overlap of each passage with the question, by words and counterparts."""
    context = open_ranking(index, SearchRequest(question, collapse=False, k=len(hits)), settings)
    stages = await run_stages(context, upto="keywords")
    analysed, chosen = stages.question, stages.keywords
    nothing = {"base": math.log(LEAST_BASE), "coverage": 0.0, "window": 0.0, "neighbours": 0.0}
    if analysed is None or chosen is None:
        return [nothing] * len(hits)
    read = await index.engine.rows([hit.passage_id for hit in hits])
    rows = await index.threads.run(_word_features, analysed, chosen, read)
    return [rows.get(hit.passage_id, nothing) for hit in hits]


def _word_features(
    question: AnalysedQuestion, chosen: KeywordChoice, read: NumberedRows
) -> dict[str, dict[str, float]]:
    by, measured, places = measure_first(question, chosen.concepts, chosen.statistics, read, TITLE_WEIGHT)
    covered = coverage(by.concepts, places.count(patterns_of(by.concepts)))
    windows = best_window(by.concepts, places)
    return {
        passage_id: {
            "base": math.log(float(measured.base[row]) + LEAST_BASE),
            "coverage": float(covered[row]),
            "window": windows[row],
            "neighbours": float(measured.neighbours[row]),
        }
        for row, passage_id in enumerate(read.ids)
    }
