"""The settings of a class: place in `shrag.toml`, environment variable, type and description of each.

A setting with several values is a `CommaList`: separated by commas in a variable, a list in a file.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, TypeAlias, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, SecretStr
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings

PREFIX = "SHRAG_"
Place: TypeAlias = tuple[str, ...]  # the tables of a setting, and its name


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting: ("llm", "base_url") is SHRAG_LLM__BASE_URL, and base_url of the table [llm]."""

    place: Place
    field: FieldInfo

    @property
    def key(self) -> str:
        """Return the dotted name, such as `llm.base_url`."""
        return ".".join(self.place)

    @property
    def variable(self) -> str:
        """Return the name of the environment variable."""
        return variable_at(self.place)

    @property
    def kinds(self) -> frozenset[Any]:
        """Return the types in the annotation, including those nested in unions."""
        return frozenset(_kinds(self.field.annotation))

    @property
    def is_path(self) -> bool:
        """Check whether the value is a path."""
        return Path in self.kinds

    @property
    def secret(self) -> bool:
        """Check whether the value is a secret, which is never shown."""
        return SecretStr in self.kinds


def variable_at(place: Place) -> str:
    """Return the environment variable of a setting, or of a group of settings."""
    return PREFIX + "__".join(place).upper()


def prefix_of(settings: type[BaseSettings]) -> Place:
    """Return the table of a class of settings: () or ("server",)."""
    prefix = str(settings.model_config.get("env_prefix", "")).removeprefix(PREFIX)
    return tuple(part.lower() for part in prefix.split("__") if part)


@cache
def settings_of(settings: type[BaseSettings]) -> dict[Place, Setting]:
    """Return the settings of a class by place, including nested groups."""
    return dict(_within(settings, prefix_of(settings)))


def _within(model: type[BaseModel], above: Place) -> Iterator[tuple[Place, Setting]]:
    for name, field in model.model_fields.items():
        place, kind = (*above, name), field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from _within(kind, place)
        else:
            yield place, Setting(place, field)


def _kinds(annotation: Any) -> Iterator[Any]:
    inner, origin = get_args(annotation), get_origin(annotation)
    if not inner or isinstance(origin, type):
        yield origin or annotation
    for each in inner:
        yield from _kinds(each)


def _joined(value: object) -> object:
    """Join a list of texts from a file with commas, the format of a variable."""
    if not isinstance(value, list):
        return value
    if not all(isinstance(each, str) and "," not in each for each in value):
        raise ValueError("must be a list of texts without commas")
    return ",".join(value)


CommaList = Annotated[str, BeforeValidator(_joined)]


def listed(value: str) -> list[str]:
    """Split a comma-separated setting; empty parts are left out."""
    return [part for each in value.split(",") if (part := each.strip())]
