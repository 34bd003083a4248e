"""What can go wrong between a question and its answer.

GeneratorError
├── ModelNotConfigured     no setting names a language model
├── UnknownWay             no way from a question to its answer has that name
├── ModelFailed            a call failed: keywords from statistics and quoted answers take its place
│   ├── ModelUnreachable   no connection, or one that broke off
│   ├── ModelTooSlow       a time limit passed
│   ├── ModelRefusedCall   the server or the model declined: `status` says how
│   │   └── ContextExceeded   the prompt is longer than the server's context
│   ├── ModelAnswerInvalid an answer that is not what was asked for, after one repair
│   ├── ContextTooSmall    a prompt that fits no budget, however short its passages
│   └── CircuitOpen        the server failed again and again: it is left alone for a while
├── TokenizerUnusable      the tokenizer that a setting names is not there or cannot be read
└── CacheUnusable          the file of recorded answers is damaged, or cannot be opened
    └── CallNotRecorded    a replay asks for what its recording does not hold
"""


class GeneratorError(Exception):
    """Base of all; the message says what happened, at which endpoint or file, and what to do next."""


class ModelNotConfigured(GeneratorError):
    """No setting names a language model."""


class UnknownWay(GeneratorError):
    """No way from a question to its answer has that name."""


class ModelFailed(GeneratorError):
    """A call failed for a reason that lies with server or model; the fallback answers, and says so.

    `attempts` counts the requests that were sent before it was given up.
    """

    attempts = 1
    of_server = False  # whether it says that the server is down, not that a call or an answer was wrong

    def __str__(self) -> str:
        text = super().__str__()
        return text if self.attempts <= 1 else f"{text} (asked {self.attempts} times)"


class ModelUnreachable(ModelFailed):
    """The endpoint could not be connected to, or gave no whole answer."""

    of_server = True


class ModelTooSlow(ModelFailed):
    """A time limit passed: the server was silent, or did not come to the end of its answer.

    `of_server` is False where the server had only the rest of a stage to answer in, or was not asked.
    """

    def __init__(self, message: str, *, of_server: bool = True) -> None:
        """Keep beside the message whether it speaks of the server."""
        self.of_server = of_server
        super().__init__(message)


class ModelRefusedCall(ModelFailed):
    """The server or the model declined; `status` is the HTTP status, 200 where the model itself did.

    `retry_after_s` is what the server asked for, None where it said nothing.
    """

    def __init__(self, message: str, *, status: int) -> None:
        """Keep the status beside the message."""
        self.status = status
        self.of_server = status >= 500  # noqa: PLR2004 - the server's own errors, in HTTP
        self.retry_after_s: float | None = None
        super().__init__(message)


class ContextExceeded(ModelRefusedCall):
    """The server says that the prompt is too long; `context_tokens` is the size it names, if any."""

    def __init__(self, message: str, *, status: int, context_tokens: int | None = None) -> None:
        """Keep the size beside the message."""
        self.context_tokens = context_tokens
        super().__init__(message, status=status)


class ModelAnswerInvalid(ModelFailed):
    """The reply does not fit what was asked for; `text` is the reply, for the trace."""

    def __init__(self, message: str, *, text: str = "", attempts: int = 1) -> None:
        """Keep the answer beside the message, which says how often the model was asked."""
        self.text, self.attempts = text, attempts
        super().__init__(message)

    def __str__(self) -> str:
        return Exception.__str__(self)


class ContextTooSmall(ModelFailed):
    """The prompt does not fit the model's context, even with one sentence of each passage."""

    attempts = 0


class CircuitOpen(ModelFailed):
    """The server failed several times in a row and is not asked for a while."""

    attempts = 0


class TokenizerUnusable(GeneratorError):
    """The tokenizer that a setting names is not there, or cannot be read."""


class CacheUnusable(GeneratorError):
    """The file of recorded answers is damaged, of another version, or cannot be opened."""


class CallNotRecorded(CacheUnusable):
    """A replay asks for a call that its recording does not hold."""
