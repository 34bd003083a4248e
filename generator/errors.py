"""What can go wrong between a question and its answer.

GeneratorError
├── ModelNotConfigured  no setting names a language model
├── ModelUnreachable    no connection, or one that broke off
├── ModelTooSlow        no whole answer within the time limit
├── ModelRefusedCall    the server or the model declined: `status` says how
├── ModelAnswerInvalid  an answer that is not what was asked for, after one repair
└── TraceNotWritten     disk full, no permission
"""


class GeneratorError(Exception):
    """Base of all; the message says what happened, at which endpoint or file, and what to do next."""


class ModelNotConfigured(GeneratorError):
    """No setting names a language model."""


class ModelUnreachable(GeneratorError):
    """The endpoint could not be connected to, or the connection broke off."""


class ModelTooSlow(GeneratorError):
    """No whole answer came within the time limit."""


class ModelRefusedCall(GeneratorError):
    """The server or the model declined; `status` is the HTTP status, 200 where the model itself did."""

    def __init__(self, message: str, *, status: int) -> None:
        """Keep the status beside the message."""
        self.status = status
        super().__init__(message)


class ModelAnswerInvalid(GeneratorError):
    """The answer is not what was asked for; `text` is what came, for the trace."""

    def __init__(self, message: str, *, text: str = "") -> None:
        """Keep the answer beside the message."""
        self.text = text
        super().__init__(message)


class TraceNotWritten(GeneratorError):
    """The trace could not be written: disk full, no permission."""
