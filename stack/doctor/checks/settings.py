"""The settings: the source of each value, access to keys in the file, and variables without effect."""

import os
import stat
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path

from base.files.toml_text import toml_value
from base.settings.fields import PREFIX, variable_at
from base.settings.file import CONFIG, NAME, distrusted, is_ones_own_group, read_settings_file
from base.settings.sources import all_settings
from stack.doctor.findings import Examined, Finding
from stack.settings_listing import SettingInForce, settings_in_force

OF_TESTS = "SHRAG_TEST_"


def check_settings(examined: Examined) -> Iterator[Finding]:
    """Report the file, each set value with its source, and variables without effect."""
    del examined
    file = read_settings_file()
    found = settings_in_force(file)
    if file is None:
        yield Finding("file", "not configured", f"there is no {NAME}: variables and defaults apply")
    else:
        yield Finding("file", "ok", f"{len(file.values)} keys and tables", configured=str(file.path))
        yield from _permissions(file.path, found)
    for each in found:
        if each.source:
            shown = each.shown if isinstance(each.shown, str) else toml_value(each.shown)
            yield Finding(each.setting.key, "ok", shown, configured=each.source)
    yield from _unknown_variables()


def _permissions(path: Path, found: list[SettingInForce]) -> Iterator[Finding]:
    """Warn if others can write the file, or can read it although it contains a key."""
    status = path.stat()
    if why := distrusted(path, status):
        yield Finding("file, permissions", "warning", why, str(path), f"chmod go-w {path}, or make it yours")
    by_group = status.st_mode & stat.S_IRGRP and not is_ones_own_group(status.st_gid)
    secrets = [each.setting.key for each in found if each.setting.secret and each.source == str(path)]
    if secrets and (by_group or status.st_mode & stat.S_IROTH):
        what = f"others can read it, and it contains {', '.join(secrets)}"
        yield Finding("file, secrets", "warning", what, str(path), f"chmod 600 {path}")


def _unknown_variables() -> Iterator[Finding]:
    known, tables = {CONFIG}, [f"{each.variable}__" for each in all_settings().values() if dict in each.kinds]
    for place, setting in all_settings().items():
        known |= {setting.variable, *(variable_at(place[:length]) for length in range(1, len(place)))}
    for name in sorted(os.environ):
        if not name.upper().startswith(PREFIX) or name.upper() in known or name.startswith(OF_TESTS):
            continue
        if any(name.upper().startswith(table) for table in tables):
            continue
        near = get_close_matches(name.upper(), sorted(known), 1)
        mend = f"did you mean {near[0]}?" if near else "see shrag settings for all settings"
        yield Finding(name, "warning", "no setting has this name, so it has no effect", mend=mend)
