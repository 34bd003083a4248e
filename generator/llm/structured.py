"""Answers that a program reads: the JSON schema sent with a call, and the value found in what came back."""

import json
import re
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationError
from pydantic_core import CoreSchema, core_schema

T = TypeVar("T", bound=BaseModel)

# Said about a schema, not asked of an answer; `default` goes because every property is asked for.
DROPPED = frozenset({"$defs", "title", "default", "discriminator"})
# Reasoning models think aloud first; some chat templates hold the opening tag, so only the closing one comes.
THOUGHT = re.compile(r"\A.*</think(?:ing)?>|<think(?:ing)?>.*\Z", re.DOTALL | re.IGNORECASE)
BRACES_TRIED = 200
COMPLAINTS = 5
DECODER = json.JSONDecoder(strict=False)  # line breaks inside strings are let through


@dataclass(frozen=True, slots=True)
class CutAt:
    """Bounds a text or a list; what a server that enforces no schema writes beyond is cut."""

    most: int

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Cut the value when it is read."""
        return core_schema.no_info_after_validator_function(lambda value: value[: self.most], handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """State the bound for servers that enforce it."""
        written = handler(schema)
        return written | {"maxItems" if written["type"] == "array" else "maxLength": self.most}


class UnreadableAnswer(ValueError):
    """The text holds no value of the schema; the message says what is wrong, for the model to repair."""


@cache
def json_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the schema in the strict form that servers enforce: no references, all properties, no others.

    Bounds of lists and strings stay as the model states them. Every caller gets the same value, to be read.

    Raises:
        TypeError: the model holds itself, which cannot be written without references.
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
            raise TypeError(f"{name} holds itself; a schema for a language model is finite")
        beside = {key: value for key, value in node.items() if key != "$ref"}
        return _strict(definitions[name] | beside, definitions, (*inside, name))
    written = {
        key: _strict(value, definitions, inside)
        for key, value in node.items()
        if key not in DROPPED and key != "properties"
    }
    if "properties" in node:  # whose keys are names, `title` among them
        properties = node["properties"].items()
        written["properties"] = {name: _strict(value, definitions, inside) for name, value in properties}
        written["required"] = list(written["properties"])
        written["additionalProperties"] = False
    return written


def read_answer(text: str, schema: type[T]) -> T:
    """Find the value of `schema` in an answer, among thoughts, prose and code fences; the last one counts.

    Raises:
        UnreadableAnswer: there is none.
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
    """Return the JSON objects of a text in order, and what is wrong with the first that cannot be read."""
    text = text.strip()
    whole, _ = _decode(text, 0) if text.startswith("{") else (None, "")
    if whole and whole[1] == len(text):  # before a thinking tag inside a string is taken for one
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
    """Take off what a model thinks aloud before its answer, also where it has not come to the end of that."""
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
    except ValueError:  # Python reads no number of more than 4,300 digits
        return None, "a number in it has too many digits"


def _complaint(error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_context=False, include_input=False)[:COMPLAINTS]
    places = [".".join(map(str, fault["loc"])) for fault in faults]
    return "; ".join(
        f"{place}: {fault['msg']}" if place else fault["msg"]
        for place, fault in zip(places, faults, strict=True)
    )
