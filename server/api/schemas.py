"""JSON schemas of responses and events, derived from the types of their values (`base.records`).

Responses are dictionaries that are sent unchanged; a route names the types whose fields its response has:

    FOUND = Annotated[dict[str, Any], Shaped(CallTarget, SearchResult)]
    SESSION = Annotated[Session, Shaped(Session)]

Fields may be added in later versions.
"""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import CoreSchema, core_schema
from typing_extensions import TypedDict

from base.records import adapter

REFERENCE = "#/components/schemas/{model}"
SHAPE = "x-shape"
SUFFIX = "Record"  # of types that describe the JSON of a value: the schema of HitRecord is named Hit

Schema: TypeAlias = dict[str, Any]
Field: TypeAlias = core_schema.ModelField | core_schema.DataclassField | core_schema.TypedDictField


class Shaped:
    """Describe a dictionary by the types whose fields it has; fields of later types replace earlier ones.

    A part (type, names) has only these fields of a type. The last part gives the description, and the name if
    none is given.
    """

    def __init__(self, *parts: Any, name: str = "") -> None:
        """Register the shape for the description of the API."""
        self.parts = [part if isinstance(part, tuple) else (part, None) for part in parts]
        self.name: str = name or self.parts[-1][0].__name__
        SHAPES[self.name] = self

    def __get_pydantic_core_schema__(self, _: Any, __: GetCoreSchemaHandler) -> CoreSchema:
        """Send the dictionary unchanged."""
        return core_schema.any_schema()

    def __get_pydantic_json_schema__(self, _: CoreSchema, __: GetJsonSchemaHandler) -> Schema:
        """Name the shape; `with_references` replaces it by a reference."""
        return {SHAPE: self.name}

    def schema(self, of_types: Mapping[Any, Schema]) -> Schema:
        """Join the schemas of the parts."""
        properties: dict[str, Schema] = {}
        required: dict[str, bool] = {}
        described = ""
        for kind, names in self.parts:
            part = of_types[kind]
            described = part.get("description", described)
            for name in part["properties"] if names is None else names:
                properties[name] = part["properties"][name]
                required[name] = name in part.get("required", ())
        return {
            "title": self.name,
            "description": described,
            "type": "object",
            "properties": properties,
            "required": [name for name, is_required in required.items() if is_required],
        }


SHAPES: dict[str, Shaped] = {}


class OfIndex(TypedDict):
    """A response of one index."""

    index: str


class RecordSchema(GenerateJsonSchema):
    """Schemas of records: fields are required and may be null, or optional and never null."""

    def field_is_required(self, field: Field, total: bool) -> bool:  # noqa: D102 - of the base class
        if field.get("serialization_exclude_if") is not None:
            return False
        return field["type"] != "typed-dict-field" or bool(field.get("required", total))

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> Schema:  # noqa: D102
        return self.generate_inner(schema["schema"])

    def typed_dict_field_schema(self, schema: core_schema.TypedDictField) -> Schema:  # noqa: D102
        return _of_field(schema, super().typed_dict_field_schema(schema))

    def dataclass_field_schema(self, schema: core_schema.DataclassField) -> Schema:  # noqa: D102
        return _of_field(schema, super().dataclass_field_schema(schema))


def _of_field(field: Field, made: Schema) -> Schema:
    return without_null(made) if field.get("serialization_exclude_if") is not None else made


def without_null(schema: Schema) -> Schema:
    """Return the schema of an optional value that is left out rather than null."""
    options: list[Schema] = [option for option in schema.get("anyOf", ()) if option != {"type": "null"}]
    if len(options) != 1:
        return schema
    return {name: value for name, value in schema.items() if name != "anyOf"} | options[0]


def shape_schemas() -> dict[str, Schema]:
    """Return the JSON schemas of all shapes, and of all types within them, by name."""
    types = dict.fromkeys(kind for shape in SHAPES.values() for kind, _ in shape.parts)
    adapters: list[tuple[Any, Any, TypeAdapter[Any]]] = [
        (kind, "serialization", adapter(kind)) for kind in types
    ]
    keyed, made = TypeAdapter.json_schemas(adapters, ref_template=REFERENCE, schema_generator=RecordSchema)
    within: dict[str, Schema] = made.get("$defs", {})
    of_types = {
        kind: within[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
        for (kind, _), schema in keyed.items()
    }
    schemas = {name: shape.schema(of_types) for name, shape in SHAPES.items()}
    waiting = list(schemas.values())
    while waiting:
        for reference in _references(waiting.pop()):
            name = reference.removesuffix(SUFFIX)
            if name not in schemas:
                waiting.append(within[reference])
                schemas[name] = within[reference]
    described: dict[str, Schema] = with_references(schemas)
    return described


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if reference := schema.get("$ref"):
            yield reference.rpartition("/")[2]
        schema = list(schema.values())
    if isinstance(schema, list):
        for each in schema:
            yield from _references(each)


def with_references(schema: Any) -> Any:
    """Replace names of shapes by references, and remove the suffix of types from references.

    Omit `readOnly`, which is true of all parts of a response.
    """
    if isinstance(schema, dict):
        if name := schema.get(SHAPE):
            return {"$ref": REFERENCE.format(model=name)}
        return {key: with_references(value) for key, value in schema.items() if key != "readOnly"}
    if isinstance(schema, list):
        return [with_references(each) for each in schema]
    is_reference = isinstance(schema, str) and schema.startswith(REFERENCE.format(model=""))
    return schema.removesuffix(SUFFIX) if is_reference else schema
