"""What a server tells beside its answers: how long its model's context is, and how many tokens a prompt has.

`max_model_len` in /models and the address /tokenize are vLLM's; other servers answer neither.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeGuard

from generator.errors import ModelFailed
from generator.llm.chat import Message, template_kwargs
from generator.llm.counting import Count, CountTokens, at_most, count_locally, load_tokenizer
from generator.llm.endpoint import Endpoint
from generator.llm.limits import Limit, now
from generator.llm.recording import Call, Outcome, Recording
from generator.settings import LanguageModelSettings

if TYPE_CHECKING:
    from tokenizers import Tokenizer

ANSWER_S = 10.0  # for what takes a server milliseconds
MOST_TOKENS = 2**40


@dataclass(frozen=True, slots=True)
class Context:
    """Tokens of prompt and answer together, None where nobody says, and who said so."""

    tokens: int | None
    said_by: Literal["setting", "server", "nobody"]


NOBODY = Context(None, "nobody")


class Server:
    """Asks one server about its model, through the recording as all calls."""

    def __init__(self, settings: LanguageModelSettings, endpoint: Endpoint) -> None:
        self._settings = settings
        self._endpoint = endpoint
        self._context: Context | None = None
        self._unknown_until = 0.0
        self._one_at_a_time = asyncio.Lock()
        self._tokenizer: Tokenizer | None = None

    async def open(self) -> None:
        """Read the local tokenizer, where a setting names one; TokenizerUnusable where that fails."""
        self._one_at_a_time, self._unknown_until = asyncio.Lock(), 0.0  # another loop has another clock
        if self._settings.tokenizer and not self._tokenizer:
            self._tokenizer = await asyncio.to_thread(load_tokenizer, self._settings.tokenizer)

    async def context(self, recording: Recording, limit: Limit) -> Context:
        """Return the size of the model's context; asked once, and after a while where that failed."""
        if self._settings.context_tokens is not None:
            return Context(self._settings.context_tokens, "setting")
        async with self._one_at_a_time:
            if self._context is None and now() < self._unknown_until:
                return NOBODY  # all who waited for a server that said nothing, go on without
            if self._context is None:
                try:
                    outcome, _ = await recording.outcome(
                        self._call("context", {}), lambda: self._models(limit)
                    )
                except ModelFailed:
                    self._unknown_until = now() + self._settings.circuit_open_s
                    return NOBODY
                tokens = outcome["max_model_len"]
                self._context = NOBODY if tokens is None else Context(tokens, "server")
            return self._context

    def counter(self, recording: Recording, limit: Limit) -> CountTokens:
        """Return what counts the tokens of one prompt in several lengths, the same way each time.

        By the server's tokenizer, else by a local one, else by the bytes.
        """
        asks_server = self._settings.dialect == "vllm"

        async def count(messages: Sequence[Message]) -> Count:
            nonlocal asks_server
            if asks_server:
                call = self._call("tokenize", self._to_tokenize(messages))
                try:
                    outcome, _ = await recording.outcome(call, lambda: self._tokens(call.request, limit))
                except ModelFailed:
                    outcome = {"count": None}
                if outcome["count"] is not None:
                    return Count(outcome["count"], "server")
                asks_server = False
            if self._tokenizer:
                return await asyncio.to_thread(count_locally, self._tokenizer, messages)
            return at_most(messages)

        return count

    def _call(self, kind: str, request: Mapping[str, Any]) -> Call:
        return Call(kind, "context", self._settings.model, self._settings.revision, None, request)

    def _to_tokenize(self, messages: Sequence[Message]) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._settings.model,
            "messages": [dict(message) for message in messages],
            "add_generation_prompt": True,
        }
        if kwargs := template_kwargs(self._settings):
            body["chat_template_kwargs"] = kwargs
        return body

    async def _models(self, limit: Limit) -> Outcome:
        url = f"{self._settings.base_url}/models"
        said = await self._endpoint.ask("GET", url, None, self._sooner(limit))
        listed = said.get("data") if isinstance(said, dict) else None
        models = (model for model in (listed if isinstance(listed, list) else []) if isinstance(model, dict))
        lengths = (model.get("max_model_len") for model in models if model.get("id") == self._settings.model)
        return {"max_model_len": next(filter(is_count, lengths), None)}

    async def _tokens(self, request: Mapping[str, Any], limit: Limit) -> Outcome:
        url = f"{str(self._settings.base_url).removesuffix('/v1')}/tokenize"
        said = await self._endpoint.ask("POST", url, request, self._sooner(limit))
        count = said.get("count") if isinstance(said, dict) else None
        return {"count": count if is_count(count) else None}

    def _sooner(self, limit: Limit) -> Limit:
        return limit.or_sooner(min(ANSWER_S, self._settings.timeout_s), "timeout_s")


def is_count(value: Any) -> TypeGuard[int]:
    """Tell whether a server names a number of tokens that there can be."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MOST_TOKENS
