"""Encoder for an OpenAI-compatible `/v1/embeddings`: vLLM's pooling runner, TEI, and others."""

import asyncio
import base64
import json
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from base.amounts import plain
from base.net.backoff import TRANSIENT_STATUSES, growing_pauses, retry_after_s
from base.untrusted import message_in, one_line, read_json
from indexer.encoders import Progress, VectorFingerprint, Vectors
from indexer.encoders.models import cut_into_batches, without_surrogates
from indexer.encoders.rounding import scale_to_unit_length
from indexer.errors import EncoderUnusable
from indexer.settings import EncoderSettings

if TYPE_CHECKING:
    import httpx

MOST_TEXTS = 32  # per request, TEI's default limit
QUESTION_ATTEMPTS, PASSAGE_ATTEMPTS = 2, 8  # a user waits for a question, a build for passages
LONGEST_PAUSE_S = 30.0
QUESTION_S = 30.0  # time limit for a question, or for the probe
BYTES_A_VECTOR, BYTES_OVERHEAD = 250_000, 100_000  # limit of a response: 8,192 numbers as text
PROBE = "a text to learn the number of dimensions from"
NEXT_STEPS = {
    400: "check SHRAG_ENCODER__MODEL and SHRAG_ENCODER__DIMENSIONS; set SHRAG_ENCODER__TRUNCATE=false if the "
    "server does not know truncate_prompt_tokens",
    401: "set SHRAG_ENCODER__API_KEY",
    403: "check SHRAG_ENCODER__API_KEY",
    404: "check SHRAG_ENCODER__BASE_URL, which usually ends in /v1, and SHRAG_ENCODER__MODEL",
    429: "lower SHRAG_ENCODER__REQUESTS_AT_ONCE",
}


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
        if len(rows) == count and vectors.keys() == set(range(count)):
            return np.stack([vectors[place] for place in range(count)])
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        raise ValueError("the response is not in the format of /v1/embeddings") from error
    raise ValueError(f"{count} texts were sent, but {len(vectors)} vectors were returned")


def _numbers(embedding: Any) -> Vectors:
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding, validate=True), "<f4").astype(np.float32)
    numbers = np.asarray(embedding, np.float32)
    if numbers.ndim != 1:
        raise ValueError("not a list of numbers")
    return numbers


class _TransientFailure(Exception):
    """A failure for which a retry may succeed; `pause_s` is the requested pause in seconds, if any."""

    def __init__(self, what: str, pause_s: float | None = None) -> None:
        super().__init__(what)
        self.pause_s = pause_s


class EndpointEncoder:
    """Texts to vectors by a server. Thread-safe."""

    def __init__(
        self,
        settings: EncoderSettings,
        transport: "httpx.AsyncBaseTransport | None" = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Connect, and determine the number of dimensions from a first vector.

        Args:
            settings: settings of the encoder.
            transport: sends the requests instead of the network.
            sleep: waits some seconds before a retry.

        Raises:
            EncoderUnusable: no server answers, or it returns no vectors.
        """
        from anyio.from_thread import start_blocking_portal

        from base.net.http_client import open_client

        self._settings = settings
        self._url = f"{(settings.base_url or '').rstrip('/')}/embeddings"
        self._sleep = sleep
        self._slots = asyncio.Semaphore(settings.requests_at_once)
        self._client = open_client(
            self._url,
            settings.api_key,
            ca_certs=settings.ca_certs,
            connections=settings.requests_at_once,
            transport=transport,
        )
        with ExitStack() as closing:
            # The client belongs to one event loop, which runs in a separate thread.
            self._portal = closing.enter_context(start_blocking_portal())
            closing.callback(self._portal.call, self._client.aclose)
            self._width = self._portal.call(self._ask, [PROBE], QUESTION_ATTEMPTS).shape[1]
            dimensions = settings.dimensions or self._width
            if self._width < dimensions:
                raise EncoderUnusable(
                    f"{self._url} returns {self._width} dimensions, fewer than the requested {dimensions}: "
                    "lower SHRAG_ENCODER__DIMENSIONS"
                )
            self._closing = closing.pop_all()
        self.fingerprint = VectorFingerprint(
            model=settings.model,
            revision=settings.revision,
            query_prefix=settings.query_prefix or "",
            passage_prefix=settings.passage_prefix or "",
            pooling="endpoint",
            dimensions=dimensions,
            max_tokens=settings.max_tokens or 0,
            storage=settings.storage,
        )

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Return a unit vector for each question; EncoderUnusable after one retry of a transient failure."""
        return self._encode(texts, self.fingerprint.query_prefix, QUESTION_ATTEMPTS, None)

    def encode_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Return a unit vector for each passage; EncoderUnusable after a minute of retries."""
        return self._encode(texts, self.fingerprint.passage_prefix, PASSAGE_ATTEMPTS, progress)

    def close(self) -> None:
        """Close the connections."""
        self._closing.close()

    def _encode(self, texts: Sequence[str], prefix: str, attempts: int, progress: Progress | None) -> Vectors:
        sent = [without_surrogates(prefix + text) or " " for text in texts]  # some servers reject empty texts
        vectors = np.empty((len(sent), self.fingerprint.dimensions), np.float32)
        batches = [
            batch[start : start + MOST_TEXTS]
            for batch in cut_into_batches(sent, self._settings.batch_tokens)
            for start in range(0, len(batch), MOST_TEXTS)
        ]
        answers = [
            self._portal.start_task_soon(self._ask, [sent[place] for place in batch], attempts)
            for batch in batches
        ]
        done = 0
        try:
            for batch, answer in zip(batches, answers, strict=True):
                rows = answer.result()
                if rows.shape[1] != self._width:
                    raise EncoderUnusable(
                        f"{self._url} returned {rows.shape[1]} dimensions instead of {self._width}: the "
                        "server's model has changed; start again"
                    )
                vectors[batch] = rows[:, : self.fingerprint.dimensions]  # a server may ignore their number
                done += len(batch)
                if progress is not None:
                    progress(done)
            return scale_to_unit_length(vectors)
        except ValueError as error:
            raise EncoderUnusable(f"{self._url}: {error}") from error
        finally:
            for answer in answers:
                answer.cancel()

    async def _ask(self, texts: Sequence[str], attempts: int) -> Vectors:
        """Send a request, retrying transient failures; for questions, QUESTION_S limits the total time."""
        limit_s = QUESTION_S if attempts == QUESTION_ATTEMPTS else None
        try:
            async with asyncio.timeout(limit_s), self._slots:
                for attempt, growing in enumerate(growing_pauses(longest_s=LONGEST_PAUSE_S), 1):
                    try:
                        return await self._send(texts)
                    except _TransientFailure as failure:
                        pause = growing if failure.pause_s is None else min(failure.pause_s, LONGEST_PAUSE_S)
                        if attempt == attempts or (limit_s and pause >= limit_s):
                            raise EncoderUnusable(f"{failure} ({attempt} tries)") from None
                    await self._sleep(pause)
        except TimeoutError:
            raise EncoderUnusable(
                f"{self._url} returned no vector within {plain(QUESTION_S)} s, including queueing"
            ) from None
        raise AssertionError("unreachable: pauses are endless")

    async def _send(self, texts: Sequence[str]) -> Vectors:
        import httpx

        from base.net.http_client import exchange

        key, body = self._settings.api_key, json.dumps(embeddings_body(self._settings, texts)).encode()
        most, seconds = BYTES_OVERHEAD + BYTES_A_VECTOR * len(texts), self._settings.timeout_s
        try:
            answer = await exchange(self._client, "POST", self._url, body, seconds=seconds, most_bytes=most)
        except httpx.RequestError as error:
            step = "lower SHRAG_ENCODER__BATCH_TOKENS or raise SHRAG_ENCODER__TIMEOUT_S"
            if isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout)):
                step = "start the server, or set SHRAG_ENCODER__BASE_URL"
            said = one_line(str(error), key) or type(error).__name__
            raise _TransientFailure(f"{self._url} sent no complete answer ({said}): {step}") from None
        if answer.status_code != httpx.codes.OK:
            said, step = one_line(message_in(answer.content), key), NEXT_STEPS.get(answer.status_code, "")
            text = f"{self._url} answered {answer.status_code}{said and f': {said}'}{step and f'; {step}'}"
            if answer.status_code not in TRANSIENT_STATUSES:
                raise EncoderUnusable(text)
            pause_s = retry_after_s(answer.headers.get("retry-after", ""), datetime.now(UTC))
            raise _TransientFailure(text, pause_s)
        try:
            return vectors_of(answer.content, len(texts))
        except ValueError as error:
            raise EncoderUnusable(f"{self._url}: {error}; is it an embeddings server?") from None
