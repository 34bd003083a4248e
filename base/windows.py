"""Long sequences, processed one window at a time."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def windows(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield the items in lists of `size`; the last list may be shorter."""
    rest = iter(items)
    while window := list(islice(rest, size)):
        yield window
