"""The JSON of a value, derived from the value's fields.

A frozen dataclass is the only description of its JSON: pydantic derives the record (`as_record`) and the JSON
schema of the API from it. Annotations of a field state how its JSON differs from its value:

    weight: Annotated[float, rounded(4)]
    journal: Annotated[str, IF_ANY, Field(description="name of the journal")] = ""
    tokens: Annotated[tuple[str, ...], INTERNAL] = ()
"""

from functools import cache
from operator import not_
from typing import Any, ClassVar, get_type_hints

from pydantic import ConfigDict, Field, GetCoreSchemaHandler, PlainSerializer, TypeAdapter
from pydantic_core import CoreSchema, core_schema

IF_ANY: Any = Field(exclude_if=not_)  # the record omits an empty value, None, False and 0
IF_KNOWN: Any = Field(exclude_if=lambda value: value is None)  # the record omits None
INTERNAL: Any = Field(exclude=True)  # not in the record


class Recordable:
    """A value with a record.

    If the JSON has other fields than the value, the class has a method `record_fields` that returns them as a
    TypedDict, whose annotations then describe the JSON.
    """

    __slots__ = ()
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(arbitrary_types_allowed=True)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Serialize the fields that `record_fields` returns, by default the fields of the value."""
        fields = getattr(cls, "record_fields", None)
        if fields is None:
            return handler(source)
        kind = get_type_hints(fields, include_extras=True)["return"]
        return core_schema.any_schema(
            serialization=core_schema.plain_serializer_function_ser_schema(
                fields, return_schema=handler.generate_schema(kind)
            )
        )

    def as_record(self) -> dict[str, Any]:
        """Return the value as JSON."""
        kind: Any = type(self)
        record: dict[str, Any] = adapter(kind).dump_python(self, mode="json", warnings=False)
        return record


@cache
def adapter(kind: Any) -> TypeAdapter[Any]:
    """Return the adapter of a type, built on first use."""
    return TypeAdapter(kind)


def rounded(digits: int, kind: Any = float) -> PlainSerializer:
    """Round a number in the record; `kind` is its type with bounds."""

    def shortened(value: float) -> float:
        return round(value, digits)

    return PlainSerializer(shortened, return_type=kind)
