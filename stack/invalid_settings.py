"""Which variable `SHRAG_…` does not fit, and why, from what the settings' library raises."""

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import SettingsError

from generator.settings import GeneratorSettings
from indexer.settings import IndexerSettings
from retriever.settings import RetrieverSettings

# By the name that the library calls a model in an error; of another model it is none of settings.
SETTINGS = {
    settings.__name__: settings for settings in (IndexerSettings, RetrieverSettings, GeneratorSettings)
}


def describe(error: ValueError) -> str | None:
    """Say what is wrong with which variable, a line each; None where the error is not of settings."""
    if isinstance(error, SettingsError):  # a group that is no JSON; its message names the field
        name = str(error).partition('field "')[2].partition('"')[0]
        instead = ", ".join(_settings_below(name)[:2])
        return f"SHRAG_{name.upper()} must hold JSON" + (f"; or set {instead} … instead" if instead else "")
    if isinstance(error, ValidationError) and error.title in SETTINGS:
        return "\n".join(map(_invalid_setting, error.errors()))
    return None


def _settings_below(name: str) -> list[str]:
    """Return the variables of a group of settings."""
    kinds = [
        settings.model_fields[name].annotation
        for settings in SETTINGS.values()
        if name in settings.model_fields
    ]
    fields = [
        field
        for kind in kinds
        if isinstance(kind, type) and issubclass(kind, BaseModel)
        for field in kind.model_fields
    ]
    return [f"SHRAG_{name.upper()}__{field.upper()}" for field in fields]


def _invalid_setting(fault: ErrorDetails) -> str:
    """Name the variable and what is wrong with it, without its value: it may be a key."""
    variable = "SHRAG_" + "__".join(map(str, fault["loc"])).upper()
    if fault["type"] == "extra_forbidden":
        there_are = ", ".join(_settings_below(str(fault["loc"][0])))
        return f"{variable}: there is no such setting; there are {there_are}"
    return f"{variable}: {fault['msg'].removeprefix('Value error, ')}"
