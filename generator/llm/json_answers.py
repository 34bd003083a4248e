"""Structured answers: bodies of chat calls, the JSON schema sent with them, and parsing of the reply.

The bodies are OpenAI's chat completions, with vLLM's additional fields.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias, TypeVar

from pydantic import BaseModel, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationError
from pydantic_core import CoreSchema, core_schema

from generator.prompts import load_prompt
from generator.settings import LanguageModelSettings

T = TypeVar("T", bound=BaseModel)

# Schema keywords that do not constrain the answer; `default` is dropped because all properties are required.
DROPPED = frozenset({"$defs", "title", "default", "discriminator"})
# Text of reasoning models before the answer. Some chat templates contain the opening tag, so the reply has
# only the closing one.
THOUGHT = re.compile(r"\A.*</think(?:ing)?>|<think(?:ing)?>.*\Z", re.DOTALL | re.IGNORECASE)
BRACES_TRIED = 200
COMPLAINTS = 5
DECODER = json.JSONDecoder(strict=False)  # allows line breaks inside strings

Message: TypeAlias = Mapping[str, str]  # role, content
SENT_BACK_CHARACTERS = 20_000  # of an answer sent back for repair


@dataclass(frozen=True, slots=True)
class CutAt:
    """Limit of a text or a list; longer values of servers that do not enforce the schema are cut."""

    most: int

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Cut the value on validation."""
        return core_schema.no_info_after_validator_function(lambda value: value[: self.most], handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Add the limit to the schema for servers that enforce it."""
        written = handler(schema)
        return written | {"maxItems" if written["type"] == "array" else "maxLength": self.most}


class UnreadableAnswer(ValueError):
    """The text contains no value of the schema; the message lists the faults, for a repair by the model."""


@cache
def json_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the schema in the strict form that servers enforce: no references, all properties required.

    Limits of lists and strings are kept. Callers share the returned value and must not change it.

    Raises:
        TypeError: the model contains itself, which needs references.
    """
    whole = model.model_json_schema()
    written: dict[str, Any] = _strict(whole, whole.get("$defs", {}), inside=())
    return written


def _strict(node: Any, definitions: dict[str, Any], inside: tuple[str, ...]) -> Any:
    if isinstance(node, list):
        return [_strict(item, definitions, inside) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        if name in inside:
            raise TypeError(f"{name} contains itself; a schema for a language model must be finite")
        beside = {key: value for key, value in node.items() if key != "$ref"}
        return _strict(definitions[name] | beside, definitions, (*inside, name))
    written = {
        key: _strict(value, definitions, inside)
        for key, value in node.items()
        if key not in DROPPED and key != "properties"
    }
    if "properties" in node:  # its keys are names of properties, such as `title`
        properties = node["properties"].items()
        written["properties"] = {name: _strict(value, definitions, inside) for name, value in properties}
        written["required"] = list(written["properties"])
        written["additionalProperties"] = False
    return written


def read_answer(text: str, schema: type[T]) -> T:
    """Parse the last value of `schema` in an answer with reasoning, prose or code fences.

    Raises:
        UnreadableAnswer: the answer contains no such value.
    """
    found, broken = objects_in(text)
    complaints = []
    for candidate in reversed(found):
        try:
            return schema.model_validate(candidate)
        except ValidationError as error:
            complaints.append(_complaint(error))
    if broken:
        complaints.append(broken)
    raise UnreadableAnswer("; ".join(complaints[:COMPLAINTS]) or "there is no JSON object in it")


def objects_in(text: str) -> tuple[list[dict[str, Any]], str]:
    """Return the JSON objects of a text in order, and the fault of the first invalid one."""
    text = text.strip()
    whole, _ = _decode(text, 0) if text.startswith("{") else (None, "")
    if whole and whole[1] == len(text):  # first, since a string in it may contain a thinking tag
        return [whole[0]], ""
    text = without_thoughts(text)
    found, broken = [], ""
    start = text.find("{")
    for _ in range(BRACES_TRIED):
        if start < 0:
            break
        decoded, problem = _decode(text, start)
        if decoded:
            found.append(decoded[0])
        broken = broken or problem
        start = text.find("{", decoded[1] if decoded else start + 1)
    return found, broken


def without_thoughts(text: str) -> str:
    """Remove the reasoning before the answer, also if it is unfinished."""
    return THOUGHT.sub("", text)


def _decode(text: str, start: int) -> tuple[tuple[dict[str, Any], int] | None, str]:
    try:
        return DECODER.raw_decode(text, start), ""
    except json.JSONDecodeError as error:
        if not text[error.pos :].strip() or error.msg.startswith("Unterminated string"):
            return None, "the JSON breaks off before its end"
        return None, f"not JSON: {error.msg} at character {error.pos - start}"
    except RecursionError:
        return None, "nested too deeply"
    except ValueError:  # Python parses at most 4,300 digits
        return None, "a number in it has too many digits"


def _complaint(error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_context=False, include_input=False)[:COMPLAINTS]
    places = [".".join(map(str, fault["loc"])) for fault in faults]
    return "; ".join(
        f"{place}: {fault['msg']}" if place else fault["msg"]
        for place, fault in zip(places, faults, strict=True)
    )


def chat_request(
    messages: Sequence[Message], schema: type[BaseModel], *, name: str, settings: LanguageModelSettings
) -> dict[str, Any]:
    """Return the body of a chat call whose answer is JSON of `schema`."""
    body: dict[str, Any] = {
        "model": settings.model,
        "messages": [dict(message) for message in messages],
        "temperature": settings.temperature,
        "max_tokens": settings.max_tokens,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": name, "schema": json_schema(schema), "strict": True},
        },
    }
    if settings.seed is not None:
        body["seed"] = settings.seed
    if settings.stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    if kwargs := template_kwargs(settings):
        body["chat_template_kwargs"] = kwargs
    return body | {key: value for key, value in settings.extra_body.items() if key != "chat_template_kwargs"}


def template_kwargs(settings: LanguageModelSettings) -> dict[str, Any]:
    """Return the arguments of the chat template, with `enable_thinking` if the dialect supports it."""
    thinking = {"enable_thinking": settings.thinking} if settings.dialect == "vllm" else {}
    given: dict[str, Any] = settings.extra_body.get("chat_template_kwargs", {})
    return thinking | given


def repair_messages(text: str, complaint: str) -> list[Message]:
    """Return the messages of a repair: the invalid answer and its faults."""
    # Some chat templates refuse an empty turn.
    answer = text.strip()[:SENT_BACK_CHARACTERS] or "(empty)"
    prompt = load_prompt("repair", "en").render(complaint=complaint)
    return [{"role": "assistant", "content": answer}, {"role": "user", "content": prompt}]
