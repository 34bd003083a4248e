"""What a failed call is told as: what happened, at which endpoint, how often, and what to do next."""

import json
import re
from collections.abc import Mapping
from typing import Any

from generator.errors import (
    ContextExceeded,
    ModelAnswerInvalid,
    ModelFailed,
    ModelRefusedCall,
    ModelTooSlow,
    ModelUnreachable,
)
from generator.settings import LanguageModelSettings

SHOWN_CHARACTERS = 300  # of what a server says
SERVER_ERROR = 500
BAD_REQUEST = 400

NEXT_STEPS = {
    400: "The prompt may be longer than the model's context, or the server may not know `response_format` "
    "with a JSON schema, or fields that are not OpenAI's (SHRAG_LLM__DIALECT=openai leaves those out).",
    401: "Set SHRAG_LLM__API_KEY to a key that this server accepts.",
    403: "The key in SHRAG_LLM__API_KEY may not use this model; ask who runs the server.",
    404: "Either the address or the model is not there: see which models {base_url}/models lists, and set "
    "SHRAG_LLM__MODEL, or SHRAG_LLM__BASE_URL (most end in /v1).",
    413: "The prompt is longer than the server takes.",
    422: "The server may not know fields that are not OpenAI's (SHRAG_LLM__DIALECT=openai leaves those out).",
    429: "Wait, or raise SHRAG_LLM__RETRIES or SHRAG_LLM__BACKOFF_S.",
}
NEXT_STEP_OF_REDIRECT = "Set SHRAG_LLM__BASE_URL to the address it sends to; redirects are not followed."
NEXT_STEP_OF_SERVER_ERROR = "Look into the server's log."
NEXT_STEP_OF_OTHERS = "Check SHRAG_LLM__BASE_URL and SHRAG_LLM__MODEL."
NEXT_STEP_OF_CONTEXT = "Lower SHRAG_LLM__MAX_TOKENS, or let the server take longer contexts."

# vLLM and OpenAI; llama.cpp; others. No standard names this error.
CONTEXT_WORDS = re.compile(
    r"context[ _](?:length|window|size)|exceed_context_size|max_model_len", re.IGNORECASE
)
CONTEXT_SIZE = re.compile(
    r"(?:context (?:length|window|size)(?: is| of)?:? \(?|max_model_len=)(\d{2,8})\b", re.IGNORECASE
)


class Refusals:
    """The errors of one endpoint."""

    def __init__(self, settings: LanguageModelSettings, endpoint: str) -> None:
        self._settings = settings
        self._endpoint = endpoint

    def of_status(
        self, status: int, body: str, reason: str, attempt: int, *, redirect: bool = False
    ) -> ModelFailed:
        """Tell an answer whose status is none of success."""
        said = self.said(message_in(body) or reason)
        if status in {BAD_REQUEST, 413, 422} and CONTEXT_WORDS.search(body):
            size = CONTEXT_SIZE.search(body)
            return ContextExceeded(
                f"{self._endpoint} answered {status}: the prompt is longer than the model's context "
                f"({_times(attempt)}): {said}. {NEXT_STEP_OF_CONTEXT}",
                status=status,
                context_tokens=int(size[1]) if size else None,
            )
        if status in NEXT_STEPS:
            step = NEXT_STEPS[status].format(base_url=self._settings.base_url)
        elif redirect:
            step = NEXT_STEP_OF_REDIRECT
        else:
            step = NEXT_STEP_OF_SERVER_ERROR if status >= SERVER_ERROR else NEXT_STEP_OF_OTHERS
        return ModelRefusedCall(
            f"{self._endpoint} answered {status} to a call of {self._settings.model} ({_times(attempt)}): "
            f"{said}. {step}",
            status=status,
        )

    def of_error(self, error: Any, status: int) -> ModelFailed:
        """Tell an error that came with status 200, whole or within a stream."""
        words = self.said(message_in(json.dumps({"error": error})))
        return ModelRefusedCall(
            f"{self._settings.model} at {self._endpoint} answered with an error: {words}. "
            f"{NEXT_STEP_OF_SERVER_ERROR}",
            status=status,
        )

    def of_no_connection(self, error: Exception, attempt: int) -> ModelUnreachable:
        """Tell that nothing of an answer came."""
        why = self.said(str(error)) or type(error).__name__
        return ModelUnreachable(
            f"cannot reach {self._endpoint}: {why} ({_times(attempt)}). Start the server, or set "
            "SHRAG_LLM__BASE_URL to where it runs."
        )

    def of_break(self, why: str, attempt: int) -> ModelUnreachable:
        """Tell that an answer began and did not come to its end."""
        return ModelUnreachable(
            f"{self._endpoint} broke off its answer: {self.said(why)} ({_times(attempt)}). "
            f"{NEXT_STEP_OF_SERVER_ERROR}"
        )

    def of_slowness(
        self, what: str, limit: object, attempt: int, step: str, *, of_server: bool = True
    ) -> ModelTooSlow:
        """Tell which limit has passed, and whether the server had all of it."""
        told = f"{self._endpoint} gave {what} within {limit} ({_times(attempt)}). {step}"
        return ModelTooSlow(told, of_server=of_server)

    def of_no_completion(self, text: str) -> ModelAnswerInvalid:
        """Tell an answer that is no chat completion."""
        return ModelAnswerInvalid(
            f"{self._endpoint} answered, but not with a chat completion. Set SHRAG_LLM__BASE_URL to where "
            "the server's OpenAI-compatible API begins (most end in /v1).",
            text=self._without_key(text),
        )

    def of_no_choices(self, text: str) -> ModelAnswerInvalid:
        """Tell a completion without an answer."""
        return ModelAnswerInvalid(
            f"{self._settings.model} at {self._endpoint} gave an answer without choices. "
            f"{NEXT_STEP_OF_SERVER_ERROR}",
            text=self._without_key(text),
        )

    def of_model(self, model: str, refusal: str) -> ModelRefusedCall:
        """Tell that the model itself declined."""
        why = self.said(refusal or "its content filter stopped the answer")
        return ModelRefusedCall(
            f"{model} at {self._endpoint} declined: {why}. Ask in other words, or use another model.",
            status=200,
        )

    def said(self, text: str) -> str:
        """Show what came from outside as one bounded line; a key that the server repeats is hidden."""
        return shown(self._without_key(text))

    def _without_key(self, text: str) -> str:
        key = self._settings.api_key
        return text.replace(key.get_secret_value(), "***") if key else text


def message_in(body: str) -> str:
    """Find what a server says in the body of an error, whose shape no standard fixes."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return body
    for key in ("error", "message", "detail"):
        if isinstance(said, Mapping) and said.get(key):
            said = said[key]
    return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)


def shown(text: str) -> str:
    """Make one printable line of at most SHOWN_CHARACTERS of what came from outside."""
    line = " ".join("".join(one if one.isprintable() else " " for one in text).split()).rstrip(".")
    return line if len(line) <= SHOWN_CHARACTERS else line[: SHOWN_CHARACTERS - 1] + "…"


def _times(attempt: int) -> str:
    return "once" if attempt == 1 else f"{attempt} times"
