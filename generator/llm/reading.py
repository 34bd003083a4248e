"""Answers of a language model as values: the schema that a server gets, and the reading of its reply.

Many servers do not enforce a schema. A reply that does not match it is fitted to it where its meaning is
clear: a missing list is empty, a single value is a list of one, `"[2]"` is the number 2, a long text is cut.
A reply that still does not match is sent back to the model once (`LanguageModel.complete_json`).
"""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

T = TypeVar("T", bound=BaseModel)

# Schema keywords that do not constrain the answer; `default` is dropped because all properties are required.
DROPPED = frozenset({"$defs", "title", "default", "discriminator"})
EMPTY: Mapping[str, Any] = {"array": [], "string": ""}  # of a property that is missing
# Text of reasoning models before the answer. Some chat templates contain the opening tag, so the reply has
# only the closing one.
THOUGHT = re.compile(r"\A.*</think(?:ing)?>|<think(?:ing)?>.*\Z", re.DOTALL | re.IGNORECASE)
TRAILING_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])', re.DOTALL)  # outside strings
NUMBER = re.compile(r"\W*(\d{1,9})\W*")
NUMBERS = re.compile(r"[\s\[\]()【】^,;–\d-]*\d[\s\[\]()【】^,;–\d-]*")
RANGE = re.compile(r"(\d{1,9})(?:\s*[–-]\s*(\d{1,9}))?")
LONGEST_RANGE = 50
BRACES_TRIED = 200
COMPLAINTS = 5
DECODER = json.JSONDecoder(strict=False)  # allows line breaks inside strings


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


class UnreadableAnswer(ValueError):
    """The text contains no value of the schema; the message lists the faults, for a repair by the model."""


def read_answer(text: str, schema: type[T]) -> T:
    """Parse the last value of `schema` in an answer.

    Reasoning, prose, code fences and commas before a closing bracket are ignored. An object that matches the
    schema is preferred to one that has to be fitted to it.

    Raises:
        UnreadableAnswer: the answer contains no such value.
    """
    found, broken = objects_in(text)
    faults: list[ValidationError] = []
    for candidate in reversed(found):
        try:
            return schema.model_validate(candidate)
        except ValidationError as error:
            faults.append(error)
    for candidate, fault in zip(reversed(found), faults, strict=True):
        with suppress(ValidationError):
            return _fit(candidate, schema, fault)
    complaints = [*map(_complaint_of, faults), *([broken] if broken else [])]
    raise UnreadableAnswer("; ".join(complaints[:COMPLAINTS]) or "there is no JSON object in it")


def fitted_value(decoded: Mapping[str, Any], schema: type[T]) -> T:
    """Return an object as a value of `schema`, its invalid fields fitted to it; raises ValidationError."""
    try:
        return schema.model_validate(decoded)
    except ValidationError as error:
        return _fit(decoded, schema, error)


def _fit(decoded: Mapping[str, Any], schema: type[T], error: ValidationError) -> T:
    if decoded.keys().isdisjoint(schema.model_fields):  # an object of something else
        raise error
    properties, fitted = json_schema(schema)["properties"], dict(decoded)
    for name in properties.keys() & {fault["loc"][0] for fault in error.errors() if fault["loc"]}:
        if decoded.get(name) is not None:
            fitted[name] = _fitted(decoded[name], properties[name])
        elif schema.model_fields[name].is_required():
            fitted |= _empty(name, properties[name])
        else:  # null in place of the default
            fitted.pop(name, None)
    return schema.model_validate(fitted)


def _fitted(value: Any, schema: Mapping[str, Any]) -> Any:
    """Return a decoded value in the form of a schema; a value of no known form stays."""
    if "anyOf" in schema:  # a value or null
        return _fitted(value, next(form for form in schema["anyOf"] if form.get("type") != "null"))
    match schema.get("type"), value:
        case "object", str():  # the text of a sentence in place of the sentence
            parts = schema.get("properties", {}).items()
            name = next((name for name, part in parts if part.get("type") == "string"), None)
            return _fitted({name: value}, schema) if name else value
        case "object", dict():
            fitted = dict(value)
            for name, part in schema.get("properties", {}).items():
                if value.get(name) is not None:
                    fitted[name] = _fitted(value[name], part)
                else:
                    fitted |= _empty(name, part)
            return fitted
        case "array", _:
            items = value if isinstance(value, list) else [value]
            if schema["items"].get("type") == "integer":
                items = [number for item in items for number in _numbers(item)]
            fitted_items = [_fitted(item, schema["items"]) for item in items if item not in (None, "", {})]
            return fitted_items[: schema.get("maxItems")]
        case "integer", str():
            number = NUMBER.fullmatch(value)
            return int(number[1]) if number else value
        case "string", str():
            known = {str(each).casefold(): each for each in schema.get("enum", ())}
            return known.get(value.strip().casefold(), value[: schema.get("maxLength")])
        case "string", int() | float():
            return str(value)
    return value


def _empty(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the property as empty where its schema allows that, else nothing."""
    if any(form.get("type") == "null" for form in schema.get("anyOf", ())):
        return {name: None}
    is_bounded = schema.get("minLength") or schema.get("minItems") or "enum" in schema
    return {} if is_bounded or schema.get("type") not in EMPTY else {name: EMPTY[schema["type"]]}


def _numbers(value: Any) -> list[Any]:
    """Return the whole numbers of a text such as `[1], [3]` or `2-4`; another value stays."""
    return numbers_in(value) if isinstance(value, str) and NUMBERS.fullmatch(value) else [value]


def numbers_in(text: str) -> list[int]:
    """Return the numbers of a text in order, with all numbers of a range: 1, 3-5."""
    found: list[int] = []
    for first, last in RANGE.findall(text):
        found += range(int(first), min(int(last or first), int(first) + LONGEST_RANGE) + 1)
    return found


def objects_in(text: str) -> tuple[list[dict[str, Any]], str]:
    """Return the JSON objects of a text in order, and the fault of the first invalid one."""
    with suppress(ValueError, RecursionError):
        # The whole text first, since a string in it may contain a thinking tag.
        if isinstance(whole := DECODER.decode(text.strip()), dict):
            return [whole], ""
    text = TRAILING_COMMA.sub(r"\1", without_thoughts(text))
    found, broken, end = list[dict[str, Any]](), "", 0
    for _ in range(BRACES_TRIED):
        if (start := text.find("{", end)) < 0:
            break
        try:
            decoded, end = DECODER.raw_decode(text, start)
            found.append(decoded)
            continue
        except json.JSONDecodeError as error:
            fault = f"not JSON: {error.msg} at character {error.pos - start}"
            if not text[error.pos :].strip() or error.msg.startswith("Unterminated string"):
                fault = "the JSON breaks off before its end"
        except RecursionError:
            fault = "nested too deeply"
        except ValueError:  # Python parses at most 4,300 digits
            fault = "a number in it has too many digits"
        broken, end = broken or fault, start + 1
    return found, broken


def without_thoughts(text: str) -> str:
    """Remove the reasoning before the answer, also if it is unfinished."""
    return THOUGHT.sub("", text)


def _complaint_of(error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_context=False, include_input=False)[:COMPLAINTS]
    places = [".".join(map(str, fault["loc"])) for fault in faults]
    return "; ".join(
        f"{place}: {fault['msg']}" if place else fault["msg"]
        for place, fault in zip(places, faults, strict=True)
    )
