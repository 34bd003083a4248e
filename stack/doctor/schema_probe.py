"""A request that exposes a server which ignores its JSON schema, and the check of the answer."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from base.untrusted import one_line, read_json
from generator.llm.model import chat_request
from generator.settings import LanguageModelSettings
from stack.doctor.findings import Finding

TOKENS = 256  # the longest answer of the schema has about forty; a model may add spaces
PROMPT = (
    "Write a poem of four lines about the sea in winter. "
    "Verse only: no JSON, no braces, no quotation marks, no code."
)
SHOWN = 80
OK = 200


class ProbeAnswer(BaseModel):
    """The answer allowed by the schema; nobody writes it when asked for a poem."""

    model_config = ConfigDict(extra="forbid")

    season: Literal["spring", "summer", "autumn", "winter"]
    waves: Literal["calm", "rough"]
    lines: Annotated[list[Literal["salt", "wind", "snow"]], Field(min_length=1, max_length=3)]


def probe_request(settings: LanguageModelSettings) -> dict[str, Any]:
    """Return the request, built by the client's own function, with temperature 0 and few tokens."""
    probe = settings.model_copy(update={"max_tokens": TOKENS, "temperature": 0.0, "stream": False})
    return chat_request([{"role": "user", "content": PROMPT}], ProbeAnswer, name="probe", settings=probe)


def judge_probe(status: int, body: str) -> Finding:
    """Check whether the server enforced the schema."""
    if status != OK:
        return _wrong(
            f"the server answers {status} to a request with a JSON schema: {one_line(body)[:SHOWN]}",
            "use a server that supports response_format with json_schema (like vLLM)",
        )
    try:
        choice = read_json(body)["choices"][0]
        message = choice["message"]
        text = str(message.get("content") or "")
    except (ValueError, TypeError, KeyError, IndexError, AttributeError):
        return _wrong(
            f"not a chat completion: {one_line(body)[:SHOWN]}", "set SHRAG_LLM__BASE_URL to the API's address"
        )
    thought = message.get("reasoning_content") or message.get("reasoning")
    if thought and not text.strip():
        return _wrong(
            "the answer is in the model's reasoning, to which no schema applies",
            "start the server without --reasoning-parser, and disable the model's reasoning",
        )
    try:
        ProbeAnswer.model_validate_json(text)
    except ValidationError:
        if choice.get("finish_reason") == "length" and not text.strip().strip('{}[]":, '):
            return Finding(
                "JSON schema",
                "warning",
                f"{TOKENS} tokens of white space: the model fills the space between the braces",
                mend="use another model; this one may never end its answers",
            )
        return _wrong(
            f"asked for verse under a schema, the model answered {text.strip()[:SHOWN]!r}",
            "this server does not enforce the schema: use vLLM without --reasoning-parser",
        )
    return Finding("JSON schema", "ok", "a request for verse was answered according to the schema")


def _wrong(found: str, mend: str) -> Finding:
    return Finding("JSON schema", "wrong", found, mend=mend)
