"""Shapes of the API's JSON answers for its OpenAPI description: TypedDicts, one file per subject.

The layers below make these records; they are sent unchanged, and this package does not read or check them.
Keys may be added in later versions.
"""

import pkgutil
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

from pydantic import GetJsonSchemaHandler, TypeAdapter
from pydantic_core import CoreSchema
from typing_extensions import is_typeddict

REFERENCE = "#/components/schemas/{model}"
SHAPE = "x-shape"


@dataclass(frozen=True, slots=True)
class Shaped:
    """Describe a dictionary by a TypedDict of this package: `Annotated[dict[str, Any], Shaped(Hit)]`."""

    shape: Any

    def __get_pydantic_json_schema__(self, _: CoreSchema, __: GetJsonSchemaHandler) -> dict[str, Any]:
        """Name the shape; `server.description` replaces it by a reference."""
        return {SHAPE: self.shape.__name__}


def shape_schemas() -> dict[str, Any]:
    """Return the JSON schemas of all shapes by their names."""
    modules = [import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
    shapes = {
        name: value for module in modules for name, value in vars(module).items() if is_typeddict(value)
    }
    mode: Literal["serialization"] = "serialization"
    adapters = [(name, mode, TypeAdapter(shape)) for name, shape in sorted(shapes.items())]
    keyed, made = TypeAdapter.json_schemas(adapters, ref_template=REFERENCE)
    alone = {str(name): schema for (name, _), schema in keyed.items() if "$ref" not in schema}
    return {**alone, **made.get("$defs", {})}
