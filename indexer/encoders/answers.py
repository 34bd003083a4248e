"""What an OpenAI-compatible `/v1/embeddings` is asked and what it answers."""

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from base.untrusted import read_json
from indexer.encoders.arrays import Vectors
from indexer.settings import EncoderSettings


def embeddings_body(settings: EncoderSettings, texts: Sequence[str]) -> dict[str, Any]:
    """Return the request for the vectors of texts.

    vLLM cuts a text that is too long where `truncate_prompt_tokens` says so, by itself at the wrong end; TEI
    does by its own option, and passes over what it does not know.
    """
    body: dict[str, Any] = {
        "model": settings.model,
        "input": list(texts),
        "encoding_format": settings.encoding_format,
    }
    if settings.dimensions is not None:
        body["dimensions"] = settings.dimensions
    if settings.truncate:
        body |= {"truncate_prompt_tokens": settings.max_tokens or -1, "truncation_side": "right"}
    return body


def vectors_of(content: bytes, count: int) -> Vectors:
    """Read the vectors of an answer, in the order of the texts asked about.

    Raises:
        ValueError: it is no such answer, or one of another number of vectors; the message says what is wrong.
    """
    try:
        rows = read_json(content)["data"]
        vectors = {row.get("index", place): _numbers(row["embedding"]) for place, row in enumerate(rows)}
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        raise ValueError("the answer is not one of /v1/embeddings") from error
    if len(rows) != count or vectors.keys() != set(range(count)):
        raise ValueError(f"{count} texts were sent, and vectors came for {len(vectors)}")
    widths = {len(vector) for vector in vectors.values()}
    if len(widths) != 1:
        raise ValueError(f"the vectors have different dimensions: {sorted(widths)}")
    return np.stack([vectors[place] for place in range(count)])


def _numbers(embedding: Any) -> Vectors:
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding, validate=True), "<f4").astype(np.float32)
    numbers = np.asarray(embedding, np.float32)
    if numbers.ndim != 1:
        raise ValueError("no list of numbers")
    return numbers
