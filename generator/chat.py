"""What goes to a chat endpoint and what comes back, as values: OpenAI's chat completions."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from pydantic import BaseModel

from generator.prompts import load_prompt
from generator.settings import LanguageModelSettings
from generator.structured import json_schema

Message: TypeAlias = Mapping[str, str]  # role, content

SENT_BACK_CHARACTERS = 20_000  # of an answer to be mended


class ChatMessage(BaseModel):
    """What the model says, or why it does not."""

    content: str | None = None
    refusal: str | None = None


class Choice(BaseModel):
    """One answer; one is asked for."""

    message: ChatMessage
    finish_reason: str | None = None


class Usage(BaseModel):
    """Tokens, where the server counts them."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class ChatCompletion(BaseModel):
    """What a server answers, as far as it is read."""

    choices: list[Choice] | None = None
    model: str | None = None
    usage: Usage | None = None
    error: Any = None


def chat_request(
    messages: Sequence[Message], schema: type[BaseModel], *, name: str, settings: LanguageModelSettings
) -> dict[str, Any]:
    """Make the body of a chat call whose answer is JSON of `schema`."""
    body: dict[str, Any] = {
        "model": settings.model,
        "messages": [dict(message) for message in messages],
        "temperature": settings.temperature,
        "max_tokens": settings.max_tokens,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": name, "schema": json_schema(schema), "strict": True},
        },
    }
    if settings.seed is not None:
        body["seed"] = settings.seed
    return body


def repair_messages(text: str, complaint: str) -> list[Message]:
    """Make what follows an unreadable answer: the answer itself, and what is wrong with it."""
    # Some chat templates refuse a turn without words.
    answer = text.strip()[:SENT_BACK_CHARACTERS] or "(empty)"
    prompt = load_prompt("repair", "en").render(complaint=complaint)
    return [{"role": "assistant", "content": answer}, {"role": "user", "content": prompt}]
