"""Values formatted as TOML; the standard library only reads it."""

import json
import re
from collections.abc import Mapping, Set
from typing import Any

BARE = re.compile(r"[A-Za-z0-9_-]+")


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
