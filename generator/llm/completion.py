"""What a server answers to a chat call, whole or as a stream of pieces, made one value."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Self

from pydantic import BaseModel, Field, SecretStr, ValidationError

from base.untrusted import one_line, without_key

DONE = "[DONE]"
ERROR_STATUSES = range(400, 600)

LEAST_SECRET = 8  # characters; servers that ask for no key are given ones like "none", words of any answer

TokenCount = Annotated[int, Field(ge=0, le=2**53)]


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

    prompt_tokens: TokenCount | None = None
    completion_tokens: TokenCount | None = None


class ChatCompletion(BaseModel):
    """What a server sends, as far as it is read: an answer, one piece of a stream, or an error."""

    choices: list[Choice] | None = None
    model: str | None = None
    usage: Usage | None = None
    error: Any = None


class NoCompletion(ValueError):
    """The words are no chat completion."""


class ServerError(ValueError):
    """The server says that it failed: `said` in its words, `status` as it says, or None."""

    def __init__(self, said: Any) -> None:
        """Keep what the server says, and find a status in it."""
        self.said = said
        code = said.get("code") if isinstance(said, dict) else None
        self.status = code if isinstance(code, int) and code in ERROR_STATUSES else None
        super().__init__(str(said))


@dataclass(slots=True)
class Completion:
    """One call answered: the text, what the server says about it, and what it took.

    It comes whole, or grows by pieces; one from a file keeps the count of requests of its recording.
    """

    text: str = ""
    model: str = ""
    finish_reason: str = ""
    usage: Usage = field(default_factory=Usage)
    refusal: str = ""
    pieces: int = 0  # that held any of the answer or of the thought before it: about its tokens
    attempts: int = 1  # requests sent
    queued_s: float = 0.0  # waited for a place
    first_token_s: float | None = None  # from sending, where the answer came as a stream
    from_cache: bool = False

    def add(self, content: str | bytes, key: SecretStr | None = None, *, whole: bool = False) -> bool:
        """Add the next piece, or the whole answer; tell whether it brought anything of the answer.

        The key, which a server may repeat, is hidden where it is LEAST_SECRET characters long.

        Raises:
            NoCompletion: it is no chat completion, or no piece of one.
            ServerError: it is an error, after which nothing comes.
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
        choice = read.choices[0] if read.choices else Choice()  # the last piece brings only the counts
        if whole and choice.message is None:
            raise NoCompletion("it holds no message")
        said = (choice.message if whole else choice.delta) or ChatMessage()
        self.finish_reason = one_line(choice.finish_reason or "", secret) or self.finish_reason
        self.text = without_key(self.text + (said.content or ""), secret)  # pieces may cut a key
        self.refusal = without_key(self.refusal + (said.refusal or ""), secret)
        brought = any((said.content, said.refusal, said.reasoning, said.reasoning_content))
        self.pieces += brought
        return brought or choice.finish_reason is not None

    def as_record(self) -> dict[str, Any]:
        """Return what is kept of it in a file of recorded calls."""
        kept = {name: getattr(self, name) for name in ("text", "model", "finish_reason", "attempts")}
        return kept | {"usage": self.usage.model_dump()}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """Return what was kept."""
        return cls(**{**record, "usage": Usage.model_validate(record["usage"])}, from_cache=True)
