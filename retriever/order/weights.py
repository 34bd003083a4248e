"""What features and cosines weigh in the order of candidates, found on training questions only.

The lexical weights: `python -m eval.experiments.tuning`; those beside the cosine, on tydi's English training
questions: `python -m eval.experiments.semantic_tuning`.
"""

from collections.abc import Mapping, Sequence

from retriever.order.features import Features
from retriever.order.scored import Part

LEXICAL_WEIGHTS: Mapping[str, float] = {"base": 0.9, "feedback": 0.2, "coverage": 0.15, "neighbours": 0.1}
# Of a text that was pasted in: what else its best passages speak of says more than its single words.
PASSAGE_WEIGHTS: Mapping[str, float] = {**LEXICAL_WEIGHTS, "base": 0.7, "feedback": 0.45}
SEMANTIC_WEIGHTS: Mapping[str, float] = {"base": 0.3, "neighbours": 0.1}
COSINE_WEIGHT = 1.0
SEMANTIC_HOP = 0.25  # of a second search's gains: at full weight they pass what the cosine puts first


def lexical_parts(row: Features, weights: Mapping[str, float] = LEXICAL_WEIGHTS) -> dict[str, Part]:
    """Return the parts of a candidate's score by its features."""
    return {name: (getattr(row, name), weight) for name, weight in weights.items()}


def semantic_parts(rows: Sequence[Features], cosines: Sequence[float | None]) -> list[dict[str, Part]]:
    """Return the parts of candidates' scores by features and cosine.

    Encoders differ in which cosines they give, so that of a question's candidates the least counts 0 and the
    highest 1; the base counts as a share of the best one's. What has no vector counts 0.
    """
    best = max((row.base for row in rows), default=0.0) or 1.0
    return [
        {
            "cosine": (cosine, COSINE_WEIGHT),
            "base": (row.base / best, SEMANTIC_WEIGHTS["base"]),
            **{
                name: (getattr(row, name), weight)
                for name, weight in SEMANTIC_WEIGHTS.items()
                if name != "base"
            },
        }
        for row, cosine in zip(rows, _stretched(cosines), strict=True)
    ]


def _stretched(cosines: Sequence[float | None]) -> list[float]:
    """Return cosines between 0, the least, and 1, the highest."""
    known = [cosine for cosine in cosines if cosine is not None]
    least, room = min(known), (max(known) - min(known)) or 1.0
    return [0.0 if cosine is None else (cosine - least) / room for cosine in cosines]
