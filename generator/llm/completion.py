"""What a server answers to a chat call, whole or as a stream of pieces, made one value."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ValidationError

DONE = "[DONE]"
ERROR_STATUSES = range(400, 600)


class ChatMessage(BaseModel):
    """What the model says, thinks, or why it does not."""

    content: str | None = None
    refusal: str | None = None
    reasoning: Any = None
    reasoning_content: Any = None  # what `reasoning` was called before


class Choice(BaseModel):
    """One answer, or the next piece of it; one is asked for."""

    message: ChatMessage | None = None
    delta: ChatMessage | None = None
    finish_reason: str | None = None


class Usage(BaseModel):
    """Tokens, where the server counts them."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class ChatCompletion(BaseModel):
    """What a server sends, as far as it is read: an answer, one piece of a stream, or an error."""

    choices: list[Choice] | None = None
    model: str | None = None
    usage: Usage | None = None
    error: Any = None


@dataclass(frozen=True, slots=True)
class Completion:
    """One call answered: the text, and what the server says about it."""

    text: str
    model: str
    finish_reason: str
    usage: Usage = field(default_factory=Usage)
    refusal: str = ""

    def as_record(self) -> dict[str, Any]:
        """Return it as JSON, for a recording."""
        return {
            "text": self.text,
            "model": self.model,
            "finish_reason": self.finish_reason,
            "usage": self.usage.model_dump(),
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Completion":
        """Make it of what `as_record` gave."""
        usage = Usage.model_validate(record["usage"])
        return cls(record["text"], record["model"], record["finish_reason"], usage)


class NoCompletion(ValueError):
    """The words are no chat completion; the message says what is missing."""


class NoChoices(NoCompletion):
    """A chat completion that holds no answer."""


class ServerError(ValueError):
    """The server says that it failed: `said` in its words, `status` as it says, or None."""

    def __init__(self, said: Any) -> None:
        """Keep what the server says, and find a status in it."""
        self.said = said
        code = said.get("code") if isinstance(said, dict) else None
        self.status = code if isinstance(code, int) and code in ERROR_STATUSES else None
        super().__init__(str(said))


def read_whole(content: str | bytes, model: str) -> Completion:
    """Read an answer that came in one piece; `model` is its name where the server gives none.

    Raises:
        NoCompletion: it is something else.
        ServerError: it is an error.
    """
    try:
        read = ChatCompletion.model_validate_json(content)
    except ValidationError:
        read = ChatCompletion()
    if read.error:
        raise ServerError(read.error)
    if read.choices is None or any(choice.message is None for choice in read.choices):
        raise NoCompletion("it is no chat completion")
    if not read.choices:
        raise NoChoices("it has no choices")
    choice = read.choices[0]
    said = choice.message or ChatMessage()
    return Completion(
        text=said.content or "",
        model=read.model or model,
        finish_reason=choice.finish_reason or "",
        usage=read.usage or Usage(),
        refusal=said.refusal or "",
    )


@dataclass(slots=True)
class Growing:
    """An answer that comes in pieces."""

    model: str
    text: str = ""
    pieces: int = 0  # that held any of the answer or of the thought before it: about its tokens
    finish_reason: str = ""
    refusal: str = ""
    usage: Usage = field(default_factory=Usage)

    def add(self, event: str) -> bool:
        """Add the next piece; tell whether it brought anything of the answer.

        Raises:
            NoCompletion: it is no piece of a chat completion.
            ServerError: it is an error, after which nothing comes.
        """
        try:
            read = ChatCompletion.model_validate_json(event)
        except ValidationError:
            raise NoCompletion("a piece of it cannot be read") from None
        if read.error:
            raise ServerError(read.error)
        self.model = read.model or self.model
        self.usage = read.usage or self.usage
        if not read.choices:  # the last one, which brings the counts
            return False
        choice = read.choices[0]
        said = choice.delta or ChatMessage()
        self.text += said.content or ""
        self.refusal += said.refusal or ""
        self.finish_reason = choice.finish_reason or self.finish_reason
        brought = any((said.content, said.refusal, said.reasoning, said.reasoning_content))
        self.pieces += brought
        return brought or choice.finish_reason is not None

    @property
    def whole(self) -> Completion:
        """The answer as it stands now."""
        return Completion(self.text, self.model, self.finish_reason, self.usage, self.refusal)
