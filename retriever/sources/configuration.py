"""Declarations of sources: tables `[sources.NAME]` of `shrag.toml`, files of one source, variables.

    [sources.library]
    kind = "elasticsearch"
    url = "https://search.example.org:9200"

A kind is a module of `retriever.sources.kinds` that holds `Settings` (a `SourceSettings`) and

    def open_source(name: str, settings: Settings, indexes: IndexerSettings) -> Source

with nothing else to register. A declared source is connected to only if a call names it.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from pydantic import ValidationError
from pydantic.fields import FieldInfo

import retriever.sources.kinds
from base.files.durable import cause_of
from base.files.regular_files import read_secret
from base.notes import Note
from base.settings.fields import PREFIX, Setting, is_path, variable_at
from base.settings.file import SettingsFile, read_settings_file, read_toml
from base.settings.sources import ADDRESSES
from indexer.corpora.papers import why_invalid
from indexer.settings import IndexerSettings
from retriever.errors import InvalidSource, UnknownSource
from retriever.settings import SourcesSettings
from retriever.sources import Source
from retriever.sources.merging import LimitedSource
from retriever.sources.settings import SourceSettings

TABLE = "sources"
NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]|_(?!_)){0,63}")
FILE = "_file"
SUFFIX = ".toml"

OpenSource = Callable[[str, Any, IndexerSettings], Source]


@dataclass(frozen=True, slots=True)
class SourceTable:
    """The settings of a source from a file and variables, not checked yet."""

    name: str
    values: Mapping[str, Any]  # of the file
    variables: Mapping[str, str]  # key to value; "fields__title" is title of the table fields
    file: Path | None = None
    found: bool = False  # whether the file was found in the current folder, not named


@dataclass(frozen=True, slots=True)
class DeclaredSource:
    """A source with its checked settings, not connected yet."""

    name: str
    settings: SourceSettings
    opener: OpenSource

    def limited(self, source: Source) -> LimitedSource:
        """Return the open source with the time limit of its settings."""
        settings = self.settings
        return LimitedSource(source, settings.longest_s, settings.kind, settings.description)

    def open(self, indexes: IndexerSettings) -> Source:
        """Open it; some errors only appear at the first question."""
        return self.opener(self.name, self.settings, indexes)


def read_declared(names: Iterable[str]) -> list[DeclaredSource]:
    """Return the sources of these names, as the settings file and variables declare them now.

    Raises:
        UnknownSource, InvalidSource, InvalidSettingsFile: as `find_source`.
    """
    tables = read_tables()
    found = [find_source(name, tables, os.environ) for name in dict.fromkeys(names)]
    if several := [name for name, count in Counter(source.name for source in found).items() if count > 1]:
        raise InvalidSource(
            f"several sources are called {several[0]!r}", remedy="give their files other names"
        )
    return found


def read_tables() -> dict[str, SourceTable]:
    """Read the sources in the settings file and variables; InvalidSettingsFile if the file is invalid."""
    SourcesSettings()  # checks the file as a whole
    return source_tables(read_settings_file(), os.environ)


def source_tables(file: SettingsFile | None, variables: Mapping[str, str]) -> dict[str, SourceTable]:
    """Return the tables of `shrag.toml` and of variables SHRAG_SOURCES__NAME__KEY, in order of name."""
    listed = file.values.get(TABLE, {}) if file else {}
    tables = listed if isinstance(listed, dict) else {}
    by_name = _by_name(variables)
    own = {variable_name(name) for name in tables}
    names = {*tables, *(name for name in by_name if name not in own)}
    return {
        name: SourceTable(
            name,
            tables[name] if isinstance(tables.get(name), dict) else {},
            by_name.get(variable_name(name), {}),
            file.path if file and name in tables else None,
            found=bool(file and file.found),
        )
        for name in sorted(names)
    }


def _by_name(variables: Mapping[str, str]) -> dict[str, dict[str, str]]:
    prefix = variable_at((TABLE, "")).lower()
    found: dict[str, dict[str, str]] = {}
    for variable, value in variables.items():
        if variable.lower().startswith(prefix):
            name, _, key = variable.lower().removeprefix(prefix).partition("__")
            if name and key and value:  # an empty variable counts as unset
                found.setdefault(name, {})[key] = value
    return found


def variable_name(name: str) -> str:
    """Return a source's name as in variables, which have no hyphens."""
    return name.lower().replace("-", "_")


def find_source(name: str, tables: Mapping[str, SourceTable], variables: Mapping[str, str]) -> DeclaredSource:
    """Return the source of a name, or of a file `NAME.toml` that holds the keys of one table.

    Raises:
        UnknownSource: it is not declared.
        InvalidSource: its settings are invalid.
        InvalidSettingsFile: the file cannot be read.
    """
    if name in tables:
        return declared(tables[name])
    if not name.endswith(SUFFIX):
        known = f"there are {', '.join(tables)}" if tables else f"[sources.{name}] of shrag.toml declares one"
        is_file = Path(f"{name}{SUFFIX}").is_file()
        raise UnknownSource(
            Note("no_such_source", source=name), remedy=f"is {name}{SUFFIX} meant?" if is_file else known
        )
    path = Path(name).absolute()
    return declared(
        SourceTable(path.stem, read_toml(path), _by_name(variables).get(variable_name(path.stem), {}), path)
    )


def declared(table: SourceTable) -> DeclaredSource:
    """Check the settings of a source; InvalidSource names the error in one line."""
    if not NAME.fullmatch(table.name):
        raise _invalid(table, "a source's name has at most 64 characters, of a-z, 0-9, - and _")
    kind = table.variables.get("kind", table.values.get("kind"))
    if kind not in kinds():
        what = f"there is no kind {str(kind)[:100]!r}" if kind else "kind is not set"
        raise _invalid(table, f"{what}; there are {', '.join(kinds())}")
    module = import_module(f"{retriever.sources.kinds.__name__}.{kind}")
    fields: dict[str, FieldInfo] = module.Settings.model_fields
    _refuse_dangers(table, fields)
    values = _absolute_paths(table, fields)
    for key, value in table.variables.items():
        values = _placed(values, key.split("__"), value)
    try:
        return DeclaredSource(
            table.name, module.Settings(**_with_secrets(table, fields, values)), module.open_source
        )
    except ValidationError as error:
        raise _invalid(table, why_invalid(error)) from None


def kinds() -> list[str]:
    """Return the names of the kinds of sources, in alphabetical order."""
    return sorted(module.name for module in iter_modules(retriever.sources.kinds.__path__))


def _is_secret(field: FieldInfo) -> bool:
    return Setting((), field).secret


def _refuse_dangers(table: SourceTable, fields: Mapping[str, FieldInfo]) -> None:
    """Refuse a secret in a settings file, and a file found in the current folder that redirects a secret."""
    secrets = {name for name, field in fields.items() if _is_secret(field)}
    if written := sorted(secrets & table.values.keys()):
        key = written[0]
        variable = f"{PREFIX}SOURCES__{variable_name(table.name).upper()}__{key.upper()}"
        raise _invalid(table, f"{key} is not allowed in a settings file: set {variable} or {key}{FILE}")
    in_files = {f"{name}{FILE}" for name in secrets} & table.values.keys()
    if table.found and (in_files or secrets & table.variables.keys()):
        decided = sorted((ADDRESSES & table.values.keys()) - table.variables.keys())
        if decided:
            raise _invalid(
                table,
                f"{decided[0]} decides where a key is sent, but the file was found in the current folder; "
                f"if you trust it, name it: SHRAG_CONFIG={table.file}",
            )


def _absolute_paths(table: SourceTable, fields: Mapping[str, FieldInfo]) -> dict[str, Any]:
    """Return the file's values; paths in it are relative to its folder."""
    values = dict(table.values)
    for key, value in values.items():
        names_file = key.endswith(FILE) or (key in fields and is_path(Setting((key,), fields[key])))
        is_relative = isinstance(value, str) and value and not value.startswith(("/", "~"))
        if table.file and names_file and is_relative:
            values[key] = str(table.file.parent / value)
    return values


def _with_secrets(
    table: SourceTable, fields: Mapping[str, FieldInfo], values: Mapping[str, Any]
) -> dict[str, Any]:
    """Replace `api_key_file` by the key in the file."""
    found = dict(values)
    for name, field in fields.items():
        path = found.pop(f"{name}{FILE}", None) if _is_secret(field) else None
        if path and name not in found:
            try:
                found[name] = read_secret(Path(str(path)).expanduser())
            except (OSError, ValueError, RuntimeError) as error:
                why = cause_of(error) if isinstance(error, OSError) else str(error)
                raise _invalid(table, f"{name}{FILE}: {path} cannot be read: {why}") from None
    return found


def _placed(values: Mapping[str, Any], place: list[str], value: str) -> dict[str, Any]:
    """Return nested tables with a value set at a path."""
    key, *inside = place
    within = values.get(key)
    return {
        **values,
        key: _placed(within if isinstance(within, dict) else {}, inside, value) if inside else value,
    }


def _invalid(table: SourceTable, why: str) -> InvalidSource:
    where = f"{table.file}: " if table.file else ""
    return InvalidSource(f"{where}source {table.name!r}: {why}")
