"""The queue of texts sorted by length: what stands in a batch, and in which order the rows come back."""

import numpy as np
import pytest

from indexer.encoders.batching import BatchQueue, OutOfMemory, TextTooLarge, cut_into_batches


class Lengths:
    """A model whose row for a text is its length; takes down the batches it was given."""

    def __init__(self, room=10**9):
        self.batches = []
        self.room = room

    def start(self, items):
        if len(items) * max(map(len, items)) > self.room:
            raise OutOfMemory
        self.batches.append(list(items))
        return lambda: np.array([[len(item)] for item in items], np.float32)

    def queue(self, **options):
        return BatchQueue(tokenise=list, start=self.start, **options)


def rows(queue, texts):
    return [row for block in queue.run(texts) for row in block[:, 0].tolist()]


def test_the_longest_come_first_and_padding_counts():
    # 3 × 50 is full.
    assert list(cut_into_batches([45, 50, 44, 50, 50], 150)) == [[1, 3, 4], [0, 2]]


def test_a_text_much_shorter_waits_for_the_next_batch_where_this_one_is_large_enough():
    # Two of 50 are more than a sixteenth of 800, three of 44 too; 44 is less than nine tenths of 50.
    assert list(cut_into_batches([50, 50, 45, 44, 44, 44, 1], 800)) == [[0, 1, 2], [3, 4, 5], [6]]


def test_a_text_longer_than_a_batch_is_alone():
    assert list(cut_into_batches([100, 1, 100], 50)) == [[0], [2], [1]]


def test_the_rows_come_back_in_the_order_given():
    model = Lengths()

    assert rows(model.queue(batch_tokens=6), ["bb", "a", "dddd", "ccc"]) == [2, 1, 4, 3]
    assert model.batches == [["dddd"], ["ccc"], ["bb"], ["a"]]


def test_a_batch_without_room_is_halved_until_it_fits():
    model = Lengths(room=6)

    assert rows(model.queue(batch_tokens=100), ["aa", "b", "ccc", "dd", "e"]) == [2, 1, 3, 2, 1]
    assert model.batches == [["ccc"], ["aa", "dd"], ["b", "e"]]


def test_a_text_without_room_alone_is_named_by_its_position():
    queue = Lengths(room=3).queue(batch_tokens=100, window=2)

    with pytest.raises(TextTooLarge) as caught:
        rows(queue, ["a", "b", "c", "dddd"])

    assert (caught.value.position, caught.value.tokens) == (3, 4)
