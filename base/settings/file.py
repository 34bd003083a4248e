"""The file `shrag.toml`: search order, trust check and parsing.

A file in the current folder is found rather than named by the user, and the folder may belong to somebody
else. The file is read only if it belongs to this user or root and nobody else can write to it. Otherwise the
command fails: ignoring the file silently would run with other settings than the file says.
"""

import math
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, time
from pathlib import Path
from typing import Any

from base.errors import InvalidSettingsFile
from base.files.base_directories import base_directory, in_home
from base.files.durable import cause_of
from base.files.regular_files import open_regular

CONFIG = "SHRAG_CONFIG"  # the variable that names the file; empty = none
NAME = "shrag.toml"
MOST_BYTES = 100_000
DEEPEST = 20  # nesting depth of tables and lists
MOST_DOTS = 1_000  # per line: the time for parsing a key is quadratic in its parts
WITHOUT = f"{CONFIG}= ignores it"


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """Content of a file; `found` means that it was found in the current folder."""

    path: Path
    values: Mapping[str, Any]
    found: bool = False


def read_settings_file() -> SettingsFile | None:
    """Read the settings file; None if there is none.

    The variable SHRAG_CONFIG names it; an empty value means no file. Without the variable, the first existing
    shrag.toml is used: in the current folder, in $XDG_CONFIG_HOME/shrag (~/.config/shrag), in /etc/shrag.

    Raises:
        InvalidSettingsFile: the file is unreadable, not TOML, or was found and may belong to somebody else.
    """
    place = settings_path()
    if place is None:
        return None
    path, found = place
    text = _text_of(path, found=found, without=WITHOUT)
    return SettingsFile(path, _parsed(path, text), found)


def read_toml(path: Path) -> Mapping[str, Any]:
    """Read the settings file named by a call; InvalidSettingsFile if it cannot be used."""
    return _parsed(path, _text_of(path))


def settings_path() -> tuple[Path, bool] | None:
    """Return the path of the file, and whether it was found in the current folder; None if there is none."""
    named = os.environ.get(CONFIG)
    if named is not None:
        try:
            return (in_home(Path(named)).absolute(), False) if named else None
        except (ValueError, OSError) as error:
            raise InvalidSettingsFile(f"{CONFIG}: {error}") from None
    if os.path.lexists(NAME):
        return Path(NAME).absolute(), True
    folders = [Path("/etc")]
    with suppress(ValueError):  # no home folder
        folders.insert(0, base_directory("XDG_CONFIG_HOME", "~/.config"))
    places = (folder / "shrag" / NAME for folder in folders)
    return next(((place, False) for place in places if os.path.lexists(place)), None)


def _text_of(path: Path, *, found: bool = False, without: str = "") -> str:
    try:
        with open_regular(path) as file:
            if found and (why := distrusted(path, os.fstat(file.fileno()))):
                raise InvalidSettingsFile(
                    f"{path} {why}: a settings file found in the current folder must be yours alone",
                    remedy=("change that", f"name it ({CONFIG}={path}) if you trust it", without),
                )
            data = file.read(MOST_BYTES + 1) or b""
    except (OSError, ValueError) as error:
        why = cause_of(error) if isinstance(error, OSError) else str(error)
        raise InvalidSettingsFile(f"{path} cannot be read: {why}", remedy=without) from None
    if len(data) > MOST_BYTES:
        raise InvalidSettingsFile(f"{path} cannot be read: it is larger than {MOST_BYTES:,} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidSettingsFile(f"{path}, line {line}: it is not UTF-8") from None


def distrusted(path: Path, opened: os.stat_result) -> str:
    """Describe why an opened file may belong to somebody else; "" if it is trusted."""
    own = {0, os.geteuid()}
    if opened.st_uid not in own or path.lstat().st_uid not in own:
        return "belongs to another user"
    # Many systems give each user a private group, and write access to it.
    shared = opened.st_mode & stat.S_IWGRP and opened.st_gid != os.getegid()
    return "can be written by others" if shared or opened.st_mode & stat.S_IWOTH else ""


def _parsed(path: Path, text: str) -> dict[str, Any]:
    import tomllib

    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") > MOST_DOTS:
            raise InvalidSettingsFile(
                f"{path}, line {number}: nested too deeply, by {MOST_DOTS:,} dots or more"
            )
    try:
        values = tomllib.loads(text)
    except ValueError as error:  # contains the line number
        raise InvalidSettingsFile(f"{path} is not TOML: {error}") from None
    except RecursionError:
        raise InvalidSettingsFile(f"{path}: it is nested too deeply") from None
    for key, value in values.items():
        if why := _not_plain(value):
            raise InvalidSettingsFile(f"{path}: {key}: {why}")
    return values


def _not_plain(value: Any) -> str:
    """Describe a value that JSON, and therefore a variable, cannot represent; "" if there is none."""
    level = [value]
    for _ in range(DEEPEST):
        for each in level:
            if isinstance(each, date | time):
                return "no setting is a date or a time; put it in quotes"
            if isinstance(each, float) and not math.isfinite(each):
                return "no setting may be infinite or NaN"
        level = [
            inner
            for each in level
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return ""
    return "it is nested too deeply"
