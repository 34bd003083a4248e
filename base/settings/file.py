"""The file `shrag.toml`: search order, trust check, parsing, and values as TOML.

A file in the current folder is found rather than named by the user, and the folder may belong to somebody
else. The file is read only if it belongs to this user or root. Otherwise the command fails: ignoring the file
silently would run with other settings than the file says.
"""

import json
import os
import re
from collections.abc import Mapping, Set
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from base.errors import InvalidSettingsFile
from base.files.base_directories import base_directory, in_home
from base.files.regular_files import read_regular

CONFIG = "SHRAG_CONFIG"  # the variable that names the file; empty = none
NAME = "shrag.toml"
MOST_BYTES = 100_000
WITHOUT = f"{CONFIG}= ignores it"
BARE = re.compile(r"[A-Za-z0-9_-]+")  # a key without quotes


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
    named = os.environ.get(CONFIG)
    if named is not None:
        try:
            path = in_home(Path(named)).absolute()
        except (ValueError, OSError) as error:
            raise InvalidSettingsFile(f"{CONFIG}: {error}") from None
        return SettingsFile(path, read_toml(path, WITHOUT)) if named else None
    here, folders = Path(NAME).absolute(), [Path("/etc")]
    with suppress(ValueError):  # no home folder
        folders.insert(0, base_directory("XDG_CONFIG_HOME", "~/.config"))
    for path in (here, *(folder / "shrag" / NAME for folder in folders)):
        if os.path.lexists(path):
            return SettingsFile(path, read_toml(path, WITHOUT, own=path == here), found=path == here)
    return None


def read_toml(path: Path, remedy: str = "", *, own: bool = False) -> dict[str, Any]:
    """Read a settings file; InvalidSettingsFile if it cannot be used.

    With `own`, it is also refused if it belongs to somebody else.
    """
    import tomllib

    def check(status: os.stat_result) -> None:
        if own and {path.lstat().st_uid, status.st_uid} - {0, os.geteuid()}:
            raise InvalidSettingsFile(
                f"{path} belongs to another user: a settings file found in the current folder must be yours",
                remedy=("change that", f"name it ({CONFIG}={path}) if you trust it", WITHOUT),
            )

    try:
        values = tomllib.loads(read_regular(path, MOST_BYTES, check).decode("utf-8-sig"))
    except OSError as error:
        raise InvalidSettingsFile(f"{path} cannot be read: {error.strerror}", remedy=remedy) from None
    except (ValueError, RecursionError) as error:  # contains the line number
        raise InvalidSettingsFile(f"{path} is not TOML: {error}") from None
    for key, value in values.items():
        try:  # a value of a variable is JSON
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidSettingsFile(f"{path}: {key}: no setting has such a value: {error}") from None
    return values


def toml_value(value: Any) -> str:
    """Format the value of a key: text, numbers, lists, and inline tables (TOML 1.0)."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        pairs = (f"{toml_key(key)} = {toml_value(inner)}" for key, inner in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, list | tuple | Set):
        inside = sorted(value) if isinstance(value, Set) else value
        return f"[{', '.join(map(toml_value, inside))}]"
    # JSON strings are valid TOML, except for one character that JSON does not escape.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007F")


def toml_key(key: str) -> str:
    """Format a key, quoted if necessary."""
    return key if BARE.fullmatch(key) else toml_value(key)
