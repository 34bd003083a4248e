"""A request that a server which ignores its JSON schema answers wrongly, and the judgement of the answer."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from base.untrusted import one_line, read_json
from generator.llm.chat import chat_request
from generator.settings import LanguageModelSettings
from stack.doctor.findings import Finding

TOKENS = 256  # the longest answer of the schema has some forty; a model may put blanks between
PROMPT = (
    "Write a poem of four lines about the sea in winter. "
    "Verse only: no JSON, no braces, no quotation marks, no code."
)
SHOWN = 80
OK = 200


class ProbeAnswer(BaseModel):
    """What the schema leaves to say; nobody writes it who is asked for a poem."""

    model_config = ConfigDict(extra="forbid")

    season: Literal["spring", "summer", "autumn", "winter"]
    waves: Literal["calm", "rough"]
    lines: Annotated[list[Literal["salt", "wind", "snow"]], Field(min_length=1, max_length=3)]


def probe_request(settings: LanguageModelSettings) -> dict[str, Any]:
    """Make the request, as the client makes its own; temperature 0 and few tokens."""
    probe = settings.model_copy(update={"max_tokens": TOKENS, "temperature": 0.0, "stream": False})
    return chat_request([{"role": "user", "content": PROMPT}], ProbeAnswer, name="probe", settings=probe)


def judge_probe(status: int, body: str) -> Finding:
    """Tell whether the server held the model to the schema."""
    if status != OK:
        return _wrong(
            f"the server answers {status} to a request with a JSON schema: {one_line(body)[:SHOWN]}",
            "use a server that knows response_format with json_schema (vLLM does)",
        )
    try:
        choice = read_json(body)["choices"][0]
        message = choice["message"]
        text = str(message.get("content") or "")
    except (ValueError, TypeError, KeyError, IndexError, AttributeError):
        return _wrong(
            f"no chat completion: {one_line(body)[:SHOWN]}", "set SHRAG_LLM__BASE_URL to where the API begins"
        )
    thought = message.get("reasoning_content") or message.get("reasoning")
    if thought and not text.strip():
        return _wrong(
            "the answer stands among the model's thoughts, where no schema holds",
            "start the server without --reasoning-parser, and the model without thinking",
        )
    try:
        ProbeAnswer.model_validate_json(text)
    except ValidationError:
        if choice.get("finish_reason") == "length" and not text.strip().strip('{}[]":, '):
            return Finding(
                "JSON schema",
                "warning",
                f"{TOKENS} tokens and nothing but blanks: the model fills the room between the braces",
                mend="use another model; this one may not end its answers",
            )
        return _wrong(
            f"asked for verse under a schema, it answered {text.strip()[:SHOWN]!r}",
            "this server does not hold the model to the schema: use vLLM without --reasoning-parser",
        )
    return Finding("JSON schema", "ok", "an answer that begged to be verse is of the schema")


def _wrong(found: str, mend: str) -> Finding:
    return Finding("JSON schema", "wrong", found, mend=mend)
