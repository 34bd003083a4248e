"""Values in the JSON of services, whose fields may be missing or of another type."""

from collections.abc import Mapping
from typing import Any

from indexer.corpora.papers import MOST_CITATIONS


def table(value: Any) -> Mapping[str, Any]:
    """Return an object, an empty one for other values."""
    return value if isinstance(value, Mapping) else {}


def items(value: Any) -> list[Any]:
    """Return a list, an empty one for other values."""
    return value if isinstance(value, list) else []


def at(value: Any, *keys: str) -> Any:
    """Return a value in nested objects, None if one of them is missing."""
    for key in keys:
        value = table(value).get(key)
    return value


def citations(value: Any) -> int | None:
    """Return a number of citations, None for other values."""
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_CITATIONS
    return value if is_count else None
