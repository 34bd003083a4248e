"""One-line errors from a server's refusals: endpoint, the server's message, and the next step."""

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from base.net.backoff import retry_after_s
from base.untrusted import message_in, one_line
from generator.errors import ContextExceeded, ModelRefusedCall
from generator.settings import LanguageModelSettings

if TYPE_CHECKING:
    import httpx

SERVER_ERROR = 500
MAY_BE_TOO_LONG = frozenset({400, 413, 422})

NEXT_STEPS = {
    307: "Set SHRAG_LLM__BASE_URL to the target of the redirect; redirects are not followed.",
    400: "The prompt may be longer than the model's context, or the server may not know `response_format` "
    "with a JSON schema, or fields that are not OpenAI's (SHRAG_LLM__DIALECT=openai leaves those out).",
    401: "Set SHRAG_LLM__API_KEY to a key that this server accepts.",
    403: "The key in SHRAG_LLM__API_KEY may not use this model; ask the server's operator.",
    404: "The address or the model does not exist: see the models that {base_url}/models lists, and set "
    "SHRAG_LLM__MODEL, or SHRAG_LLM__BASE_URL (most end in /v1).",
    413: "The prompt is longer than the server accepts.",
    422: "The server may not know fields that are not OpenAI's (SHRAG_LLM__DIALECT=openai leaves those out).",
    429: "Wait, or raise SHRAG_LLM__RETRIES or SHRAG_LLM__BACKOFF_S.",
}
NEXT_STEPS |= dict.fromkeys((301, 302, 303, 308), NEXT_STEPS[307])
SEE_THE_LOG = "See the server's log."
CHECK_THE_ADDRESS = "Check SHRAG_LLM__BASE_URL and SHRAG_LLM__MODEL."

# Wordings of vLLM and OpenAI, llama.cpp, and others; the error is not standardised.
CONTEXT_WORDS = re.compile(
    r"context[ _](?:length|window|size)|exceed_context_size|max_model_len", re.IGNORECASE
)
CONTEXT_SIZE = re.compile(
    r"(?:context (?:length|window|size)(?: is| of)?:? \(?|max_model_len=)(\d{2,8})\b", re.IGNORECASE
)


def refusal_of(
    response: "httpx.Response", content: bytes, url: str, settings: LanguageModelSettings
) -> ModelRefusedCall:
    """Return the error for an unsuccessful response, with the delay of its Retry-After header."""
    status = response.status_code
    body = content.decode("utf-8", "replace")
    said = one_line(message_in(content) or response.reason_phrase, settings.api_key)
    if status in MAY_BE_TOO_LONG and CONTEXT_WORDS.search(body):
        size = CONTEXT_SIZE.search(body)
        return ContextExceeded(
            f"{url} answered {status}: the prompt is longer than the model's context: {said}. Lower "
            "SHRAG_LLM__MAX_TOKENS, or configure a longer context at the server.",
            status=status,
            context_tokens=int(size[1]) if size else None,
        )
    otherwise = SEE_THE_LOG if status >= SERVER_ERROR else CHECK_THE_ADDRESS
    step = NEXT_STEPS.get(status, otherwise).format(base_url=settings.base_url)
    refusal = ModelRefusedCall(
        f"{url} answered {status} to a call of {settings.model}: {said}. {step}", status=status
    )
    refusal.retry_after_s = retry_after_s(response.headers.get("Retry-After", ""), datetime.now(UTC))
    return refusal
