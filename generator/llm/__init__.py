"""Client of the language model: chat calls to an OpenAI-compatible endpoint with JSON answers.

client       HTTP: streaming, retries, time limits, circuit breaker
recording    recorded calls and their replay
context      token counts, and passages shortened to fit the context
model        a language model: requests, tolerant reading of answers, one repair
"""

from generator.llm.model import CutAt, Growth, LanguageModel, OnText, Reply

__all__ = ["CutAt", "Growth", "LanguageModel", "OnText", "Reply"]
