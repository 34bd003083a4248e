"""Requests and responses of OpenAI-compatible `/v1/embeddings`."""

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from base.untrusted import read_json
from indexer.encoders.arrays import Vectors
from indexer.settings import EncoderSettings


def embeddings_body(settings: EncoderSettings, texts: Sequence[str]) -> dict[str, Any]:
    """Return the request body for the vectors of texts.

    vLLM truncates long texts on request with `truncate_prompt_tokens`; its default side is the wrong one. TEI
    truncates by its own option, and ignores unknown ones.
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
    """Parse the vectors of a response, in the order of the texts.

    Raises:
        ValueError: the response is malformed or has another number of vectors, as the message says.
    """
    try:
        rows = read_json(content)["data"]
        vectors = {row.get("index", place): _numbers(row["embedding"]) for place, row in enumerate(rows)}
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        raise ValueError("the response is not in the format of /v1/embeddings") from error
    if len(rows) != count or vectors.keys() != set(range(count)):
        raise ValueError(f"{count} texts were sent, but {len(vectors)} vectors were returned")
    widths = {len(vector) for vector in vectors.values()}
    if len(widths) != 1:
        raise ValueError(f"the vectors have different dimensions: {sorted(widths)}")
    return np.stack([vectors[place] for place in range(count)])


def _numbers(embedding: Any) -> Vectors:
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding, validate=True), "<f4").astype(np.float32)
    numbers = np.asarray(embedding, np.float32)
    if numbers.ndim != 1:
        raise ValueError("not a list of numbers")
    return numbers
