"""Which variable `SHRAG_…` does not fit, and why, from what the settings' library raises."""

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import SettingsError

from generator.settings import CacheSettings, GeneratorSettings, LanguageModelSettings
from indexer.settings import ElasticsearchSettings, EncoderSettings, IndexerSettings, RerankerSettings
from retriever.settings import RetrieverSettings

# By the name that the library calls a model in an error; of another model it is none of settings.
SETTINGS = {settings.__name__ for settings in (IndexerSettings, RetrieverSettings, GeneratorSettings)}


def describe(error: ValueError) -> str | None:
    """Say what is wrong with which variable, a line each; None where the error is not of settings."""
    if isinstance(error, SettingsError):
        return _no_json(error)
    if isinstance(error, ValidationError) and error.title in SETTINGS:
        return "\n".join(map(_invalid_setting, error.errors()))
    return None


def _settings_below(name: str) -> list[str]:
    """Return the variables of a group of settings."""
    groups: dict[str, type[BaseModel]] = {
        "llm": LanguageModelSettings,
        "cache": CacheSettings,
        "elasticsearch": ElasticsearchSettings,
        "encoder": EncoderSettings,
        "reranker": RerankerSettings,
    }
    fields = groups[name].model_fields if name in groups else ()
    return [f"SHRAG_{name.upper()}__{field.upper()}" for field in fields]


def _no_json(error: SettingsError) -> str:
    """Name the variable of a group that does not hold JSON; the library names the field in its message."""
    name = str(error).partition('field "')[2].partition('"')[0]
    instead = _settings_below(name)[:2]
    return f"SHRAG_{name.upper()} must hold JSON" + (
        f"; or set {', '.join(instead)} … instead" if instead else ""
    )


def _invalid_setting(fault: ErrorDetails) -> str:
    """Name the variable and what is wrong with it, without its value: it may be a key."""
    variable = "SHRAG_" + "__".join(map(str, fault["loc"])).upper()
    if fault["type"] == "extra_forbidden":
        there_are = ", ".join(_settings_below(str(fault["loc"][0])))
        return f"{variable}: there is no such setting; there are {there_are}"
    return f"{variable}: {fault['msg'].removeprefix('Value error, ')}"
