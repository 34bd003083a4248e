"""Answers of the server and replies made from them.

A completion is the server's answer, whole or streamed in pieces; a reply is the valid value with its cost.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, Self, TypeAlias, TypeVar

from pydantic import BaseModel, Field, SecretStr, ValidationError

from base.untrusted import one_line, without_key

ERROR_STATUSES = range(400, 600)

LEAST_SECRET = 8  # characters; shorter keys are placeholders like "none", which answers may contain

TokenCount = Annotated[int, Field(ge=0, le=2**53)]

T = TypeVar("T", bound=BaseModel)


class ChatMessage(BaseModel):
    """Content, refusal or reasoning of the model."""

    content: str | None = None
    refusal: str | None = None
    reasoning: Any = None
    reasoning_content: Any = None  # older name of `reasoning`


class Choice(BaseModel):
    """One answer or its next piece; SHRAG requests one answer per call."""

    message: ChatMessage | None = None
    delta: ChatMessage | None = None
    finish_reason: str | None = None


class Usage(BaseModel):
    """Token counts, if the server reports them."""

    prompt_tokens: TokenCount | None = None
    completion_tokens: TokenCount | None = None


class ChatCompletion(BaseModel):
    """The parsed fields of a response: an answer, one piece of a stream, or an error."""

    choices: list[Choice] | None = None
    model: str | None = None
    usage: Usage | None = None
    error: Any = None


class NoCompletion(ValueError):
    """The content is not a chat completion."""


class ServerError(ValueError):
    """An error reported by the server: `said` is its error value, `status` its code or None."""

    def __init__(self, said: Any) -> None:
        """Store the error and extract its status."""
        self.said = said
        code = said.get("code") if isinstance(said, dict) else None
        self.status = code if isinstance(code, int) and code in ERROR_STATUSES else None
        super().__init__(str(said))


@dataclass(slots=True)
class Completion:
    """The answer to one call, with the server's metadata and the cost of the call.

    It arrives whole or in pieces. A recorded answer keeps its original number of requests.
    """

    text: str = ""
    model: str = ""
    finish_reason: str = ""
    usage: Usage = field(default_factory=Usage)
    refusal: str = ""
    pieces: int = 0  # with text of the answer or its reasoning; about the number of tokens
    attempts: int = 1  # requests sent
    queued_s: float = 0.0  # waited for a free slot
    first_token_s: float | None = None  # after sending; None for an answer that was not streamed
    from_cache: bool = False

    def add(self, content: str | bytes, key: SecretStr | None = None, *, whole: bool = False) -> bool:
        """Add the next piece or the whole answer; return whether it contained part of the answer.

        A key of at least LEAST_SECRET characters is hidden, because a server may repeat it.

        Raises:
            NoCompletion: the content is not a chat completion or a piece of one.
            ServerError: the server reports an error and sends nothing more.
        """
        try:
            read = ChatCompletion.model_validate_json(content)
        except ValidationError:
            raise NoCompletion("it cannot be read") from None
        if read.error:
            raise ServerError(read.error)
        secret = key if key and len(key.get_secret_value()) >= LEAST_SECRET else None
        self.model = one_line(read.model or "", secret) or self.model
        self.usage = read.usage or self.usage
        choice = read.choices[0] if read.choices else Choice()  # the last piece has only the counts
        if whole and choice.message is None:
            raise NoCompletion("it contains no message")
        said = (choice.message if whole else choice.delta) or ChatMessage()
        self.finish_reason = one_line(choice.finish_reason or "", secret) or self.finish_reason
        self.text = without_key(self.text + (said.content or ""), secret)  # a key may span two pieces
        self.refusal = without_key(self.refusal + (said.refusal or ""), secret)
        brought = any((said.content, said.refusal, said.reasoning, said.reasoning_content))
        self.pieces += brought
        return brought or choice.finish_reason is not None

    def as_record(self) -> dict[str, Any]:
        """Return the JSON for a file of recorded calls."""
        kept = {name: getattr(self, name) for name in ("text", "model", "finish_reason", "attempts")}
        return kept | {"usage": self.usage.model_dump()}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """Return a recorded completion."""
        return cls(**{**record, "usage": Usage.model_validate(record["usage"])}, from_cache=True)


@dataclass(frozen=True, slots=True)
class Reply(Generic[T]):
    """A valid answer and its cost."""

    value: T
    model: str  # as the server reports it
    text: str  # unparsed
    finish_reason: str
    prompt_tokens: int | None  # of all calls; None if the server does not count them
    completion_tokens: int | None
    attempts: int  # requests sent, retries and repair included
    repaired: bool
    milliseconds: float
    queued_ms: float = 0.0  # waited for a free slot
    first_token_ms: float | None = None  # of the first call, after sending; None if not streamed
    from_cache: bool = False  # no request was sent

    def as_record(self) -> dict[str, Any]:
        """Return all but the value as JSON, for a trace."""
        times = (
            {"from_cache": self.milliseconds}
            if self.from_cache
            else {"queued": self.queued_ms, "first_token": self.first_token_ms, "total": self.milliseconds}
        )
        return {
            "model": self.model,
            "text": self.text,
            "finish_reason": self.finish_reason,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "attempts": self.attempts,
            "repaired": self.repaired,
            "milliseconds": {name: round(one, 2) for name, one in times.items() if one is not None},
        }


@dataclass(frozen=True, slots=True)
class Growth:
    """The text of an answer received so far; a retry or repair starts with an empty text."""

    stage: str  # the call's name: keywords, answer
    text: str
    pieces: int  # about the number of tokens, including reasoning


OnText: TypeAlias = Callable[[Growth], None]
