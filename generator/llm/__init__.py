"""Client of the language model: chat calls to an OpenAI-compatible endpoint with JSON answers."""

from generator.llm.context_size import Count, at_most
from generator.llm.json_answers import CutAt, Message, chat_request, repair_messages
from generator.llm.json_calls import LanguageModel
from generator.llm.limits import Limit
from generator.llm.replies import Growth, OnText, Reply

__all__ = [
    "Count",
    "CutAt",
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
