"""Request bodies of chat calls: OpenAI's chat completions, with vLLM's additional fields."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from pydantic import BaseModel

from generator.llm.structured import json_schema
from generator.prompts import load_prompt
from generator.settings import LanguageModelSettings

Message: TypeAlias = Mapping[str, str]  # role, content

SENT_BACK_CHARACTERS = 20_000  # of an answer sent back for repair


def chat_request(
    messages: Sequence[Message], schema: type[BaseModel], *, name: str, settings: LanguageModelSettings
) -> dict[str, Any]:
    """Return the body of a chat call whose answer is JSON of `schema`."""
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
    if settings.stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    if kwargs := template_kwargs(settings):
        body["chat_template_kwargs"] = kwargs
    return body | {key: value for key, value in settings.extra_body.items() if key != "chat_template_kwargs"}


def template_kwargs(settings: LanguageModelSettings) -> dict[str, Any]:
    """Return the arguments of the chat template, with `enable_thinking` if the dialect supports it."""
    thinking = {"enable_thinking": settings.thinking} if settings.dialect == "vllm" else {}
    given: dict[str, Any] = settings.extra_body.get("chat_template_kwargs", {})
    return thinking | given


def repair_messages(text: str, complaint: str) -> list[Message]:
    """Return the messages of a repair: the invalid answer and its faults."""
    # Some chat templates refuse an empty turn.
    answer = text.strip()[:SENT_BACK_CHARACTERS] or "(empty)"
    prompt = load_prompt("repair", "en").render(complaint=complaint)
    return [{"role": "assistant", "content": answer}, {"role": "user", "content": prompt}]
