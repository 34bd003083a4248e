"""Every setting with its value and source, and a shrag.toml of the defaults."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from pydantic import SecretStr

from base.settings.fields import Place, Setting, prefix_of, settings_of
from base.settings.file import SettingsFile, toml_value
from base.settings.sources import all_settings, settings_classes, sources_of
from base.terminal.columns import wrap

HEADER = """\
# Settings of SHRAG. The defaults are commented out; to change one, remove the # before its name.
# Variables override this file: SHRAG_HOME overrides home, SHRAG_LLM__MODEL overrides model of [llm].
"""
CHOSEN_HEADER = """\
# Settings of SHRAG. All settings with their defaults: shrag settings --toml
# Variables override this file, and are the place of keys: SHRAG_LLM__API_KEY, SHRAG_ELASTICSEARCH__PASSWORD.
"""
COMMENT_WIDTH = 98
HIDDEN = "(hidden)"


@dataclass(frozen=True, slots=True)
class SettingInForce:
    """A setting, its value, and the variable or file that sets it; "" for the default."""

    setting: Setting
    value: Any
    source: str

    @property
    def shown(self) -> Any:
        """Return the value as JSON, without possible secrets: keys, and fields of a request."""
        if isinstance(self.value, SecretStr):
            return HIDDEN if self.value.get_secret_value() else ""
        if isinstance(self.value, dict):
            return dict.fromkeys(self.value, HIDDEN)
        if isinstance(self.value, frozenset):
            return sorted(self.value)
        return self.value if isinstance(self.value, bool | int | float | None) else str(self.value)

    @property
    def text(self) -> str:
        """Return the shown value as text: TOML for numbers and lists, "" for none."""
        shown = "" if self.shown is None else self.shown
        return shown if isinstance(shown, str) else toml_value(shown)

    def as_record(self) -> dict[str, Any]:
        """Return the record for JSON output."""
        return {
            "key": self.setting.key,
            "variable": self.setting.variable,
            "value": self.shown,
            "source": self.source or None,
            "description": self.setting.field.description,
        }


def settings_in_force(file: SettingsFile | None) -> list[SettingInForce]:
    """Read all settings; raises the error of a command with invalid settings."""
    found = []
    for settings in settings_classes():
        values, sources = settings(), sources_of(settings, file)
        for place, setting in settings_of(settings).items():
            value: Any = values
            for name in place[len(prefix_of(settings)) :]:
                value = getattr(value, name)
            found.append(SettingInForce(setting, value, sources[place]))
    return found


def listing_rows(settings: Iterable[SettingInForce]) -> list[tuple[str, ...]]:
    """Return the rows of a table, the header first."""
    rows: list[tuple[str, ...]] = [("setting", "value", "from", "what")]
    for each in settings:
        described = each.setting.field.description or ""
        rows.append((each.setting.key, each.text, each.source or "default", described))
    return rows


def file_lines(chosen: Mapping[Place, Any] | None = None) -> Iterator[str]:
    """Yield the lines of a shrag.toml with these settings, by default all; without a value as comments."""
    yield from (HEADER if chosen is None else CHOSEN_HEADER).splitlines()
    known, values = all_settings(), chosen or {}
    settings = [known[place] for place in (known if chosen is None else chosen)]
    # Settings outside of tables come before all tables.
    ordered = sorted(settings, key=lambda setting: len(setting.place) > 1)
    for table, inside in groupby(ordered, key=lambda setting: setting.place[:-1]):
        yield ""
        if table:
            yield f"[{'.'.join(table)}]"
        for setting in inside:
            yield from (f"# {line}" for line in wrap(setting.field.description or "", COMMENT_WIDTH))
            if (value := values.get(setting.place)) is not None:
                yield f"{setting.place[-1]} = {toml_value(value)}"
                continue
            default = setting.field.get_default(call_default_factory=True)
            if isinstance(default, SecretStr):
                default = default.get_secret_value()
            yield f"#{setting.place[-1]} = {'' if default is None else toml_value(default)}".rstrip()
