"""Relevance of texts to a question, 0 to 1: by the cross-encoder, else by the cosine, else by words.

By words: a logistic regression on the share of the attainable score, fitted on training questions
(`python -m tools.fitting passages --home DIR --fit --step 8`), the likelihood that a candidate is relevant if
half of the candidates are.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean

from base.errors import ResourceError
from base.logistic import likelihood, sigmoid
from base.untrusted import one_line
from indexer.vectors.spool import text_to_encode
from retriever.answerability import LEAST_SHARE
from retriever.index import SearchIndex
from retriever.opening.models import CrossEncoder
from retriever.queries.filters import Filters
from retriever.search import SearchRequest, terms_of
from retriever.settings import RetrieverSettings
from retriever.stages.hits import Hit

# On the lead of a cosine, fitted on training questions in English with a small encoder.
COSINE_WEIGHTS: Mapping[str, float] = {"bias": -4.267, "lead": 10.825}
# Passages whose cosines are the baseline, since encoders differ in the range of their cosines.
TAIL_FROM, TAIL_TO = 100, 200  # ranks among the nearest
WORD_WEIGHTS: Mapping[str, float] = {"bias": 3.156, "share": 5.247}


@dataclass(frozen=True, slots=True)
class Relevance:
    """The relevance of texts in the order given, its measure, and failures of models.

    Args:
        scores: 0 to 1, one per text; empty if there was no measure.
        by: the measure: the cross-encoder's name, "cosine" or "words"; "" if there was none.
        failures: messages of the models that failed before.
    """

    scores: tuple[float, ...] = ()
    by: str = ""
    failures: tuple[str, ...] = ()


def relevance_by_models(
    cross_encoder: CrossEncoder,
    question: str,
    texts: Sequence[str],
    leads: Callable[[], list[float | None] | None],
) -> Relevance:
    """Measure relevance by the cross-encoder, else by `leads` of cosines (None without vectors).

    If a model fails, the next one is used.
    """
    failures: list[str] = []
    try:
        if texts and cross_encoder.configured and (scored := cross_encoder.scores(question, texts)):
            by, scores = scored
            return Relevance(tuple(map(sigmoid, scores) if cross_encoder.gives_raw_scores else scores), by)
    except ResourceError as error:
        failures.append(one_line(str(error)))
    try:
        if texts and (found := leads()) is not None:
            by_lead = (0.0 if lead is None else likelihood(COSINE_WEIGHTS, {"lead": lead}) for lead in found)
            return Relevance(tuple(by_lead), "cosine", tuple(failures))
    except ResourceError as error:
        failures.append(one_line(str(error)))
    return Relevance(failures=tuple(failures))


def leads_of(cosines: Iterable[float | None], baseline: float) -> list[float | None]:
    """Return the lead of each cosine over a baseline: (cosine - baseline) / (1 - baseline)."""
    above = max(1 - baseline, 1e-6)
    return [None if cosine is None else (cosine - baseline) / above for cosine in cosines]


def relevance(
    index: SearchIndex, question: str, hits: Sequence[Hit], settings: RetrieverSettings
) -> Relevance:
    """Measure the relevance of passages to a question; if a measure fails, the next one is used.

    Raises:
        BadQuestion: the question cannot be searched for.
    """
    texts = [text_to_encode(hit.passage) for hit in hits]
    leads = partial(cosine_leads, index, question, hits)
    found = relevance_by_models(index.cross_encoder, question, texts, leads)
    if found.by or not hits:
        return found
    features = word_features(index, question, hits, settings)
    return replace(found, scores=tuple(likelihood(WORD_WEIGHTS, row) for row in features), by="words")


def cosine_leads(index: SearchIndex, question: str, hits: Sequence[Hit]) -> list[float | None] | None:
    """Return the lead of each cosine over the tail of the nearest passages; None without vectors."""
    vector = index.vectors.encode(question)
    if vector is None:
        return None
    nearest = index.engine.nearest(vector, TAIL_TO, filters=Filters())
    tail = [hit.score for hit in (nearest[TAIL_FROM:] or nearest[-1:])]
    cosines = index.engine.similarities(vector, [hit.passage_id for hit in hits])
    return leads_of((cosines.get(hit.passage_id) for hit in hits), fmean(tail) if tail else 0.0)


def word_features(
    index: SearchIndex, question: str, hits: Sequence[Hit], settings: RetrieverSettings
) -> list[dict[str, float]]:
    """Return the logarithm of each passage's share of the attainable score."""
    shares: dict[str, float] = {}
    if terms := terms_of(index, SearchRequest(question), settings):
        read = index.engine.rows([hit.passage_id for hit in hits])
        shares = dict(zip(read.ids, terms.formula.shares(read).tolist(), strict=True))
    return [{"share": math.log(shares.get(hit.passage_id, 0.0) + LEAST_SHARE)} for hit in hits]
