"""Context size of the model and token counts of prompts, by the server, a local tokenizer or an upper bound.

`max_model_len` in /models and the endpoint /tokenize are vLLM's; other servers have neither.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeGuard

from base.extras import extra_remedy
from generator.errors import ModelFailed, TokenizerUnusable
from generator.llm.client import Client
from generator.llm.json_answers import Message, template_kwargs
from generator.llm.limits import Limit, now
from generator.llm.recording import Call, Outcome, Recording
from generator.settings import LanguageModelSettings

if TYPE_CHECKING:
    from tokenizers import Tokenizer

CountedBy: TypeAlias = Literal["server", "tokenizer", "bytes"]

CountTokens: TypeAlias = Callable[[Sequence[Message]], Awaitable["Count"]]

# Added by a chat template: turn markers and its own system prompt.
TEMPLATE_TOKENS = 256

ANSWER_S = 10.0  # for requests that normally take milliseconds
MOST_TOKENS = 2**40


@dataclass(frozen=True, slots=True)
class Count:
    """Tokens of a prompt and their counter; exact by the server, else an upper bound."""

    tokens: int
    counted_by: CountedBy


def at_most(messages: Sequence[Message]) -> Count:
    """Return an upper bound: no tokenizer in use makes more than one token per UTF-8 byte."""
    size = sum(len(message["content"].encode("utf-8", "replace")) for message in messages)
    return Count(size + TEMPLATE_TOKENS, "bytes")


def count_locally(tokenizer: "Tokenizer", messages: Sequence[Message]) -> Count:
    """Count with a local tokenizer and add the tokens of a chat template."""
    texts = [message["content"].encode("utf-8", "replace").decode() for message in messages]
    encoded = tokenizer.encode_batch(texts, add_special_tokens=False)
    return Count(sum(len(text.ids) for text in encoded) + TEMPLATE_TOKENS, "tokenizer")


def load_tokenizer(path: Path) -> "Tokenizer":
    """Load a tokenizer.json, or the one in a folder.

    Raises:
        TokenizerUnusable: the file is missing or unreadable, or the library is missing.
    """
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise TokenizerUnusable(
            f"SHRAG_LLM__TOKENIZER needs the library tokenizers: {extra_remedy('models')}."
        ) from None
    file = path / "tokenizer.json" if path.is_dir() else path
    if not file.is_file():
        raise TokenizerUnusable(f"SHRAG_LLM__TOKENIZER: there is no file {file}.")
    try:
        return Tokenizer.from_file(str(file))
    except Exception as error:
        raise TokenizerUnusable(
            f"SHRAG_LLM__TOKENIZER: {file} cannot be read: {error}. Use the model's tokenizer.json."
        ) from error


@dataclass(frozen=True, slots=True)
class Context:
    """Tokens of prompt and answer together, None if unknown, and the source of this size."""

    tokens: int | None
    said_by: Literal["setting", "server", "nobody"]


NOBODY = Context(None, "nobody")


class Server:
    """Requests about the model of one server, recorded and replayed like chat calls."""

    def __init__(self, settings: LanguageModelSettings, client: Client) -> None:
        self._settings = settings
        self._client = client
        self._context: Context | None = None
        self._unknown_until = 0.0
        self._lock = asyncio.Lock()
        self._tokenizer: Tokenizer | None = None

    async def open(self) -> None:
        """Load the local tokenizer if one is configured; raises TokenizerUnusable."""
        self._lock, self._unknown_until = asyncio.Lock(), 0.0  # each loop has its own clock
        if self._settings.tokenizer and not self._tokenizer:
            self._tokenizer = await asyncio.to_thread(load_tokenizer, self._settings.tokenizer)

    async def context(self, recording: Recording, limit: Limit) -> Context:
        """Return the context size of the model; requested once, and again some time after a failure."""
        if self._settings.context_tokens is not None:
            return Context(self._settings.context_tokens, "setting")
        async with self._lock:
            if self._context is None and now() < self._unknown_until:
                return NOBODY  # a request just failed: do not repeat it for each waiting call
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
        """Return a counter for one prompt in several lengths that keeps its method.

        It uses the server's tokenizer, else a local one, else the number of bytes.
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
        said = await self._client.ask("GET", url, None, self._sooner(limit))
        listed = said.get("data") if isinstance(said, dict) else None
        models = (model for model in (listed if isinstance(listed, list) else []) if isinstance(model, dict))
        lengths = (model.get("max_model_len") for model in models if model.get("id") == self._settings.model)
        return {"max_model_len": next(filter(is_count, lengths), None)}

    async def _tokens(self, request: Mapping[str, Any], limit: Limit) -> Outcome:
        url = f"{str(self._settings.base_url).removesuffix('/v1')}/tokenize"
        said = await self._client.ask("POST", url, request, self._sooner(limit))
        count = said.get("count") if isinstance(said, dict) else None
        return {"count": count if is_count(count) else None}

    def _sooner(self, limit: Limit) -> Limit:
        return limit.or_sooner(min(ANSWER_S, self._settings.timeout_s), "timeout_s")


def is_count(value: Any) -> TypeGuard[int]:
    """Check whether a value is a plausible number of tokens."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MOST_TOKENS
