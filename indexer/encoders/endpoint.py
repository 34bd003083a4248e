"""Encoder for an OpenAI-compatible `/v1/embeddings`: vLLM's pooling runner, TEI, and others."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np

from base.amounts import plain
from base.net.backoff import TRANSIENT_STATUSES, growing_pauses, retry_after_s
from base.untrusted import message_in, one_line
from indexer.encoders import Progress, VectorFingerprint
from indexer.encoders.arrays import Vectors
from indexer.encoders.batching import cut_into_batches, without_surrogates
from indexer.encoders.rounding import of_unit_length
from indexer.errors import EncoderUnusable
from indexer.settings import EncoderSettings

if TYPE_CHECKING:
    import httpx
import base64
from typing import Any

from base.untrusted import read_json


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


MOST_TEXTS = 32  # per request, TEI's default limit
BYTES_A_TOKEN = 4  # roughly; affects only the size of requests
ATTEMPTS_FOR_A_QUESTION, ATTEMPTS_FOR_PASSAGES = 2, 8  # a user waits for a question, a build for passages
LONGEST_PAUSE_S = 30.0
QUESTION_S = 30.0  # time limit for a question, or for the probe
BYTES_A_VECTOR, BYTES_OVERHEAD = 250_000, 100_000  # limit of a response: 8,192 numbers as text
PROBE = "a text to learn the number of dimensions from"
OK, BAD_REQUEST, UNAUTHORIZED, FORBIDDEN, NOT_FOUND, TOO_MANY = 200, 400, 401, 403, 404, 429

NEXT_STEPS = {
    UNAUTHORIZED: "set SHRAG_ENCODER__API_KEY",
    FORBIDDEN: "check SHRAG_ENCODER__API_KEY",
    NOT_FOUND: "check SHRAG_ENCODER__BASE_URL, which usually ends in /v1, and SHRAG_ENCODER__MODEL",
    BAD_REQUEST: "check SHRAG_ENCODER__MODEL and SHRAG_ENCODER__DIMENSIONS; set "
    "SHRAG_ENCODER__TRUNCATE=false if the server does not know truncate_prompt_tokens",
    TOO_MANY: "lower SHRAG_ENCODER__REQUESTS_AT_ONCE",
}


class _TransientFailure(Exception):
    """A failure for which a retry may succeed."""

    def __init__(self, what: str, *, retry_after: str = "", timed_out: bool = False) -> None:
        super().__init__(what)
        self.retry_after = retry_after
        self.timed_out = timed_out


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
        self._places = asyncio.Semaphore(settings.requests_at_once)
        self._client = open_client(
            self._url,
            settings.api_key,
            ca_certs=settings.ca_certs,
            connections=settings.requests_at_once,
            transport=transport,
        )
        self._closing = ExitStack()
        # The client belongs to one event loop, which runs in a separate thread.
        self._portal = self._closing.enter_context(start_blocking_portal())
        self._closing.callback(self._portal.call, self._client.aclose)
        try:
            dimensions = self._dimensions()
        except BaseException:
            self.close()
            raise
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
        """Return a unit vector for each question: float32 of shape (len(texts), dimensions).

        Raises:
            EncoderUnusable: the server returns no vectors, after one retry of a transient failure.
        """
        return self._encode(texts, self.fingerprint.query_prefix, ATTEMPTS_FOR_A_QUESTION, None)

    def encode_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Return a unit vector for each passage, in order: float32 of shape (len(texts), dimensions).

        Raises:
            EncoderUnusable: the server returns no vectors, after a minute of retries of transient failures.
        """
        return self._encode(texts, self.fingerprint.passage_prefix, ATTEMPTS_FOR_PASSAGES, progress)

    def close(self) -> None:
        """Close the connections."""
        self._closing.close()

    def _encode(self, texts: Sequence[str], prefix: str, attempts: int, progress: Progress | None) -> Vectors:
        sent = [without_surrogates(prefix + text) or " " for text in texts]  # some servers reject empty texts
        vectors = np.empty((len(sent), self.fingerprint.dimensions), np.float32)
        batches = list(_requests(sent, self._settings.batch_tokens))
        done = 0
        answers = [
            self._portal.start_task_soon(self._ask, [sent[place] for place in batch], attempts)
            for batch in batches
        ]
        try:
            for batch, answer in zip(batches, answers, strict=True):
                vectors[batch] = self._of_width(answer.result())
                done += len(batch)
                if progress is not None:
                    progress(done)
        except BaseException:
            for answer in answers:
                answer.cancel()
            raise
        try:
            return of_unit_length(vectors)
        except ValueError as error:
            raise EncoderUnusable(f"{self._url}: {error}") from error

    def _dimensions(self) -> int:
        self._given = self._portal.call(self._ask, [PROBE], ATTEMPTS_FOR_A_QUESTION).shape[1]
        asked = self._settings.dimensions or self._given
        if self._given < asked:
            raise EncoderUnusable(
                f"{self._url} returns {self._given} dimensions, fewer than the requested {asked}: "
                "lower SHRAG_ENCODER__DIMENSIONS"
            )
        return asked  # the first ones, if the server ignored the number

    def _of_width(self, rows: Vectors) -> Vectors:
        if rows.shape[1] != self._given:
            raise EncoderUnusable(
                f"{self._url} returned {rows.shape[1]} dimensions instead of {self._given}: the "
                "server's model has changed; start again"
            )
        return rows[:, : self.fingerprint.dimensions]

    async def _ask(self, texts: Sequence[str], attempts: int) -> Vectors:
        """Send a request, retrying transient failures up to the number of attempts.

        For questions, a slow server is not retried, and QUESTION_S limits the total time.
        """
        waited_for = attempts == ATTEMPTS_FOR_A_QUESTION
        try:
            async with asyncio.timeout(QUESTION_S if waited_for else None), self._places:
                return await self._send_with_retries(texts, attempts, waited_for=waited_for)
        except TimeoutError:
            raise EncoderUnusable(
                f"{self._url} returned no vector within {plain(QUESTION_S)} s, including queueing"
            ) from None

    async def _send_with_retries(self, texts: Sequence[str], attempts: int, *, waited_for: bool) -> Vectors:
        for attempt, growing in enumerate(growing_pauses(longest_s=LONGEST_PAUSE_S), 1):
            try:
                return await self._send_once(texts, QUESTION_S if waited_for else self._settings.timeout_s)
            except _TransientFailure as failure:
                asked_for = retry_after_s(failure.retry_after, datetime.now(UTC))
                pause = growing if asked_for is None else min(asked_for, LONGEST_PAUSE_S)
                in_vain = waited_for and (failure.timed_out or pause >= QUESTION_S)
                if attempt == attempts or in_vain:
                    tries = f" ({attempt} tries)" if attempt > 1 else ""
                    raise EncoderUnusable(f"{failure}{tries}") from None
            await self._sleep(pause)
        raise AssertionError("unreachable: pauses are endless")

    async def _send_once(self, texts: Sequence[str], seconds: float) -> Vectors:
        import httpx

        from base.net.http_client import exchange

        body = json.dumps(embeddings_body(self._settings, texts)).encode()
        most, seconds = BYTES_OVERHEAD + BYTES_A_VECTOR * len(texts), min(seconds, self._settings.timeout_s)
        try:
            answer = await exchange(self._client, "POST", self._url, body, seconds=seconds, most_bytes=most)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise _TransientFailure(
                f"no server answers at {self._url} ({self._shown(error)}): start it, or set "
                "SHRAG_ENCODER__BASE_URL",
                timed_out=isinstance(error, httpx.TimeoutException),
            ) from None
        except httpx.TimeoutException as error:
            raise _TransientFailure(
                f"{self._url} {error}: lower SHRAG_ENCODER__BATCH_TOKENS or raise SHRAG_ENCODER__TIMEOUT_S",
                timed_out=True,
            ) from None
        except httpx.RequestError as error:  # incomplete, too long, or compressed
            raise _TransientFailure(f"{self._url} ended its response early ({self._shown(error)})") from None
        if answer.status_code != OK:
            raise self._refusal(answer)
        try:
            return vectors_of(answer.content, len(texts))
        except ValueError as error:
            raise EncoderUnusable(f"{self._url}: {error}; is it an embeddings server?") from None

    def _refusal(self, answer: "httpx.Response") -> Exception:
        status = answer.status_code
        said = one_line(message_in(answer.content), self._settings.api_key)
        text = f"{self._url} answered {status}{f': {said}' if said else ''}"
        if status in NEXT_STEPS:
            text += f"; {NEXT_STEPS[status]}"
        if status in TRANSIENT_STATUSES:
            return _TransientFailure(text, retry_after=answer.headers.get("retry-after", ""))
        return EncoderUnusable(text)

    def _shown(self, error: Exception) -> str:
        return one_line(str(error), self._settings.api_key) or type(error).__name__


def _requests(texts: Sequence[str], batch_tokens: int) -> Iterator[list[int]]:
    lengths = [1 + len(text.encode()) // BYTES_A_TOKEN for text in texts]
    for batch in cut_into_batches(lengths, batch_tokens):
        for start in range(0, len(batch), MOST_TEXTS):
            yield batch[start : start + MOST_TEXTS]
