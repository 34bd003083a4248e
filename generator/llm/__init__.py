"""The language model's client: chat calls to an OpenAI-compatible endpoint, answered with JSON."""

from generator.llm.chat import Message, chat_request, repair_messages
from generator.llm.model import Growth, LanguageModel, OnText, Reply
from generator.llm.retries import pause_s, retry_after_s

__all__ = [
    "Growth",
    "LanguageModel",
    "Message",
    "OnText",
    "Reply",
    "chat_request",
    "pause_s",
    "repair_messages",
    "retry_after_s",
]
