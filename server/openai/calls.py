"""Chat completion requests, and the questions in them.

| field | effect |
|---|---|
| model, messages, stream, stream_options.include_usage | used |
| metadata.way, metadata.hops | used as in `ask` |
| n above 1, logprobs, audio, a required tool call, a JSON format | refused, as not supported |
| temperature, max_tokens, stop, seed, tools, user, other metadata and the rest | accepted, no effect |
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict, Field

from generator.housekeeping import Housekeeping, find_housekeeping
from generator.request import Turn
from generator.settings import HopsMode
from generator.ways import way_names
from server.errors import BadRequest

Target: TypeAlias = tuple[str | None, tuple[str, ...]]  # an index, or sources instead of one

SPOKEN = frozenset({"user", "assistant"})
TEXTS = frozenset({"text", "input_text", "refusal"})  # parts of a message that contain text
MOST_TURNS = 100  # before the question; older turns are ignored
HOPS = get_args(HopsMode)
# Accepted values of fields that would change an answer, and the reason for refusing others. Compared with any
# JSON.
ACCEPTED: dict[str, tuple[list[Any], str]] = {
    "n": ([None, 1], "a call returns one answer"),
    "logprobs": ([None, False], "log probabilities are not supported"),
    "top_logprobs": ([None, 0], "log probabilities are not supported"),
    "modalities": ([None, [], ["text"]], "an answer is always text"),
    "tool_choice": ([None, "auto", "none"], "tools are never called"),
    "function_call": ([None, "auto", "none"], "tools are never called"),
}


class StreamOptions(BaseModel):
    """Options of a stream."""

    include_usage: bool | None = None


class Message(BaseModel):
    """One message of a conversation; its parts are text."""

    role: str
    content: str | list[dict[str, Any]] | None = None


def _describe_accepted(schema: dict[str, Any]) -> None:
    """Add the restricted fields and an example to the schema of a call."""
    schema["properties"] |= {
        name: {"enum": accepted, "description": reason} for name, (accepted, reason) in ACCEPTED.items()
    }
    message = {"role": "user", "content": "Does drip irrigation help?"}
    schema["examples"] = [{"model": "papers", "messages": [message]}]


class ChatCall(BaseModel):
    """A chat completion; the last message of the user is the question."""

    model_config = ConfigDict(extra="allow", json_schema_extra=_describe_accepted)

    model: str = Field(description="the index or the source, as listed by /v1/models")
    messages: list[Message] = Field(min_length=1)
    stream: bool | None = None
    stream_options: StreamOptions | None = None

    @property
    def with_usage(self) -> bool:
        """Whether a stream ends with the token usage."""
        return bool(self.stream_options and self.stream_options.include_usage)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with earlier turns, or a housekeeping request of a chat program."""

    question: str
    turns: tuple[Turn, ...] = ()
    housekeeping: Housekeeping | None = None
    way: str | None = None
    hops: HopsMode | None = None


def asked_by(call: ChatCall) -> Asked:
    """Return the question of a call; system and tool messages are ignored.

    Raises:
        BadRequest: it requests an unsupported feature, or has no question.
    """
    _refuse_what_is_not_given(call.model_extra or {})
    messages = [
        Turn("system" if message.role == "developer" else message.role, _text_of(message, place))
        for place, message in enumerate(call.messages)
    ]
    if housekeeping := find_housekeeping(messages):
        return Asked("", housekeeping=housekeeping)
    if (form := (call.model_extra or {}).get("response_format")) and _type_of(form) != "text":
        raise BadRequest(
            "an answer is text with citations; other formats are not supported", place="response_format"
        )
    last = max((place for place, turn in enumerate(messages) if turn.role == "user"), default=None)
    if last is None:
        raise BadRequest(
            "no message has the role 'user'; the last one with it is the question", place="messages"
        )
    turns = [turn for turn in messages[:last] if turn.role in SPOKEN and turn.text.strip()]
    way, hops = (_chosen(call, name, among) for name, among in (("way", way_names()), ("hops", HOPS)))
    return Asked(messages[last].text, tuple(turns[-MOST_TURNS:]), way=way, hops=hops)


def _chosen(call: ChatCall, name: str, among: Sequence[str]) -> Any:
    """Return a value of a call's metadata, None if it is absent."""
    metadata = (call.model_extra or {}).get("metadata")
    chosen = metadata.get(name) if isinstance(metadata, dict) else None
    if chosen is not None and chosen not in among:
        raise BadRequest(f"must be one of: {', '.join(among)}", place=f"metadata.{name}")
    return chosen


def _text_of(message: Message, place: int) -> str:
    if not isinstance(message.content, list):
        return message.content or ""
    texts = []
    for number, part in enumerate(message.content):
        text = part.get(str(part.get("type")), part.get("text"))
        if part.get("type") not in TEXTS or not isinstance(text, str):
            raise BadRequest(
                f"parts of type {str(part.get('type'))[:40]!r} are not supported; send text",
                place=f"messages[{place}].content[{number}]",
            )
        texts.append(text)
    return "\n".join(texts)


def _type_of(given: Any) -> Any:
    return given.get("type") if isinstance(given, dict) else given


def _refuse_what_is_not_given(fields: dict[str, Any]) -> None:
    """Refuse options that would silently have no effect.

    Raises:
        BadRequest: for the first such field.
    """
    for name, (accepted, reason) in ACCEPTED.items():
        if fields.get(name) not in accepted:
            raise BadRequest(reason, place=name)
