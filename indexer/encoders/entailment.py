"""Entailment model in this process: whether a text entails a sentence, contradicts it, or neither.

A cross-encoder trained for natural language inference, identified by its label names.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from indexer.encoders.loading import libraries, load, token_limit
from indexer.encoders.origin import name_and_revision
from indexer.encoders.running import Runner
from indexer.errors import EncoderUnusable
from indexer.settings import CheckSettings

VARIABLE = "SHRAG_CHECK__"
Relation = Literal["entailment", "contradiction", "neutral"]


@dataclass(frozen=True, slots=True)
class Entailed:
    """The relation of a text to a sentence by the likeliest label, and the probability of entailment."""

    relation: Relation
    entailment: float


class EntailmentModel:
    """Judgements of an entailment model, which is in memory until `close`. Thread-safe."""

    def __init__(self, settings: CheckSettings) -> None:
        """Load the model.

        Raises:
            LibraryMissing: the libraries are missing.
            EncoderUnusable: the model is missing, cannot be loaded, or has no label for entailment.
            InvalidCall: MAX_TOKENS exceeds the model's positions.
        """
        with libraries():
            from sentence_transformers import CrossEncoder
        model: CrossEncoder = load(CrossEncoder, settings, VARIABLE)
        labels = {int(number): str(name).lower() for number, name in model.config.id2label.items()}
        self._relations = [_relation(labels[number]) for number in sorted(labels)]
        if self._relations.count("entailment") != 1 or len(self._relations) <= 1:
            raise EncoderUnusable(
                f"model {settings.model!r} has the labels {', '.join(labels.values())}; one must be "
                f"entailment: set {VARIABLE}MODEL to a model for natural language inference"
            )
        max_tokens = token_limit(model, settings.max_tokens, f"{VARIABLE}MAX_TOKENS")
        self.model, self.revision = name_and_revision(settings.model, settings.revision, settings.cache)
        self._runner = Runner(model, "scores", settings.batch_tokens, max_tokens)

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Entailed]:
        """Judge pairs of a text and a sentence, in order.

        Raises:
            EncoderUnusable: a score is not a number, or there is not enough memory.
        """
        blocks = list(self._runner.run(pairs))
        if not blocks:
            return []
        scores = np.concatenate(blocks).astype(np.float64)
        if not np.isfinite(scores).all():
            raise EncoderUnusable(
                f"model {self.model!r} returns scores that are not numbers; with half precision, try "
                f"{VARIABLE}PRECISION=float32"
            )
        likelihoods = np.exp(scores - scores.max(axis=1, keepdims=True))
        likelihoods /= likelihoods.sum(axis=1, keepdims=True)
        place = self._relations.index("entailment")
        return [Entailed(self._relations[int(row.argmax())], float(row[place])) for row in likelihoods]

    def close(self) -> None:
        """Release the model."""
        del self._runner


def _relation(label: str) -> Relation:
    if label.startswith(("contradict", "refute")):
        return "contradiction"
    return "entailment" if label.startswith(("entail", "support")) else "neutral"
