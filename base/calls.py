"""Calls: the options of a command, the request of an endpoint or the arguments of a tool, declared once.

    class SearchCall(Call):
        question: Annotated[str, Flag(argument=True), Field(description="A question, or words.")]
        k: Annotated[int, Flag("-k"), Field(ge=1, le=1000, description="Papers to find.")] = 10

`base/terminal/call_options.py` makes the arguments and options of a command from the fields, FastAPI takes
the class as a body or as query parameters, and `server/mcp/tools.py` makes it from the arguments of a tool.
"""

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, fields
from difflib import get_close_matches
from enum import StrEnum
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from base.errors import InvalidCall
from base.notes import Note
from base.untrusted import one_line

IN_FIELD = "in_field"  # the type of errors that name their field in the context
SHOWN_CHARACTERS = 100  # of an unknown name
SOME_TEXT = r"\S"  # pattern of a text that is not blank
# Codes of notes by pydantic's type of the error.
CODES: Mapping[str, str] = {
    "missing": "field_missing",
    "string_type": "field_not_text",
    "int_type": "field_not_whole",
    "int_parsing": "field_not_whole",
    "int_from_float": "field_not_whole",
    "int_parsing_size": "field_too_large",
    "string_unicode": "field_not_utf8",
    "float_type": "field_not_number",
    "float_parsing": "field_not_number",
    "finite_number": "field_not_finite",
    "bool_type": "field_not_boolean",
    "bool_parsing": "field_not_boolean",
    "tuple_type": "field_not_list",
    "list_type": "field_not_list",
    "set_type": "field_not_list",
    "frozen_set_type": "field_not_list",
    "dict_type": "field_not_object",
    "dataclass_type": "field_not_object",
    "model_type": "field_not_object",
    "model_attributes_type": "field_not_object",
    "unexpected_keyword_argument": "field_unknown",
    "extra_forbidden": "field_unknown",
    "greater_than_equal": "field_at_least",
    "less_than_equal": "field_at_most",
    "greater_than": "field_more_than",
    "less_than": "field_less_than",
    "string_too_long": "field_too_long",
    "string_too_short": "field_too_short",
    "too_long": "field_too_many",
    "literal_error": "field_not_one_of",
    "json_invalid": "field_not_json",
}

# Called with each valid call of the running task; a server notes the question for its log.
observer: ContextVar[Callable[["Call"], None] | None] = ContextVar("observer", default=None)


class Section(StrEnum):
    """Headings of options in the help of a command, in their order."""

    PLACE = "Where to search"
    FINDING = "How papers are found"
    ANSWERING = "How to answer"
    SEARCHING = "How to search"
    LIMITS = "Limits"
    BUDGETS = "Budgets, none unless given"
    OUTPUT = "Output"


@dataclass(frozen=True, slots=True)
class Flag:
    """The command-line option of a field. Its long name is made from the field's: `max_calls`, `--max-calls`.

    Args:
        name: replaces the long name if it starts with `--`; a short name (`-k`) is added to it.
        section: heading of the option in the help.
        metavar: name of the value in the help.
        help: replaces the description of the field.
        argument: whether the field is a positional argument instead.
        commas: whether the values of a list are split at commas.
        hidden: whether the command line has no such option.
    """

    name: str = ""
    section: Section | None = None
    metavar: str | None = None
    help: str | None = None
    argument: bool = False
    commas: bool = False
    hidden: bool = False


class Call(BaseModel):
    """Named values of a call; unknown names are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _check_names_and_texts(cls, given: Any) -> Any:
        for name, value in given.items() if isinstance(given, Mapping) else ():
            if name not in cls.model_fields:
                name = str(name).encode(errors="replace").decode()  # noqa: PLW2901 - quoted in the message
                near = get_close_matches(name, list(cls.model_fields), 1)
                meant = f"; did you mean {near[0]}?" if near else ""
                raise PydanticCustomError(IN_FIELD, "unknown field{meant}", {"field": name, "meant": meant})
            if not all(map(_is_text, value if isinstance(value, list | tuple) else [value])):
                raise PydanticCustomError(
                    IN_FIELD, "is not valid Unicode: it contains a lone surrogate", {"field": name}
                )
        return given

    def model_post_init(self, _: Any) -> None:
        """Report the call to the observer."""
        if observe := observer.get():
            observe(self)

    @classmethod
    def of(cls, /, **values: Any) -> Self:
        """Make a call from Python; raise InvalidCall for an unknown name or an invalid value."""
        try:
            return cls(**values)
        except ValidationError as error:
            raise invalid_call(error) from None

    def changed(self, /, **values: Any) -> Self:
        """Return the call with other values, checked like the first ones."""
        return type(self)(**{name: getattr(self, name) for name in self.model_fields_set} | values)

    def given_values(self) -> dict[str, Any]:
        """Return the values that the caller gave, as JSON."""
        return self.model_dump(mode="json", exclude_unset=True)

    def values_for(self, request: type) -> dict[str, Any]:
        """Return the values of the fields that a request (a dataclass) has too, by name."""
        return {part.name: getattr(self, part.name) for part in fields(request) if hasattr(self, part.name)}


def refusal(error: Mapping[str, Any]) -> tuple[str, str]:
    """Return the place of an error of pydantic, such as `keywords.0`, and the message."""
    place, context = [str(part) for part in error["loc"]], error.get("ctx", {})
    if error["type"] == IN_FIELD:
        place.append(str(context["field"])[:SHOWN_CHARACTERS] or "''")
    if code := CODES.get(error["type"]):
        values = {
            name: _shown(value) for name, value in context.items() if isinstance(value, str | int | float)
        }
        if error["type"] == "literal_error" and isinstance(error["loc"][-1], int):
            return ".".join(place), Note(
                "field_item_not_one_of", given=one_line(repr(error["input"])), **values
            )
        return ".".join(place), Note(code, **values)
    other: str = error["msg"].removeprefix("Value error, ").replace("Input should be", "must be", 1)
    return ".".join(place), other[:1].lower() + other[1:]


def first_refusal(error: ValidationError) -> tuple[str, str]:
    """Return the place and the message of the first error, as `refusal`."""
    return refusal(error.errors(include_url=False)[0])


def reason(error: ValidationError) -> str:
    """Return the first error with its place, in one line."""
    return in_one_line(*first_refusal(error), nameless="it")


def in_one_line(place: str, words: str, nameless: str) -> str:
    r"""Return a refusal as one line; control characters of a name are shown as \n."""
    shown = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in place)
    return f"{shown}: {words}" if place else f"{nameless} {words}"


def invalid_call(error: ValidationError) -> InvalidCall:
    """Return an error of pydantic as an error for callers from Python."""
    return InvalidCall(reason(error))


def described(*, example: Any, **schema: Any) -> WithJsonSchema:
    """Describe a value by a JSON schema; the layer that uses the value checks it, with its own message."""
    return WithJsonSchema(schema | {"examples": [example]})


def optional(*, example: Any, **schema: Any) -> WithJsonSchema:
    """Describe a value that may be null, as `described`."""
    return described(anyOf=[schema, {"type": "null"}], example=example)


def texts_schema(most: int, longest: int) -> dict[str, Any]:
    """Return the JSON schema of at most `most` texts of at most `longest` characters."""
    item = {"type": "string", "maxLength": longest, "pattern": SOME_TEXT}
    return {"type": "array", "items": item, "maxItems": most}


def with_examples(*examples: dict[str, Any]) -> ConfigDict:
    """Return the configuration of a call with examples of its body."""
    return ConfigDict(json_schema_extra={"examples": list(examples)})


def _shown(value: Any) -> Any:
    """Return a bound without `.0`; the bounds of a number with a fraction are such numbers too."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _is_text(value: Any) -> bool:
    """Check whether a value, if it is text, can be encoded; JSON can escape lone surrogates."""
    try:
        (value if isinstance(value, str) else "").encode()
    except UnicodeEncodeError:
        return False
    return True
