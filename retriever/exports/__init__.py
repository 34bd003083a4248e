"""The formats in which references are taken along, a file each: what `--export` names.

A new format is a new file here that holds `EXPORT`; its name is the file's, with hyphens. A file that begins
with an underscore is no format. Each takes papers' records (as `retriever.papers.records` reads them), holds
them in their order, and gives the same text for the same records.
"""

import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from retriever.errors import BadFilter

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Export:
    """A format: its media type, the ending of its files, and what writes records piece by piece."""

    media_type: str
    extension: str
    write: Callable[[Iterable[Record]], Iterator[str]]

    def encoded(self, records: Iterable[Record]) -> Iterator[bytes]:
        """Yield the file in UTF-8, a piece at a time."""
        return (piece.encode() for piece in self.write(records))


def export_names() -> tuple[str, ...]:
    """Name the formats there are."""
    return tuple(_modules())


@cache
def export_named(name: str) -> Export:
    """Return a format; BadFilter, with those there are, where none has that name."""
    if module := _modules().get(name):
        export: Export = import_module(f"{__name__}.{module}").EXPORT
        return export
    raise BadFilter(f"no format {name!r}; there are {', '.join(export_names())}")


def _modules() -> dict[str, str]:
    """Return the module of each format."""
    modules = (module.name for module in pkgutil.iter_modules(__path__))
    return {module.replace("_", "-"): module for module in modules if not module.startswith("_")}
