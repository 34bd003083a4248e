"""An encoder behind an OpenAI-compatible `/v1/embeddings`: vLLM's pooling runner, TEI, and others."""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from indexer.backoff import TRANSIENT_STATUSES, growing_pauses, retry_after_s
from indexer.encoders import Progress, VectorFingerprint, Vectors
from indexer.encoders.answers import complaint, embeddings_body, vectors_of
from indexer.encoders.batching import cut_into_batches
from indexer.encoders.lengths import of_unit_length
from indexer.encoders.texts import without_surrogates
from indexer.errors import EncoderUnusable
from indexer.settings import EncoderSettings

if TYPE_CHECKING:
    import httpx

MOST_TEXTS = 32  # of a request: TEI takes no more unless told to
BYTES_A_TOKEN = 4  # roughly; only the size of requests hangs on it
ATTEMPTS_FOR_A_QUESTION, ATTEMPTS_FOR_PASSAGES = 2, 8  # somebody waits for the one, a build for the other
LONGEST_PAUSE_S = 30.0
PROBE = "a text to learn the number of dimensions from"
OK, BAD_REQUEST, UNAUTHORIZED, FORBIDDEN, NOT_FOUND, TOO_MANY = 200, 400, 401, 403, 404, 429

NEXT_STEPS = {
    UNAUTHORIZED: "set SHRAG_ENCODER__API_KEY",
    FORBIDDEN: "check SHRAG_ENCODER__API_KEY",
    NOT_FOUND: "check SHRAG_ENCODER__BASE_URL, which ends in /v1 as a rule, and SHRAG_ENCODER__MODEL",
    BAD_REQUEST: "check SHRAG_ENCODER__MODEL and SHRAG_ENCODER__DIMENSIONS; set "
    "SHRAG_ENCODER__TRUNCATE=false where the server does not know truncate_prompt_tokens",
    TOO_MANY: "lower SHRAG_ENCODER__REQUESTS_AT_ONCE",
}


class _TransientFailure(Exception):
    """A failure that another try may better."""

    def __init__(self, what: str, retry_after: str = "") -> None:
        super().__init__(what)
        self.retry_after = retry_after


class EndpointEncoder:
    """Texts to vectors by a server; may be used from several threads."""

    def __init__(
        self,
        settings: EncoderSettings,
        transport: "httpx.BaseTransport | None" = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Connect, and learn the number of dimensions from a first vector.

        Args:
            settings: of the encoder.
            transport: what sends the requests, instead of the network.
            sleep: waits some seconds between two tries.

        Raises:
            EncoderUnusable: no server answers, or not with vectors.
        """
        import httpx

        key = settings.api_key.get_secret_value()
        self._settings = settings
        self._url = f"{(settings.base_url or '').rstrip('/')}/embeddings"
        self._sleep = sleep
        self._client = httpx.Client(
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=settings.timeout_s,
            limits=httpx.Limits(max_connections=settings.requests_at_once),
            trust_env=False,
            transport=transport,
        )
        try:
            dimensions = self._dimensions()
        except EncoderUnusable:
            self._client.close()
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
        """Return one unit vector a question: float32 of shape (len(texts), dimensions).

        Raises:
            EncoderUnusable: the server gives no vectors, twice where that may pass.
        """
        return self._encode(texts, self.fingerprint.query_prefix, ATTEMPTS_FOR_A_QUESTION, None)

    def encode_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Return one unit vector a passage: float32 of shape (len(texts), dimensions), in the order given.

        Raises:
            EncoderUnusable: the server gives no vectors, for about a minute where that may pass.
        """
        return self._encode(texts, self.fingerprint.passage_prefix, ATTEMPTS_FOR_PASSAGES, progress)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _encode(self, texts: Sequence[str], prefix: str, attempts: int, progress: Progress | None) -> Vectors:
        sent = [without_surrogates(prefix + text) or " " for text in texts]  # some refuse an empty text
        vectors = np.empty((len(sent), self.fingerprint.dimensions), np.float32)
        batches = list(_requests(sent, self._settings.batch_tokens))
        done = 0
        with ThreadPoolExecutor(self._settings.requests_at_once, "embeddings") as threads:
            answers = [
                threads.submit(self._ask, [sent[place] for place in batch], attempts) for batch in batches
            ]
            try:
                for batch, answer in zip(batches, answers, strict=True):
                    vectors[batch] = self._of_width(answer.result())
                    done += len(batch)
                    if progress is not None:
                        progress(done)
            except BaseException:
                threads.shutdown(wait=False, cancel_futures=True)
                raise
        try:
            return of_unit_length(vectors)
        except ValueError as error:
            raise EncoderUnusable(f"{self._url}: {error}") from error

    def _dimensions(self) -> int:
        self._given = self._ask([PROBE], ATTEMPTS_FOR_A_QUESTION).shape[1]
        asked = self._settings.dimensions or self._given
        if self._given < asked:
            raise EncoderUnusable(
                f"{self._url} gives {self._given} dimensions, and {asked} are asked for: lower "
                "SHRAG_ENCODER__DIMENSIONS"
            )
        return asked  # the first ones, where the server passed over the number

    def _of_width(self, rows: Vectors) -> Vectors:
        if rows.shape[1] != self._given:
            raise EncoderUnusable(
                f"{self._url} gave {rows.shape[1]} dimensions where it gave {self._given} before: another "
                "model runs there; start again"
            )
        return rows[:, : self.fingerprint.dimensions]

    def _ask(self, texts: Sequence[str], attempts: int) -> Vectors:
        """Send one request until it succeeds, is refused, or has been tried so often."""
        for pause in islice(growing_pauses(longest_s=LONGEST_PAUSE_S), attempts - 1):
            try:
                return self._try(texts)
            except _TransientFailure as failure:
                asked_for = retry_after_s(failure.retry_after, datetime.now(UTC))
            self._sleep(pause if asked_for is None else min(asked_for, LONGEST_PAUSE_S))
        try:
            return self._try(texts)
        except _TransientFailure as failure:
            raise EncoderUnusable(f"{failure} ({attempts} tries)") from failure.__cause__

    def _try(self, texts: Sequence[str]) -> Vectors:
        import httpx

        try:
            answer = self._client.post(self._url, json=embeddings_body(self._settings, texts))
        except httpx.TimeoutException as error:
            raise _TransientFailure(
                f"{self._url} did not answer within {self._settings.timeout_s:g} s: lower "
                "SHRAG_ENCODER__BATCH_TOKENS or raise SHRAG_ENCODER__TIMEOUT_S"
            ) from error
        except httpx.ConnectError as error:
            raise _TransientFailure(
                f"no server answers at {self._url} ({error}): start it, or set SHRAG_ENCODER__BASE_URL"
            ) from error
        except httpx.RequestError as error:  # broken off, or packed so that it cannot be read
            raise _TransientFailure(
                f"{self._url} broke off its answer ({error or type(error).__name__})"
            ) from error
        if answer.status_code != OK:
            raise self._refusal(answer)
        try:
            return vectors_of(answer.content, len(texts))
        except ValueError as error:
            raise EncoderUnusable(f"{self._url}: {error}; is it a server of embeddings?") from error

    def _refusal(self, answer: "httpx.Response") -> Exception:
        status = answer.status_code
        key = self._settings.api_key.get_secret_value()
        said = complaint(answer.content)
        if key:
            said = said.replace(key, "…")
        text = f"{self._url} answered {status}{f': {said}' if said else ''}"
        if status in NEXT_STEPS:
            text += f"; {NEXT_STEPS[status]}"
        if status in TRANSIENT_STATUSES:
            return _TransientFailure(text, answer.headers.get("retry-after", ""))
        return EncoderUnusable(text)


def _requests(texts: Sequence[str], batch_tokens: int) -> Iterator[list[int]]:
    lengths = [1 + len(text.encode()) // BYTES_A_TOKEN for text in texts]
    for batch in cut_into_batches(lengths, batch_tokens):
        for start in range(0, len(batch), MOST_TEXTS):
            yield batch[start : start + MOST_TEXTS]
