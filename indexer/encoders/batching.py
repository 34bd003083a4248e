"""One queue of texts sorted by length: batches with little padding, results in the order given.

Padding costs as much as text does. So a window of texts is tokenised once, sorted by its numbers of tokens
and cut into batches of at most so many tokens, padding counted; the longest go first, so that a batch too
large for the memory shows at once. While a window is computed, the next is tokenised in a thread, and while a
batch is computed, the next is sent to the device.

The result of a text does not depend on what else stands in the queue beyond the rounding of the arithmetic:
padding is masked, but sums may be taken in another order. In float32 that is about 1e-6 a number, in half
precision some thousandths.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeVar

import numpy as np

from indexer.encoders import Progress
from indexer.encoders.arrays import Vectors

Text = TypeVar("Text")
Item = TypeVar("Item", bound=Sized)  # a text as the model reads it; its length is in tokens

Started = Callable[[], Vectors]  # a batch under way: called, it waits for the rows

ALIKE = 0.9  # of the longest's tokens: shorter texts wait for the next batch
ENOUGH = 1 / 16  # of the tokens of a batch: fewer are not left alone for the sake of padding
WINDOW = 4096  # texts that are sorted together, and whose tokens are held


class OutOfMemory(Exception):
    """The device has no room for a batch of this size."""


class TextTooLarge(Exception):
    """The device has no room for one text alone; `position` counts from the first text of the queue."""

    def __init__(self, position: int, tokens: int) -> None:
        """Take down which text, and how long it is."""
        super().__init__(f"text {position} of {tokens} tokens")
        self.position = position
        self.tokens = tokens


def cut_into_batches(lengths: Sequence[int], batch_tokens: int) -> Iterator[list[int]]:
    """Yield positions batch by batch, the longest first; equal lengths stay in their order.

    A batch ends where it is full, and where shorter texts would be mostly padding while it is large enough to
    keep a processor busy.

    Args:
        lengths: tokens of each text.
        batch_tokens: texts of a batch × tokens of its longest, at most; a text longer than that is alone.
    """
    batch: list[int] = []
    width = 0
    for position in np.argsort([-length for length in lengths], kind="stable").tolist():
        full = (len(batch) + 1) * width > batch_tokens
        padded = lengths[position] < ALIKE * width and len(batch) * width >= ENOUGH * batch_tokens
        if batch and (full or padded):
            yield batch
            batch = []
        if not batch:
            width = lengths[position]
        batch.append(position)
    if batch:
        yield batch


@dataclass(frozen=True, slots=True)
class BatchQueue(Generic[Text, Item]):
    """Texts to rows of numbers.

    Attributes:
        tokenise: turns texts into what the model reads, in the order given.
        start: begins a batch of these and returns at once where the device allows; raises OutOfMemory.
        batch_tokens: tokens of a batch, padding included.
        window: texts that are sorted together.
    """

    tokenise: Callable[[Sequence[Text]], list[Item]]
    start: Callable[[Sequence[Item]], Started]
    batch_tokens: int
    window: int = WINDOW

    def run(self, texts: Iterable[Text], progress: Progress | None = None) -> Iterator[Vectors]:
        """Yield the rows window by window, in the order of the texts, which are read one window ahead.

        Raises:
            TextTooLarge: one text alone does not fit the device.
        """
        done = 0

        def advance(count: int) -> None:
            nonlocal done
            done += count
            if progress is not None:
                progress(done)

        source = iter(texts)
        window = list(islice(source, self.window))
        if 0 < len(window) < self.window:  # no second window, no thread: a question is answered sooner
            yield self._rows(self.tokenise(window), 0, advance)
            return
        before = 0
        with ThreadPoolExecutor(1, "tokenise") as thread:
            tokenised = thread.submit(self.tokenise, window)
            while window:
                items = tokenised.result()
                window = list(islice(source, self.window))
                tokenised = thread.submit(self.tokenise, window)
                yield self._rows(items, before, advance)
                before += len(items)

    def _rows(self, items: Sequence[Item], before: int, advance: Callable[[int], None]) -> Vectors:
        rows: list[Vectors] = []
        positions: list[int] = []
        under_way: deque[tuple[list[int], Started]] = deque()

        def finish() -> None:
            batch, found = under_way.popleft()
            rows.append(found())
            positions.extend(batch)
            advance(len(batch))

        for batch in cut_into_batches([len(item) for item in items], self.batch_tokens):
            for begun in self._begun(items, batch, before):
                under_way.append(begun)
                if len(under_way) > 1:
                    finish()
        while under_way:
            finish()
        computed = np.concatenate(rows)
        ordered = np.empty_like(computed)
        ordered[positions] = computed
        return ordered

    def _begun(
        self, items: Sequence[Item], batch: list[int], before: int
    ) -> Iterator[tuple[list[int], Started]]:
        """Begin a batch, or its halves where the device has no room for it."""
        try:
            begun = self.start([items[position] for position in batch])
        except OutOfMemory:
            if len(batch) == 1:
                raise TextTooLarge(before + batch[0], len(items[batch[0]])) from None
        else:
            yield batch, begun
            return
        # Behind the except: what it holds on to would keep the failed batch in memory.
        half = len(batch) // 2
        yield from self._begun(items, batch[:half], before)
        yield from self._begun(items, batch[half:], before)
