"""A list that counts how often its items are read, for tests of work that grows with the input."""

from collections.abc import Iterator
from typing import Any


class CountedReads(list[Any]):
    """A list with the number of reads of its items, by place or by iteration."""

    reads = 0

    def __getitem__(self, place: Any) -> Any:
        self.reads += 1
        return super().__getitem__(place)

    def __iter__(self) -> Iterator[Any]:
        for item in super().__iter__():
            self.reads += 1
            yield item
