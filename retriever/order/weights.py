"""Weights of the parts of a score, chosen on training questions only.

The lexical weights: `python -m eval.development.tuning`. The weights with a cosine: `python -m
eval.development.semantic_tuning`, on tydi's English training questions.
"""

from collections.abc import Mapping

import numpy as np

from retriever.order.bm25 import Scores

LEXICAL_WEIGHTS: Mapping[str, float] = {"base": 0.9, "feedback": 0.6, "neighbours": 0.2}
SEMANTIC_WEIGHTS: Mapping[str, float] = {"base": 0.3, "neighbours": 0.1}
COSINE_WEIGHT = 1.0
SAME_TITLE_WEIGHT = 0.1  # of the mean score of one title; the passage's own score has the rest
# Gains by a second search: by the BM25 of a bridge, and by a source that names the candidate's title.
BRIDGE_GAIN, LINK_GAIN = 0.15, 0.8
SEMANTIC_GAIN = 0.25  # of a second search's gains: at full weight they outrank the cosine


def lexical_parts(features: Mapping[str, Scores]) -> dict[str, tuple[Scores, float]]:
    """Return the parts of scores by lexical features."""
    return {name: (features[name], weight) for name, weight in LEXICAL_WEIGHTS.items()}


def semantic_parts(features: Mapping[str, Scores], cosines: Scores) -> dict[str, tuple[Scores, float]]:
    """Return the parts of scores by lexical features and cosines.

    Encoders differ in the range of their cosines, so a question's lowest counts 0 and its highest 1; the base
    counts as a share of the highest one. A passage without a vector (NaN) counts 0.
    """
    best = float(features["base"].max()) or 1.0
    low, high = float(np.nanmin(cosines)), float(np.nanmax(cosines))
    stretched = np.nan_to_num((cosines - low) / ((high - low) or 1.0), nan=0.0)
    return {
        "cosine": (stretched, COSINE_WEIGHT),
        "base": (features["base"] / best, SEMANTIC_WEIGHTS["base"]),
        "neighbours": (features["neighbours"], SEMANTIC_WEIGHTS["neighbours"]),
    }
