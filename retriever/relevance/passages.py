"""The relevance of passages to a question, 0 to 1, for ranking and for thresholds.

It is measured by the cross-encoder, if one is configured; else by the cosine of the vectors, if the index has
them; else by the words that question and passage share. The latter two are logistic regressions fitted on
training questions (`python -m eval.development.relevance --home DIR --fit --step 12`; the cosine's on English
with a small encoder): the likelihood that a candidate is relevant if half of the candidates are.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from base.errors import ResourceError
from base.logistic import likelihood, sigmoid
from retriever.engines import NumberedRows
from retriever.index import SearchIndex
from retriever.keywords.choice import KeywordChoice
from retriever.methods.shrag import TITLE_WEIGHT
from retriever.order.closeness import best_window
from retriever.order.features import coverage, patterns_of
from retriever.order.measured import measure_first
from retriever.queries.boolean import Filters
from retriever.question.analysis import AnalysedQuestion
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
COSINE_WEIGHTS: Mapping[str, float] = {"bias": -4.267, "lead": 10.825}


@dataclass(frozen=True, slots=True)
class Relevance:
    """The relevance of passages, 0 to 1, in the order given, its measure, and failures."""

    scores: tuple[float, ...]
    by: str  # the cross-encoder's name, "cosine" or "words"
    failures: tuple[str, ...] = ()


async def relevance(
    index: SearchIndex, question: str, hits: Sequence[Hit], settings: RetrieverSettings
) -> Relevance:
    """Measure the relevance of passages to a question; if a measure fails, the next one is used.

    Raises:
        BadQuestion: the question cannot be searched for.
    """
    if not hits:
        return Relevance((), "")
    failures: list[str] = []
    for measure in (_by_cross_encoder, _by_cosine):
        try:
            found = await measure(index, question, hits)
        except ResourceError as error:
            failures.append(str(error))
            continue
        if found:
            return Relevance(found.scores, found.by, tuple(failures))
    features = await word_features(index, question, hits, settings)
    return Relevance(tuple(likelihood(WORD_WEIGHTS, row) for row in features), "words", tuple(failures))


async def _by_cross_encoder(index: SearchIndex, question: str, hits: Sequence[Hit]) -> Relevance | None:
    if not index.cross_encoder.configured:
        return None
    from indexer.vectors.adding import text_to_encode

    scored = await index.cross_encoder.scores(question, [text_to_encode(hit.passage) for hit in hits])
    if scored is None:
        return None
    model, scores = scored
    if index.cross_encoder.gives_raw_scores:
        scores = [sigmoid(score) for score in scores]
    return Relevance(tuple(scores), model)


async def _by_cosine(index: SearchIndex, question: str, hits: Sequence[Hit]) -> Relevance | None:
    features = await cosine_features(index, question, hits)
    if features is None:
        return None
    return Relevance(tuple(likelihood(COSINE_WEIGHTS, row) if row else 0.0 for row in features), "cosine")


async def cosine_features(
    index: SearchIndex, question: str, hits: Sequence[Hit]
) -> list[dict[str, float]] | None:
    """Return each cosine's lead over the tail of the nearest passages, as a share of the distance to 1.

    Passages without a vector are left out; None if the question has no vector.
    """
    vector = await index.vectors.encode(question)
    if vector is None:
        return None
    nearest = await index.engine.nearest(vector, TAIL_TO, filters=Filters())
    tail = [hit.score for hit in (nearest[TAIL_FROM:] or nearest[-1:])]
    background = fmean(tail) if tail else 0.0
    cosines = await index.engine.similarities(vector, [hit.passage_id for hit in hits])
    return [
        {"lead": (cosines[hit.passage_id] - background) / max(1 - background, 1e-6)}
        if hit.passage_id in cosines
        else {}
        for hit in hits
    ]


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
