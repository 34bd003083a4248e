"""Hide the address of the model's server in messages to readers; only the settings show it."""

import re
from typing import Any

from base.notes import Note
from generator.request import Settings

SHOWN = "the server of the model"


def without_address(record: Any, settings: Settings) -> Any:
    """Replace the address of the model's server, with its path, in all texts of a JSON value."""
    address = settings.generator.llm.base_url
    if not address:
        return record
    return _replaced(record, re.compile(rf"{re.escape(address.removesuffix('/v1'))}(?:/[\w/-]*)?"))


def _replaced(value: Any, address: re.Pattern[str]) -> Any:
    match value:
        case Note():
            return Note(value.code, **_replaced(dict(value.values), address))
        case str():
            return address.sub(SHOWN, value)
        case dict():
            return {name: _replaced(each, address) for name, each in value.items()}
        case list() | tuple():
            return [_replaced(each, address) for each in value]
    return value
