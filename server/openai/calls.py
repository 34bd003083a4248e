"""What a chat program sends, and what of it is asked.

| field | what happens |
|---|---|
| model, messages, stream, stream_options.include_usage | used |
| metadata.way, metadata.hops | used: how the answer comes about, as `ask` takes them |
| n above 1, logprobs, audio, a tool that must be called, JSON as the form | refused, as none would come |
| temperature, max_tokens, stop, seed, tools, user, other metadata and the rest | accepted, without effect |
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, Field

from generator.housekeeping import Housekeeping, find_housekeeping
from generator.request import Turn
from generator.settings import HopsMode
from generator.ways import way_names
from server.problems.openai_errors import CallRefused

SPOKEN = frozenset({"user", "assistant"})
TEXTS = frozenset({"text", "input_text", "refusal"})  # parts of a message that hold text
MOST_TURNS = 100  # before the question; what is older has no part in it
HOPS = get_args(HopsMode)
# Values of fields that would change an answer, and why there are no others. Any JSON is compared with them.
ACCEPTED: dict[str, tuple[list[Any], str]] = {
    "n": ([None, 1], "one answer is given to a call"),
    "logprobs": ([None, False], "there are no log probabilities"),
    "top_logprobs": ([None, 0], "there are no log probabilities"),
    "modalities": ([None, [], ["text"]], "an answer is text"),
    "tool_choice": ([None, "auto", "none"], "no tool is ever called"),
    "function_call": ([None, "auto", "none"], "no tool is ever called"),
}


class StreamOptions(BaseModel):
    """How a stream is ended."""

    include_usage: bool | None = None


class Message(BaseModel):
    """One message of a conversation; its parts are text."""

    role: str
    content: str | list[dict[str, Any]] | None = None


def _describe_accepted(schema: dict[str, Any]) -> None:
    """Add the fields whose other values are refused to the schema of a call, and an example."""
    schema["properties"] |= {
        name: {"enum": accepted, "description": reason} for name, (accepted, reason) in ACCEPTED.items()
    }
    message = {"role": "user", "content": "Does drip irrigation help?"}
    schema["examples"] = [{"model": "papers", "messages": [message]}]


class ChatCall(BaseModel):
    """A chat completion; the last message of the user is the question."""

    model_config = ConfigDict(extra="allow", json_schema_extra=_describe_accepted)

    model: str = Field(description="the index or the source, as /v1/models names it")
    messages: list[Message] = Field(min_length=1)
    stream: bool | None = None
    stream_options: StreamOptions | None = None

    @property
    def with_usage(self) -> bool:
        """Whether a stream ends with how many tokens were used."""
        return bool(self.stream_options and self.stream_options.include_usage)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the turns before it, or what a chat program asks for itself."""

    question: str
    turns: tuple[Turn, ...] = ()
    housekeeping: Housekeeping | None = None
    way: str | None = None
    hops: HopsMode | None = None


def asked_by(call: ChatCall) -> Asked:
    """Return what a call asks; messages of the system have no part in a search, nor have those of tools.

    Raises:
        CallRefused: it asks for what would not be had, or asks nothing.
    """
    _refuse_what_is_not_given(call.model_extra or {})
    messages = [
        Turn("system" if message.role == "developer" else message.role, _text_of(message, place))
        for place, message in enumerate(call.messages)
    ]
    if housekeeping := find_housekeeping(messages):
        return Asked("", housekeeping=housekeeping)
    if (form := (call.model_extra or {}).get("response_format")) and _type_of(form) != "text":
        raise CallRefused("an answer is text with citations, in no other form", param="response_format")
    last = max((place for place, turn in enumerate(messages) if turn.role == "user"), default=None)
    if last is None:
        raise CallRefused(
            "no message is of the role 'user'; the last of them is the question", param="messages"
        )
    turns = [turn for turn in messages[:last] if turn.role in SPOKEN and turn.text.strip()]
    way, hops = (_chosen(call, name, among) for name, among in (("way", way_names()), ("hops", HOPS)))
    return Asked(messages[last].text, tuple(turns[-MOST_TURNS:]), way=way, hops=hops)


def _chosen(call: ChatCall, name: str, among: Sequence[str]) -> Any:
    """Return what the metadata of a call say of a name, None where that is nothing."""
    metadata = (call.model_extra or {}).get("metadata")
    chosen = metadata.get(name) if isinstance(metadata, dict) else None
    if chosen is not None and chosen not in among:
        raise CallRefused(f"there are {', '.join(among)}", param=f"metadata.{name}")
    return chosen


def _text_of(message: Message, place: int) -> str:
    if not isinstance(message.content, list):
        return message.content or ""
    texts = []
    for number, part in enumerate(message.content):
        text = part.get(str(part.get("type")), part.get("text"))
        if part.get("type") not in TEXTS or not isinstance(text, str):
            raise CallRefused(
                f"parts of the type {str(part.get('type'))[:40]!r} cannot be read; a message is text",
                param=f"messages[{place}].content[{number}]",
            )
        texts.append(text)
    return "\n".join(texts)


def _type_of(given: Any) -> Any:
    return given.get("type") if isinstance(given, dict) else given


def _refuse_what_is_not_given(fields: dict[str, Any]) -> None:
    """Refuse what an answer would seem to be, and would not.

    Raises:
        CallRefused: it says which field.
    """
    for name, (accepted, reason) in ACCEPTED.items():
        if fields.get(name) not in accepted:
            raise CallRefused(reason, param=name)
