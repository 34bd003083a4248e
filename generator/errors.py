"""Errors of answering; statistics or quotation replace a model call that fails with `ModelFailed`."""

from typing import Any

from base.errors import ShragError

SERVER_ERROR = 500  # the first HTTP status of these


class GeneratorError(ShragError, code="generator"):
    """Base of all; the message says what happened, at which endpoint or file, and what to do next."""


class ModelNotConfigured(GeneratorError, http_status=422, code="unknown-model", exit_code=2):
    """No setting names a language model."""


class UnknownWay(GeneratorError, http_status=422, code="unknown-way", exit_code=2):
    """No way of answering has that name."""


class UnknownModel(GeneratorError, http_status=422, code="unknown-model", exit_code=2):
    """No setting names that model."""


class InvalidPrompt(GeneratorError):
    """A prompt is missing or has no version, or a call lacks one of its variables or has another one."""


class ModelFailed(
    GeneratorError,
    http_status=502,
    code="model-failed",
    public="the language model failed; the details are in the server's log",
):
    """A model call failed; a fallback replaces it and a note says so.

    Args:
        message: what happened, and the next step.
        attempts: number of requests sent.
        of_server: True if the server is down or too slow, False if the call or the answer was wrong.
        status: HTTP status of a refusal, 200 if the model declined.
        text: an invalid reply, for the trace.
    """

    def __init__(
        self, message: str, *, attempts: int = 1, of_server: bool = False, status: int = 0, text: str = ""
    ) -> None:
        """Store the details; an error of the server's own is always of the server."""
        super().__init__(message)
        self.attempts, self.status, self.text = attempts, status, text
        self.of_server = of_server or status >= SERVER_ERROR
        self.retry_after_s: float | None = None  # delay in the server's Retry-After header
        self.refused = ""  # parameter that the server does not support; the call can be sent without it

    def __str__(self) -> str:
        text = super().__str__()
        return text if self.attempts <= 1 else f"{text} (requested {self.attempts} times)"


class ModelUnreachable(ModelFailed):
    """No connection to the endpoint, or an incomplete answer; always of the server."""

    def __init__(self, message: str, **details: Any) -> None:
        """Store the details."""
        super().__init__(message, **details | {"of_server": True})


class ModelTooSlow(ModelFailed):
    """A time limit passed; not the server's fault if it had only the rest of a stage's time."""


class ModelRefusedCall(ModelFailed):
    """The server or the model declined."""


class ContextExceeded(ModelRefusedCall):
    """The server reports a prompt longer than its context."""


class ModelAnswerInvalid(ModelFailed):
    """The reply does not match the schema."""


class ContextTooSmall(ModelFailed):
    """The prompt does not fit the model's context, even with its passages cut short."""


class CircuitOpen(ModelFailed):
    """The server failed several times in a row; no requests are sent for a while."""


class CacheUnusable(GeneratorError):
    """The file of recorded answers is damaged, of another version, or cannot be opened."""


class CallNotRecorded(CacheUnusable):
    """A replay needs a call that the recording does not contain."""
