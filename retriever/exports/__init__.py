"""The reference formats for `--export`, one file each.

A new format is a new file here with a constant `EXPORT`. Its name is that of the file, with hyphens. Each
format writes papers' records (from `retriever.papers.records`) in their order, and the same text for the same
records.
"""

import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from base.notes import Note
from retriever.errors import BadFilter

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Export:
    """A format: its media type, the ending of its files, and the function that writes records in pieces."""

    media_type: str
    extension: str
    write: Callable[[Iterable[Record]], Iterator[str]]

    def encoded(self, records: Iterable[Record]) -> Iterator[bytes]:
        """Yield the file in UTF-8, a piece at a time."""
        return (piece.encode() for piece in self.write(records))


def export_names() -> tuple[str, ...]:
    """Return the names of all formats."""
    return tuple(module.name.replace("_", "-") for module in pkgutil.iter_modules(__path__))


@cache
def export_named(name: str) -> Export:
    """Return a format; BadFilter, with all names, if none has that name."""
    if name not in export_names():
        raise BadFilter(Note("no_such_format", format=name, there=", ".join(export_names())))
    export: Export = import_module(f"{__name__}.{name.replace('-', '_')}").EXPORT
    return export
