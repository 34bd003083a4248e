"""A queue of texts sorted by length: batches with little padding, results in input order.

Padding costs as much as text. A window of texts is therefore tokenised together, sorted by length and split
into batches with a limit of tokens, padding included. The longest texts come first, so that a batch too large
for the memory fails early. While a window is computed, a thread tokenises the next one, and while a batch is
computed, the next one is sent to the device.

The result of a text depends on the other texts of the queue only by rounding: padding is masked, but the
order of sums may differ. The difference is about 1e-6 per number in float32, and some thousandths in half
precision.
"""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeVar

import numpy as np

from indexer.encoders import Progress
from indexer.encoders.arrays import Vectors

SURROGATE = re.compile("[\ud800-\udfff]")
SPACE = re.compile(r"\s")
CHARACTERS_A_TOKEN = 16  # more than in ordinary text; affects only the first attempt
MARGIN = 16  # extra tokens, so that the cut does not affect the last kept token


def without_surrogates(text: str) -> str:
    """Replace lone surrogates, which cannot be encoded, by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return SURROGATE.sub("\ufffd", text)
    return text


def beginning(text: str, max_tokens: int, count: Callable[[str], int]) -> str:
    """Return the text or a beginning that ends before white space and contains all tokens that are read.

    The number of characters per token is not limited (a long unknown word is one token, a run of spaces
    none), so the tokens of a beginning are counted, and the beginning is doubled until they suffice.

    Args:
        text: any text.
        max_tokens: number of tokens that the model reads; later text is ignored.
        count: returns the number of tokens of a text without truncation.
    """
    size = CHARACTERS_A_TOKEN * (max_tokens + MARGIN)
    while size < len(text):
        space = SPACE.search(text, size)
        if space is None:
            return text
        part = text[: space.start()]
        if count(part) >= max_tokens + MARGIN:
            return part
        size = 2 * space.start()
    return text


Text = TypeVar("Text")
Item = TypeVar("Item", bound=Sized)  # a tokenised text; its length is in tokens

Started = Callable[[], Vectors]  # a started batch: calling it waits for the rows

ALIKE = 0.9  # of the longest text's tokens; shorter texts go to the next batch
ENOUGH = 1 / 16  # of the tokens of a batch; smaller batches accept more padding
WINDOW = 4096  # texts that are tokenised and sorted together


class OutOfMemory(Exception):
    """The device has not enough memory for a batch of this size."""


class TextTooLarge(Exception):
    """The device has not enough memory for a single text; `position` is its place in the queue, from 0."""

    def __init__(self, position: int, tokens: int) -> None:
        """Keep the position and length of the text."""
        super().__init__(f"text {position} of {tokens} tokens")
        self.position = position
        self.tokens = tokens


def cut_into_batches(lengths: Sequence[int], batch_tokens: int) -> Iterator[list[int]]:
    """Yield the positions of each batch, the longest text first; equal lengths keep their order.

    A batch ends when it is full, or when it is large enough to keep a processor busy and shorter texts would
    be mostly padding.

    Args:
        lengths: number of tokens of each text.
        batch_tokens: limit of texts × tokens of the longest text; a longer text is a batch by itself.
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
        tokenise: converts texts into the model's input, in order.
        start: starts a batch, without waiting if the device allows it; raises OutOfMemory.
        batch_tokens: limit of tokens of a batch, padding included.
        window: number of texts that are sorted together.
    """

    tokenise: Callable[[Sequence[Text]], list[Item]]
    start: Callable[[Sequence[Item]], Started]
    batch_tokens: int
    window: int = WINDOW

    def run(self, texts: Iterable[Text], progress: Progress | None = None) -> Iterator[Vectors]:
        """Yield the rows of each window, in the order of the texts, which are read one window ahead.

        Raises:
            TextTooLarge: a single text does not fit the device.
        """
        done = 0

        def advance(count: int) -> None:
            nonlocal done
            done += count
            if progress is not None:
                progress(done)

        source = iter(texts)
        window = list(islice(source, self.window))
        if 0 < len(window) < self.window:  # a single window needs no thread, which is faster for questions
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
            for begun in self._start_batch(items, batch, before):
                under_way.append(begun)
                if len(under_way) > 1:
                    finish()
        while under_way:
            finish()
        computed = np.concatenate(rows)
        ordered = np.empty_like(computed)
        ordered[positions] = computed
        return ordered

    def _start_batch(
        self, items: Sequence[Item], batch: list[int], before: int
    ) -> Iterator[tuple[list[int], Started]]:
        """Start a batch, or its halves if the device has not enough memory."""
        try:
            begun = self.start([items[position] for position in batch])
        except OutOfMemory:
            if len(batch) == 1:
                raise TextTooLarge(before + batch[0], len(items[batch[0]])) from None
        else:
            yield batch, begun
            return
        # After the except clause, whose traceback would keep the failed batch in memory.
        half = len(batch) // 2
        yield from self._start_batch(items, batch[:half], before)
        yield from self._start_batch(items, batch[half:], before)
