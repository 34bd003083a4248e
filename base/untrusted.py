"""What comes from outside, a server or a file of somebody else's: JSON and text, read and shown safely."""

import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic import SecretStr
from pydantic_core import from_json

SHOWN_CHARACTERS = 300
CREDENTIALS = re.compile(r"(?<=://)[^\s/?#]+@")  # of the server's own, in an address that it tells


def read_json(content: bytes | str) -> Any:
    """Read JSON; ValueError where it is none, is nested deeply, or holds NaN or Infinity."""
    return from_json(content, allow_inf_nan=False, cache_strings="none")


def message_in(content: bytes) -> str:
    """Find what a server says in the body of an error, whose shape no standard fixes."""
    try:
        return message_of(read_json(content))
    except ValueError:
        return content.decode("utf-8", "replace")


def message_of(said: Any) -> str:
    """Find what a server says in the JSON of an error; what is no text comes as JSON."""
    # {"error": {"message": …}}, {"error": {"root_cause": [{"reason": …}]}} and their like
    for name in ("error", "root_cause", "message", "detail", "reason"):
        if isinstance(said, Mapping) and said.get(name):
            said = said[name]
            said = said[0] if name == "root_cause" and isinstance(said, list) else said
    return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)


def one_line(text: str, key: SecretStr | None = None) -> str:
    """Make one printable line of at most SHOWN_CHARACTERS, without the key, and addresses without theirs."""
    shown = CREDENTIALS.sub("***@", without_key(text, key)[: 10 * SHOWN_CHARACTERS])
    line = " ".join("".join(char if char.isprintable() else " " for char in shown).split()).rstrip(".")
    return line if len(line) <= SHOWN_CHARACTERS else line[: SHOWN_CHARACTERS - 1] + "…"


def without_key(text: str, key: SecretStr | None) -> str:
    """Hide a key, which a server may repeat, as it is or as a string of JSON."""
    if not key:
        return text
    secret = key.get_secret_value()
    return text.replace(secret, "***").replace(json.dumps(secret)[1:-1], "***")
