"""Client of the language model: chat calls to an OpenAI-compatible endpoint with JSON answers."""

from generator.llm.chat import Message, chat_request, repair_messages
from generator.llm.counting import Count, at_most
from generator.llm.limits import Limit
from generator.llm.model import LanguageModel
from generator.llm.reply import Growth, OnText, Reply

__all__ = [
    "Count",
    "Growth",
    "LanguageModel",
    "Limit",
    "Message",
    "OnText",
    "Reply",
    "at_most",
    "chat_request",
    "repair_messages",
]
