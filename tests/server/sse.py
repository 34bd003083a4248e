"""Server-sent events as a browser reads them (WHATWG HTML, 9.2.6)."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Event:
    """An event: its number, its name, and its data."""

    number: int
    name: str
    data: Any


def events_of(lines: Iterable[str]) -> Iterator[Event]:
    """Yield the events of a stream's lines; comments are left out."""
    fields: dict[str, str] = {}
    for line in lines:
        if not line:
            if "data" in fields:
                yield Event(int(fields.get("id", 0)), fields["event"], json.loads(fields["data"]))
            fields = {}
            continue
        name, _, value = line.partition(":")
        if name:
            fields[name] = value.removeprefix(" ")
