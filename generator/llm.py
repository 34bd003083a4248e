"""The language model: one chat call to an OpenAI-compatible endpoint, answered with JSON of a given schema.

The format is that of OpenAI's chat completions with `response_format` of type `json_schema`, as vLLM and
llama.cpp serve it; the answer of a server that ignores the schema is read leniently.
"""

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from pydantic import BaseModel, ValidationError

from generator.chat import ChatCompletion, Message, Usage, chat_request, repair_messages
from generator.errors import (
    GeneratorError,
    ModelAnswerInvalid,
    ModelNotConfigured,
    ModelRefusedCall,
    ModelTooSlow,
    ModelUnreachable,
)
from generator.retries import pause_s, retry_after_s
from generator.settings import LanguageModelSettings
from generator.structured import UnreadableAnswer, read_answer

if TYPE_CHECKING:  # a command that calls no model does not wait for it
    import httpx

__all__ = ["LanguageModel", "Reply", "chat_request", "pause_s", "repair_messages", "retry_after_s"]

T = TypeVar("T", bound=BaseModel)

CONNECT_S = 10.0
SHOWN_CHARACTERS = 300  # of what a server says
RETRIED = frozenset({408, 409, 425, 429})  # and all from 500 on
SERVER_ERROR = 500

NEXT_STEPS = {
    400: "The prompt may be longer than the model's context, or the server may not know "
    "`response_format` with a JSON schema.",
    401: "Set SHRAG_LLM__API_KEY to a key that this server accepts.",
    403: "The key in SHRAG_LLM__API_KEY may not use this model; ask who runs the server.",
    404: "Either the address or the model is not there: see which models {base_url}/models lists, and set "
    "SHRAG_LLM__MODEL, or SHRAG_LLM__BASE_URL (most end in /v1).",
    413: "The prompt is longer than the server takes.",
    429: "Wait, or raise SHRAG_LLM__RETRIES or SHRAG_LLM__BACKOFF_S.",
}
NEXT_STEP_OF_REDIRECT = "Set SHRAG_LLM__BASE_URL to the address it sends to; redirects are not followed."
NEXT_STEP_OF_SERVER_ERROR = "Look into the server's log."
NEXT_STEP_OF_OTHERS = "Check SHRAG_LLM__BASE_URL and SHRAG_LLM__MODEL."


@dataclass(frozen=True, slots=True)
class Reply(Generic[T]):
    """A valid answer, and what it took to get it."""

    value: T
    model: str  # as the server reports it
    text: str  # as it came
    finish_reason: str
    prompt_tokens: int | None  # of all calls, where the server counts them
    completion_tokens: int | None
    attempts: int  # requests sent, retries and repair included
    repaired: bool
    milliseconds: float

    def as_record(self) -> dict[str, Any]:
        """Return all but the value as JSON, for a trace."""
        return {
            "model": self.model,
            "text": self.text,
            "finish_reason": self.finish_reason,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "attempts": self.attempts,
            "repaired": self.repaired,
            "milliseconds": round(self.milliseconds, 2),
        }


@dataclass(frozen=True, slots=True)
class _Answer:
    """One call answered: the text, and what the server says about it."""

    text: str
    model: str
    finish_reason: str
    usage: Usage
    attempts: int


class LanguageModel:
    """A language model behind an OpenAI-compatible endpoint; opened and closed by `async with`.

    Environment variables for proxies, certificates and .netrc are not read: the settings alone say where to.
    """

    def __init__(
        self, settings: LanguageModelSettings, *, transport: "httpx.AsyncBaseTransport | None" = None
    ) -> None:
        """Name the endpoint; nothing is sent yet. `transport` stands in for the network.

        Raises:
            ModelNotConfigured: the settings name no endpoint.
        """
        if settings.base_url is None:
            raise ModelNotConfigured(
                "no language model is configured. Set SHRAG_LLM__BASE_URL, like http://localhost:8000/v1, "
                "and SHRAG_LLM__MODEL."
            )
        self.settings = settings
        self.endpoint = f"{settings.base_url}/chat/completions"
        self._transport = transport
        self._client: httpx.AsyncClient | None = None

    async def __aenter__(self) -> Self:
        """Open the client, whose connections are kept between calls."""
        import httpx

        headers = {"Content-Type": "application/json"}
        if self.settings.api_key:
            headers["Authorization"] = f"Bearer {self.settings.api_key.get_secret_value()}"
        self._client = httpx.AsyncClient(
            transport=self._transport,
            headers=headers,
            timeout=httpx.Timeout(None, connect=min(CONNECT_S, self.settings.timeout_s)),
            trust_env=False,
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the client and its connections."""
        if self._client:
            await self._client.aclose()
            self._client = None

    async def complete_json(self, messages: Sequence[Message], schema: type[T], *, name: str) -> Reply[T]:
        """Ask for JSON of `schema`; an answer that is none is sent back once to be mended.

        `name` (letters, digits, `_`, `-`) names the schema for the server and in messages. The whole call,
        pauses included, ends within `deadline_s`.

        Raises:
            ModelUnreachable, ModelTooSlow, ModelRefusedCall: the call failed, after retries where they help.
            ModelAnswerInvalid: the answer was not of `schema`, nor was the second.
        """
        started = time.monotonic()
        give_up_at = started + self.settings.deadline_s
        answers = [await self._call(messages, schema, name, give_up_at)]
        try:
            value = read_answer(answers[0].text, schema)
        except UnreadableAnswer as unreadable:
            complaint = self._complaint(answers[0], unreadable)
            mended = [*messages, *repair_messages(answers[0].text, complaint)]
            answers.append(await self._call(mended, schema, name, give_up_at))
            value = self._second_reading(answers[1], schema, name)
        last = answers[-1]
        return Reply(
            value=value,
            model=last.model,
            text=last.text,
            finish_reason=last.finish_reason,
            prompt_tokens=_sum([answer.usage.prompt_tokens for answer in answers]),
            completion_tokens=_sum([answer.usage.completion_tokens for answer in answers]),
            attempts=sum(answer.attempts for answer in answers),
            repaired=len(answers) > 1,
            milliseconds=1000 * (time.monotonic() - started),
        )

    def _second_reading(self, answer: _Answer, schema: type[T], name: str) -> T:
        try:
            return read_answer(answer.text, schema)
        except UnreadableAnswer as unreadable:
            step = (
                "Raise SHRAG_LLM__MAX_TOKENS."
                if answer.finish_reason == "length"
                else "Use a server that enforces `response_format` (vLLM does), or another model."
            )
            raise ModelAnswerInvalid(
                f"{answer.model} at {self.endpoint} gave no valid {name!r} answer, asked twice: "
                f"{_shown(self._complaint(answer, unreadable))}. {step}",
                text=answer.text,
            ) from None

    def _complaint(self, answer: _Answer, unreadable: UnreadableAnswer) -> str:
        told = str(unreadable) if answer.text.strip() else "the answer is empty"
        if answer.finish_reason == "length":
            told += f"; it was cut off at {self.settings.max_tokens} tokens"
        return told

    async def _call(
        self, messages: Sequence[Message], schema: type[BaseModel], name: str, give_up_at: float
    ) -> _Answer:
        body = chat_request(messages, schema, name=name, settings=self.settings)
        # Half of a surrogate pair, which no UTF-8 can hold, goes as "?".
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        response, attempts = await self._send(content, give_up_at)
        return self._read(response, attempts)

    async def _send(self, content: bytes, give_up_at: float) -> "tuple[httpx.Response, int]":
        """Send a request until it is answered, and count; only what may pass by itself is tried again."""
        attempt = 1
        while True:
            asked_for = None
            failure: GeneratorError
            try:
                response = await self._attempt(content, give_up_at, attempt)
            except (ModelUnreachable, ModelTooSlow) as error:
                failure = error
            else:
                if response.is_success:
                    return response, attempt
                failure = self._refusal(response, attempt)
                if response.status_code not in RETRIED and response.status_code < SERVER_ERROR:
                    raise failure
                asked_for = retry_after_s(response.headers.get("Retry-After", ""), datetime.now(UTC))
            pause = pause_s(attempt, self.settings.backoff_s, content, asked_for)
            if attempt > self.settings.retries or time.monotonic() + pause >= give_up_at:
                raise failure
            await asyncio.sleep(pause)
            attempt += 1

    async def _attempt(self, content: bytes, give_up_at: float, attempt: int) -> "httpx.Response":
        import httpx

        if self._client is None:
            raise RuntimeError("open the language model first: async with LanguageModel(…) as model")
        limit = min(self.settings.timeout_s, max(0.0, give_up_at - time.monotonic()))
        too_slow = (
            f"{self.endpoint} gave no whole answer within {limit:.3g} s ({_times(attempt)}). Raise "
            f"SHRAG_LLM__TIMEOUT_S and SHRAG_LLM__DEADLINE_S, or lower SHRAG_LLM__MAX_TOKENS."
        )
        try:
            async with asyncio.timeout(limit):
                return await self._client.post(self.endpoint, content=content)
        except TimeoutError:
            raise ModelTooSlow(too_slow) from None
        except httpx.RequestError as error:
            if isinstance(error, httpx.TimeoutException) and not isinstance(error, httpx.ConnectTimeout):
                raise ModelTooSlow(too_slow) from error
            why = _shown(str(error)) or type(error).__name__
            raise ModelUnreachable(
                f"cannot reach {self.endpoint}: {why} ({_times(attempt)}). Start the server, or set "
                "SHRAG_LLM__BASE_URL to where it runs."
            ) from error

    def _refusal(self, response: "httpx.Response", attempt: int) -> ModelRefusedCall:
        status = response.status_code
        if status in NEXT_STEPS:
            step = NEXT_STEPS[status].format(base_url=self.settings.base_url)
        elif response.is_redirect:
            step = NEXT_STEP_OF_REDIRECT
        else:
            step = NEXT_STEP_OF_SERVER_ERROR if status >= SERVER_ERROR else NEXT_STEP_OF_OTHERS
        return ModelRefusedCall(
            f"{self.endpoint} answered {status} to a call of {self.settings.model} ({_times(attempt)}): "
            f"{self._said(response)}. {step}",
            status=status,
        )

    def _read(self, response: "httpx.Response", attempts: int) -> _Answer:
        """Take the answer out of a response; a refusal by the model raises."""
        try:
            completion = ChatCompletion.model_validate_json(response.content)
        except ValidationError:
            completion = ChatCompletion()
        model = completion.model or self.settings.model or ""
        where = f"{model} at {self.endpoint}"
        if completion.error:  # some servers send their errors with status 200
            raise ModelRefusedCall(
                f"{where} answered with an error: {self._said(response)}. {NEXT_STEP_OF_SERVER_ERROR}",
                status=response.status_code,
            )
        if completion.choices is None:
            raise ModelAnswerInvalid(
                f"{self.endpoint} answered, but not with a chat completion. Set SHRAG_LLM__BASE_URL to where "
                "the server's OpenAI-compatible API begins (most end in /v1).",
                text=response.text,
            )
        if not completion.choices:
            raise ModelAnswerInvalid(
                f"{where} gave an answer without choices. {NEXT_STEP_OF_SERVER_ERROR}", text=response.text
            )
        choice = completion.choices[0]
        if choice.message.refusal or choice.finish_reason == "content_filter":
            why = choice.message.refusal or "its content filter stopped the answer"
            raise ModelRefusedCall(
                f"{where} declined: {_shown(why)}. Ask in other words, or use another model.",
                status=response.status_code,
            )
        return _Answer(
            text=choice.message.content or "",
            model=model,
            finish_reason=choice.finish_reason or "",
            usage=completion.usage or Usage(),
            attempts=attempts,
        )

    def _said(self, response: "httpx.Response") -> str:
        """Find what the server says about a failure; a key that it repeats is hidden."""
        said = _message_of(response.text) or response.reason_phrase
        key = self.settings.api_key
        return _shown(said.replace(key.get_secret_value(), "***") if key else said)


def _message_of(text: str) -> str:
    """Find what a server says in the body of an error, whose shape no standard fixes."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return text
    for key in ("error", "message", "detail"):
        if isinstance(said, dict) and said.get(key):
            said = said[key]
    return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)


def _shown(text: str) -> str:
    """Make one printable line of at most SHOWN_CHARACTERS of what came from outside."""
    line = " ".join("".join(one if one.isprintable() else " " for one in text).split()).rstrip(".")
    return line if len(line) <= SHOWN_CHARACTERS else line[: SHOWN_CHARACTERS - 1] + "…"


def _times(attempt: int) -> str:
    return "once" if attempt == 1 else f"{attempt} times"


def _sum(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
