"""Values as TOML writes them; the standard library only reads it."""

import json
import re
from collections.abc import Mapping, Set
from typing import Any

BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_value(value: Any) -> str:
    """Return a value as it stands behind a key: text, numbers, lists, and tables in one line (TOML 1.0)."""
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
    # JSON's strings are TOML's, but for a character that JSON leaves as it is.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007F")


def toml_key(key: str) -> str:
    """Return a key, in quotes where it needs them."""
    return key if BARE.fullmatch(key) else toml_value(key)
