"""Sources of settings: the call, variables `SHRAG_…`, the file `shrag.toml`, defaults.

The location and trust of the file are described in `file.py`.
"""

import os
from collections.abc import Mapping
from copy import deepcopy
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from pydantic_settings import BaseSettings, EnvSettingsSource, InitSettingsSource, PydanticBaseSettingsSource

from base.errors import InvalidSettingsFile
from base.settings.fields import PREFIX, Place, Setting, prefix_of, settings_of, variable_at
from base.settings.file import CONFIG, SettingsFile, read_settings_file

# One settings file serves all packages; each package has a module `settings`.
PACKAGES = ("indexer", "retriever", "generator", "server")
MODEL_OR_FOLDER = "a path if it begins with ./ or ../"  # marks a model name that may be a local folder
# Settings that decide where a key is sent, and who else can read it.
ADDRESSES = frozenset({"base_url", "url", "ca_certs", "allow_plain_http"})
LISTS_ALL = "shrag settings lists all settings"
NAMED_FILE_ONLY = (
    "not from a file that was found"  # marks a setting that only an explicitly named file may enable
)


class LayeredSettings(BaseSettings):
    """Settings with this precedence: variables, file, defaults."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return the sources in order of precedence."""
        del dotenv_settings, file_secret_settings
        file = read_settings_file()
        if file is None:
            return init_settings, env_settings
        variables = variables_source(settings_cls)
        check_names(file)
        if file.found:
            _refuse_dangers(settings_cls, file, variables())
        return init_settings, variables, InitSettingsSource(settings_cls, values_of(settings_cls, file))


def variables_source(settings: type[BaseSettings]) -> EnvSettingsSource:
    """Return the environment variables of a class; an empty variable of a path counts as unset."""
    source = EnvSettingsSource(settings)
    paths = {each.variable.lower() for each in settings_of(settings).values() if each.is_path}
    source.env_vars = {
        name: value for name, value in source.env_vars.items() if value or name.lower() not in paths
    }
    return source


def values_of(settings: type[BaseSettings], file: SettingsFile) -> dict[str, Any]:
    """Return the values of a class in a file; relative paths are resolved against the file's folder."""
    above = prefix_of(settings)
    values = value_at(file.values, above) or {}
    own = deepcopy({key: value for key, value in values.items() if key in settings.model_fields})
    for place, setting in settings_of(settings).items():
        *inside, name = place[len(above) :]
        table = value_at(own, tuple(inside)) or {}
        value = table.get(name)
        if isinstance(value, str) and value and _is_relative(setting, value):
            table[name] = str(file.path.parent / value)
    return own


def _is_relative(setting: Setting, value: str) -> bool:
    if MODEL_OR_FOLDER in setting.field.metadata:
        return value.startswith(("./", "../"))
    return setting.is_path and not value.startswith(("/", "~"))


def value_at(values: Any, place: Place) -> Any:
    """Return the value at a place of nested tables, None if there is none."""
    for part in place:
        if not isinstance(values, Mapping) or part not in values:
            return None
        values = values[part]
    return values


def _refuse_dangers(settings: type[BaseSettings], file: SettingsFile, variables: Mapping[str, Any]) -> None:
    """Raise InvalidSettingsFile if a found file sets a value that requires an explicitly named file."""
    above, known = prefix_of(settings), settings_of(settings)
    keys = {
        place[:-1]: setting.variable
        for place, setting in known.items()
        if setting.secret and value_at(variables, place[len(above) :])
    }
    for place, setting in known.items():
        in_file, in_variable = value_at(file.values, place), value_at(variables, place[len(above) :])
        why = ""
        if in_file and NAMED_FILE_ONLY in setting.field.metadata:
            why = "is not read from a file in the current folder, which"
        elif in_file is not None and in_variable is None and place[-1] in ADDRESSES and place[:-1] in keys:
            why = f"would decide where the value of {keys[place[:-1]]} is sent, and a file found here"
        if why:
            raise InvalidSettingsFile(
                f"{file.path}: {setting.key} {why} may be somebody else's",
                remedy=(f"name it ({CONFIG}={file.path}) if you trust it", f"set {setting.variable}"),
            )


@cache
def settings_classes() -> tuple[type[LayeredSettings], ...]:
    """Return the settings classes of all installed packages."""
    modules = [import_module(f"{name}.settings") for name in PACKAGES if find_spec(name)]
    return tuple(
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, LayeredSettings)
        and value.__module__ == module.__name__
    )


def all_settings() -> dict[Place, Setting]:
    """Return all settings by place."""
    return {
        place: setting for settings in settings_classes() for place, setting in settings_of(settings).items()
    }


def check_names(file: SettingsFile) -> None:
    """Raise InvalidSettingsFile for the first unknown key of a file, and for a value in place of a table."""
    known = all_settings()
    tables = {place[:length] for place in known for length in range(1, len(place))}

    def check(place: Place, value: Any) -> None:
        key, kinds = ".".join(place), known[place].kinds if place in known else frozenset()
        why, remedy = "", ""
        if place in tables and isinstance(value, dict):
            for name, inner in value.items():
                check((*place, name), inner)
        elif place in tables:
            why = f"{key} is a table: [{key}], its settings below it"
        elif place not in known:
            near = ", ".join(setting.key for setting in similar_settings(key))
            why, remedy = f"there is no setting {key}", f"there is {near}" if near else LISTS_ALL
        elif isinstance(value, dict | bool) and type(value) not in kinds:
            why = f"{key}: it cannot be {'a table' if isinstance(value, dict) else 'true or false'}"
        if why:
            raise InvalidSettingsFile(f"{file.path}: {why}", remedy=remedy)

    for key, value in file.values.items():
        check((key,), value)


def similar_settings(name: str) -> list[Setting]:
    """Return the settings with the same name as an unknown key or variable, or with a similar one."""
    wanted = name.lower().removeprefix(PREFIX.lower()).replace("__", ".").replace("-", "_")
    known = {setting.key: setting for setting in all_settings().values()}
    if wanted in known:
        return [known[wanted]]
    same = [each for key, each in known.items() if key.endswith(f".{wanted.rpartition('.')[2]}")]
    return same or [known[key] for key in get_close_matches(wanted, known, 3)]


def sources_of(settings: type[BaseSettings], file: SettingsFile | None) -> dict[Place, str]:
    """Return the variable or the file that sets each setting of a class, "" for its default."""
    variables, names = variables_source(settings)(), {name.upper() for name in os.environ}
    found = {}
    for place, setting in settings_of(settings).items():
        group, source = variable_at(place[:-1]), ""
        if value_at(variables, place[len(prefix_of(settings)) :]) is not None:
            source = group if group in names and setting.variable not in names else setting.variable
        elif file and value_at(file.values, place) is not None:
            source = str(file.path)
        found[place] = source
    return found
