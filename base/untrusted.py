"""Untrusted input from servers and files: JSON and text, parsed and displayed safely."""

import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic import SecretStr
from pydantic_core import from_json

SHOWN_CHARACTERS = 300
FORBIDDEN_IN_XML = re.compile(
    "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)  # XML 1.0, section 2.2
CREDENTIALS = re.compile(r"(?<=://)[^\s/?#]+@")  # credentials in an address


def read_json(content: bytes | str) -> Any:
    """Parse JSON; ValueError if it is invalid, deeply nested, or contains NaN or Infinity."""
    return from_json(content, allow_inf_nan=False, cache_strings="none")


def message_in(content: bytes) -> str:
    """Return the message in an error response, whose format no standard defines."""
    try:
        return message_of(read_json(content))
    except ValueError:
        return content.decode("utf-8", "replace")


def message_of(said: Any) -> str:
    """Return the message in the JSON of an error; other values are returned as JSON text."""
    # {"error": {"message": …}}, {"error": {"root_cause": [{"reason": …}]}} and similar
    for name in ("error", "root_cause", "message", "detail", "reason"):
        if isinstance(said, Mapping) and said.get(name):
            said = said[name]
            said = said[0] if name == "root_cause" and isinstance(said, list) else said
    return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)


def one_line(text: str, key: SecretStr | None = None) -> str:
    """Format one printable line of at most SHOWN_CHARACTERS; mask the key and credentials in addresses."""
    shown = CREDENTIALS.sub("***@", without_key(text, key)[: 10 * SHOWN_CHARACTERS])
    line = " ".join("".join(char if char.isprintable() else " " for char in shown).split()).rstrip(".")
    return line if len(line) <= SHOWN_CHARACTERS else line[: SHOWN_CHARACTERS - 1] + "…"


def without_key(text: str, key: SecretStr | None) -> str:
    """Mask a key that a server may repeat, plain or as a JSON string."""
    if not key:
        return text
    secret = key.get_secret_value()
    return text.replace(secret, "***").replace(json.dumps(secret)[1:-1], "***")
