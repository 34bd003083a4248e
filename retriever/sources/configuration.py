"""Declarations of sources: tables `[sources.NAME]` of `shrag.toml`, files of one source, variables.

    [sources.library]
    kind = "elasticsearch"
    url = "https://search.example.org:9200"

A declared source is connected to only if a call names it.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from base.files.durable import cause_of
from base.files.regular_files import read_secret
from base.notes import Note
from base.settings.fields import PREFIX, Setting
from base.settings.file import SettingsFile, read_settings_file, read_toml
from base.settings.sources import ADDRESSES
from indexer.corpora.papers import why_invalid
from indexer.settings import IndexerSettings
from retriever.errors import InvalidSource, UnknownSource
from retriever.settings import SourcesSettings
from retriever.sources import Source
from retriever.sources.merging import LimitedSource
from retriever.sources.settings import SourceSettings

# Modules of `retriever.sources.kinds`, each with `Settings` and `open_source(name, settings, indexes)`.
KINDS = tuple("arxiv elasticsearch index openalex pubmed scienceon semantic_scholar wikipedia".split())
NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]|_(?!_)){0,63}")
VARIABLE = f"{PREFIX}SOURCES__"
FILE, SUFFIX = "_file", ".toml"


@dataclass(frozen=True, slots=True)
class SourceTable:
    """The settings of a source from a file and variables, not checked yet."""

    name: str
    values: Mapping[str, Any]  # of the file
    variables: Mapping[str, str] = field(default_factory=dict)  # "fields__title" is title of the table fields
    file: Path | None = None
    found: bool = False  # whether the file was found in the current folder, not named

    @property
    def kind(self) -> str:
        """The kind, "" if it is not set."""
        return str(self.variables.get("kind", self.values.get("kind", "")))

    def invalid(self, why: str) -> InvalidSource:
        """Return the error of this table."""
        where = f"{self.file}: " if self.file else ""
        return InvalidSource(f"{where}source {self.name!r}: {why}")


@dataclass(frozen=True, slots=True)
class DeclaredSource:
    """A source with its checked settings, not connected yet."""

    name: str
    settings: SourceSettings
    opener: Callable[[str, Any, IndexerSettings], Source]

    def limited(self, source: Source) -> LimitedSource:
        """Return the open source with the time limit of its settings."""
        settings = self.settings
        return LimitedSource(source, settings.timeout_s, settings.kind, settings.description)

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
    tables = {name: SourceTable(name, {}, own) for name, own in _by_name(variables).items()}
    for name, table in (file.values.get("sources", {}) if file else {}).items():
        own = tables.pop(_in_variables(name), SourceTable(name, {})).variables
        values = table if isinstance(table, dict) else {}
        found = file.found if file else False
        tables[name] = SourceTable(name, values, own, file.path if file else None, found)
    return dict(sorted(tables.items()))


def _by_name(variables: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return the set variables of sources by name, and by key in small letters."""
    found: dict[str, dict[str, str]] = {}
    for variable, value in variables.items():
        if variable.upper().startswith(VARIABLE):
            name, _, key = variable.lower()[len(VARIABLE) :].partition("__")
            if name and key and value:  # an empty variable counts as unset
                found.setdefault(name, {})[key] = value
    return found


def _in_variables(name: str) -> str:
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
    own = _by_name(variables).get(_in_variables(path.stem), {})
    return declared(SourceTable(path.stem, read_toml(path), own, path))


def declared(table: SourceTable) -> DeclaredSource:
    """Check the settings of a source; InvalidSource names the error in one line."""
    if not NAME.fullmatch(table.name):
        raise table.invalid("a source's name has at most 64 characters, of a-z, 0-9, - and _")
    if table.kind not in KINDS:
        what = f"there is no kind {table.kind[:100]!r}" if table.kind else "kind is not set"
        raise table.invalid(f"{what}; there are {', '.join(KINDS)}")
    module = import_module(f"retriever.sources.kinds.{table.kind}")
    try:
        settings = module.Settings(**_values(table, module.Settings))
    except ValidationError as error:
        raise table.invalid(why_invalid(error)) from None
    return DeclaredSource(table.name, settings, module.open_source)


def _values(table: SourceTable, settings: type[SourceSettings]) -> dict[str, Any]:
    """Return the values of a table and its variables, with secrets read from their files.

    A settings file may not contain secrets, and one found in the current folder may not redirect them.
    """
    fields = {name: Setting((name,), each) for name, each in settings.model_fields.items()}
    secrets = {name for name, each in fields.items() if each.secret}
    for name in secrets & table.values.keys():
        variable = f"{VARIABLE}{_in_variables(table.name)}__{name}".upper()
        raise table.invalid(f"{name} is not allowed in a settings file: set {variable} or {name}{FILE}")
    by_file = {name + FILE for name in secrets}
    decided = sorted((ADDRESSES & table.values.keys()) - table.variables.keys())
    if table.found and decided and (by_file & table.values.keys() or secrets & table.variables.keys()):
        raise table.invalid(
            f"{decided[0]} decides where a key is sent, but the file was found in the current folder; "
            f"if you trust it, name it: SHRAG_CONFIG={table.file}"
        )
    values = dict(table.values)
    for key in by_file.union(name for name, each in fields.items() if each.is_path) & values.keys():
        value = values[key]
        if table.file and isinstance(value, str) and value and not value.startswith(("/", "~")):
            values[key] = str(table.file.parent / value)  # paths are relative to the folder of the file
    for place, value in table.variables.items():
        *outer, key = place.split("__")
        inside = values
        for part in outer:
            inner = inside.get(part)
            inside[part] = dict(inner) if isinstance(inner, dict) else {}
            inside = inside[part]
        inside[key] = value
    for name in secrets:
        path = values.pop(f"{name}{FILE}", None)
        if path and name not in values:
            try:
                values[name] = read_secret(Path(str(path)).expanduser())
            except (OSError, ValueError, RuntimeError) as error:
                why = cause_of(error) if isinstance(error, OSError) else str(error)
                raise table.invalid(f"{name}{FILE}: {path} cannot be read: {why}") from None
    return values
