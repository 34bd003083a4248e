"""Relevance of texts to a question, 0 to 1: by the cross-encoder, else by the cosine, else by words.

The words that question and passage share are measured by a logistic regression fitted on training
questions (`python -m tools.fitting passages --home DIR --fit --step 8`), the likelihood that a candidate
is relevant if half of the candidates are.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean

import numpy as np

from base.errors import ResourceError
from base.logistic import likelihood, sigmoid
from base.untrusted import one_line
from indexer.vectors.spool import text_to_encode
from retriever.answerability import LEAST_SHARE, coverage
from retriever.formula import TokenPlaces
from retriever.index import SearchIndex
from retriever.opening.models import CrossEncoder
from retriever.queries.filters import Filters
from retriever.search import SearchRequest, terms_of
from retriever.settings import RetrieverSettings
from retriever.stages.hits import Hit
from retriever.terms import View

# On the lead of a cosine, fitted on training questions in English with a small encoder.
COSINE_WEIGHTS: Mapping[str, float] = {"bias": -4.267, "lead": 10.825}
# Passages whose cosines are the baseline, since encoders differ in the range of their cosines.
TAIL_FROM, TAIL_TO = 100, 200  # ranks among the nearest
WINDOW = 25  # positions: about a sentence and a half
WORD_WEIGHTS: Mapping[str, float] = {"bias": 1.39, "share": 4.373, "coverage": 1.299, "window": 0.757}
NOTHING = {"share": math.log(LEAST_SHARE), "coverage": 0.0, "window": 0.0}


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
    """Return the logarithm of each passage's share of the attainable score.

    With it come the highest shares of a view that the passage holds, as a whole and in 25 words.
    """
    terms = terms_of(index, SearchRequest(question), settings)
    if terms is None:
        return [NOTHING] * len(hits)
    read = index.engine.rows([hit.passage_id for hit in hits])
    places = TokenPlaces.of(read, terms.formula.tokens)
    rows = {
        passage_id: {
            "share": math.log(share + LEAST_SHARE),
            "coverage": max((coverage(view, places, row) for view in terms.views), default=0.0),
            "window": max((best_window(view, places, row) for view in terms.views), default=0.0),
        }
        for row, (passage_id, share) in enumerate(
            zip(read.ids, terms.formula.shares(read).tolist(), strict=True)
        )
    }
    return [rows.get(hit.passage_id, NOTHING) for hit in hits]


def best_window(view: View, places: TokenPlaces, row: int) -> float:
    """Return the highest share of a view's importance within `WINDOW` positions of a passage."""
    rows = places.rows
    start = int(rows.body_start[row])
    body = places.body[start : start + len(rows.body_of(row))]
    total = sum(asked.importance for asked in view)
    held = []
    for asked in view:
        columns = [places.column[form[0]] for form in asked.forms if places.holds(row, form)]
        if columns:
            held.append((asked.importance, np.flatnonzero(np.isin(body, columns))))
    if not total or not held:
        return 0.0
    starts = np.unique(np.concatenate([found for _, found in held]))
    covered = np.zeros(len(starts))
    for importance, found in held:
        ends = np.searchsorted(found, starts + WINDOW, "right")
        covered += importance * (ends > np.searchsorted(found, starts))
    return float(covered.max()) / total
