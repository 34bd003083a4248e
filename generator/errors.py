"""Errors of answering; statistics or quotation replace a model call that fails with `ModelFailed`."""

from base.errors import ShragError


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

    `attempts` counts the requests sent.
    """

    attempts = 1
    of_server = False  # True: the server is down; False: the call or the answer was wrong

    def __str__(self) -> str:
        text = super().__str__()
        return text if self.attempts <= 1 else f"{text} (requested {self.attempts} times)"


class ModelUnreachable(ModelFailed):
    """No connection to the endpoint, or an incomplete answer."""

    of_server = True


class ModelTooSlow(ModelFailed):
    """A time limit passed: the server was silent or its answer incomplete.

    `of_server` is False if the server had only the rest of a stage's time, or got no request.
    """

    def __init__(self, message: str, *, of_server: bool = True, attempts: int = 1) -> None:
        """Store whether the server is at fault."""
        self.of_server, self.attempts = of_server, attempts
        super().__init__(message)


class ModelRefusedCall(ModelFailed):
    """The server or the model declined; `status` is the HTTP status, 200 if the model declined.

    `retry_after_s` is the delay in the server's Retry-After header, None without one. `refused` names a
    parameter that the server does not support, and without which the call can be sent again.
    """

    def __init__(self, message: str, *, status: int) -> None:
        """Store the HTTP status."""
        self.status = status
        self.of_server = status >= 500  # noqa: PLR2004 - HTTP server errors
        self.retry_after_s: float | None = None
        self.refused = ""
        super().__init__(message)


class ContextExceeded(ModelRefusedCall):
    """The server reports a prompt longer than its context; `context_tokens` is the size it names, if any."""

    def __init__(self, message: str, *, status: int, context_tokens: int | None = None) -> None:
        """Store the context size."""
        self.context_tokens = context_tokens
        super().__init__(message, status=status)


class ModelAnswerInvalid(ModelFailed):
    """The reply does not match the schema; `text` is the reply, for the trace."""

    def __init__(self, message: str, *, text: str = "", attempts: int = 1) -> None:
        """Store the reply; the message already contains the number of requests."""
        self.text, self.attempts = text, attempts
        super().__init__(message)

    def __str__(self) -> str:
        return Exception.__str__(self)


class ContextTooSmall(ModelFailed):
    """The prompt does not fit the model's context, even with one sentence of each passage."""

    attempts = 0


class CircuitOpen(ModelFailed):
    """The server failed several times in a row; no requests are sent for a while."""

    attempts = 0


class TokenizerUnusable(GeneratorError):
    """The configured tokenizer is missing or unreadable."""


class CacheUnusable(GeneratorError):
    """The file of recorded answers is damaged, of another version, or cannot be opened."""


class CallNotRecorded(CacheUnusable):
    """A replay needs a call that the recording does not contain."""
