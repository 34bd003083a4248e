"""Client of the language model: chat calls to an OpenAI-compatible endpoint with JSON answers.

client       HTTP: streaming, retries, time limits, circuit breaker
recording    recorded calls and their replay
context      token counts, and passages shortened to fit the context
reading      schemas, and answers as their values
model        a language model: requests, recorded calls, one repair
"""

from generator.llm.model import Growth, LanguageModel, OnText, Reply

__all__ = ["Growth", "LanguageModel", "OnText", "Reply"]
