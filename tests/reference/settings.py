"""The page of all settings: key, variable, type, default and meaning, as the settings classes have them."""

from collections.abc import Iterable, Iterator
from importlib import import_module
from itertools import groupby
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from base.settings.fields import Setting, settings_of
from base.settings.sources import LayeredSettings, settings_classes
from retriever.sources.configuration import KINDS
from tests.reference.markdown import GENERATED, code, in_one_line, table

INTRODUCTION = f"""\
# Settings

    shrag settings            # every setting with its value and where it comes from
    shrag settings --toml     # a shrag.toml with the defaults, commented out

{GENERATED} A key `llm.model` is `model` in the table `[llm]` of
`shrag.toml`. [Configuration](../how-to/configuration.md) explains variables, the file and their precedence.
"""
OF_CLASS = {  # the settings that are in no table
    "IndexerSettings": "Indexing",
    "RetrieverSettings": "Searching",
    "SourcesSettings": "Sources",
    "GeneratorSettings": "Answering",
}
SOURCES = """\
Each source is a table `[sources.NAME]` ([sources](../how-to/sources.md)). A variable sets a key of it:
`SHRAG_SOURCES__NAME__…`. Keys and passwords come from a variable or from a file that `…_file` names.
"""
BOUNDS = {"ge": "≥ {}", "gt": "> {}", "le": "≤ {}", "lt": "< {}"}
NAMES = {bool: "true or false", int: "integer", float: "number", str: "text", dict: "table"}


def page() -> str:
    """Return the page."""
    lines = [INTRODUCTION]
    for settings in settings_classes():
        lines += _of_class(settings)
    lines += ["## Tables of sources", "", SOURCES]
    for kind in KINDS:
        lines += _of_source(kind)
    return "\n".join(lines).rstrip() + "\n"


def _of_class(settings: type[LayeredSettings]) -> Iterator[str]:
    # What is in no table comes before the tables of its class.
    ordered = sorted(settings_of(settings).values(), key=lambda each: len(each.place))
    by_table = {table: list(each) for table, each in groupby(ordered, key=lambda each: each.place[:-1])}
    for place, inside in by_table.items():
        yield f"## {'.'.join(place) if place else OF_CLASS[settings.__name__]}"
        yield ""
        yield from table(["key", "variable", "type", "default", "meaning"], map(_row, inside))
        yield ""


def _row(setting: Setting) -> list[str]:
    field = setting.field
    return [code(setting.key), code(setting.variable), kind_of(setting), default_of(field), meaning_of(field)]


def _of_source(kind: str) -> Iterator[str]:
    settings: type[BaseModel] = import_module(f"retriever.sources.kinds.{kind}").Settings
    yield f"### kind = {kind}"
    yield ""
    yield from table(["key", "type", "default", "meaning"], _keys(settings, ""))
    yield ""


def _keys(settings: type[BaseModel], above: str) -> Iterable[list[str]]:
    for name, field in settings.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from _keys(inner, f"{above}{name}.")
        else:
            kind = kind_of(Setting((name,), field))
            yield [code(above + name), kind, default_of(field), meaning_of(field)]


def meaning_of(field: FieldInfo) -> str:
    """Return the description of a field in one line."""
    return in_one_line(field.description or "")


def default_of(field: FieldInfo) -> str:
    """Return the default of a field, "" where it is unset, "required" where there is none."""
    default: Any = field.get_default(call_default_factory=True)
    if default is PydanticUndefined:
        return "required"
    if isinstance(default, bool):
        return code(str(default).lower())
    if isinstance(default, SecretStr) or default is None or default in ("", {}, frozenset()):
        return ""
    return code(str(round(default, 4) if isinstance(default, float) else default).removesuffix(".0"))


def kind_of(setting: Setting) -> str:
    """Return the type of a setting in words, with its bounds."""
    annotation = setting.field.annotation
    if choices := list(_choices(annotation)):
        return ", ".join(map(code, choices))
    if setting.secret:
        return "key, never shown"
    if setting.is_path:
        return "path"
    kind = next((NAMES[each] for each in (dict, bool, int, float, str) if each in setting.kinds), "text")
    return " ".join([kind, *_bounds(setting.field)])


def _choices(annotation: Any) -> Iterator[str]:
    if get_origin(annotation) is Literal:
        yield from map(str, get_args(annotation))
        return
    if get_origin(annotation) is dict:
        return
    for inner in get_args(annotation):
        yield from _choices(inner)


def _bounds(field: FieldInfo) -> list[str]:
    found = [
        text.format(f"{getattr(limit, name):,}")
        for limit in field.metadata
        for name, text in BOUNDS.items()
        if hasattr(limit, name)
    ]
    return [", ".join(found)] if found else []
