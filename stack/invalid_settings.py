"""Messages for invalid settings: the setting, the source of its value, and the reason."""

from contextlib import suppress

from pydantic import ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, SettingsError

from base.errors import InvalidSettingsFile
from base.settings.fields import prefix_of, settings_of, variable_at
from base.settings.file import SettingsFile, read_settings_file
from base.settings.sources import all_settings, settings_classes, sources_of


def describe(error: ValueError) -> str | None:
    """Describe the invalid settings, one per line; return None for errors that are not about settings."""
    if isinstance(error, SettingsError):  # a group that is not JSON; the message names the field
        name = str(error).partition('field "')[2].partition('"')[0]
        instead = ", ".join(_variables_below((name,))[:2])
        place = next((at for at in all_settings() if at[-1] == name and not instead), (name,))
        return f"{variable_at(place)} must be JSON" + (f"; or set {instead} … instead" if instead else "")
    if isinstance(error, ValidationError):
        # The error names its model; models other than settings are ignored.
        for settings in settings_classes():
            if settings.__name__ == error.title:
                return "\n".join(_invalid_setting(settings, fault) for fault in error.errors())
    return None


def _variables_below(place: tuple[str, ...]) -> list[str]:
    """Return the variables of a group of settings."""
    return [setting.variable for at, setting in all_settings().items() if at[: len(place)] == place != at]


def _invalid_setting(settings: type[BaseSettings], fault: ErrorDetails) -> str:
    """Name the variable or the file and the reason, without the value, which may be a key."""
    place = (*prefix_of(settings), *map(str, fault["loc"]))
    if fault["type"] == "extra_forbidden":
        there_are = ", ".join(_variables_below(place[:-1]))
        return f"{variable_at(place)}: unknown setting; the settings here are {there_are}"
    known = settings_of(settings)
    while place not in known and place[1:] and not _variables_below(place):  # deep inside a value
        place = place[:-1]
    return f"{_where(settings, place)}: {fault['msg'].removeprefix('Value error, ')}"


def _where(settings: type[BaseSettings], place: tuple[str, ...]) -> str:
    """Name the variable, or the file and the key, that sets the value of a setting or a group."""
    file: SettingsFile | None = None
    with suppress(InvalidSettingsFile):
        file = read_settings_file()
    sources = sources_of(settings, file).items()
    given = {source for at, source in sources if at[: len(place)] == place} - {""}
    if file is None or str(file.path) not in given:
        return variable_at(place)
    key = ".".join(place) if place in settings_of(settings) else f"[{'.'.join(place)}]"
    in_file = f"{file.path}: {key}"
    return in_file if len(given) == 1 else f"{variable_at(place)} and {in_file}"
