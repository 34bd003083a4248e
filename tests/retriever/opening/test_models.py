"""Models are opened on first use, shared by all callers, and not retried immediately after a failure."""

from contextlib import closing
from dataclasses import dataclass

import pytest

from indexer.errors import EncoderUnusable
from retriever.opening import models
from retriever.opening.models import LazyModel


@dataclass
class Model:
    """A model that can be closed."""

    closed: bool = False

    def close(self):
        self.closed = True


class Counted(LazyModel[Model]):
    """Counts how often the model is opened; the first `failing` attempts fail."""

    def __init__(self, failing=0):
        super().__init__(self._begin)
        self.opened, self._failing = [], failing

    def _begin(self):
        self.opened.append(Model())
        if len(self.opened) <= self._failing:
            raise EncoderUnusable("not there")
        return self.opened[-1]


def used(model):
    return model.run(lambda opened: opened)


def test_one_model_serves_all_calls_and_is_closed():
    with closing(Counted()) as model:
        assert model.opened == []
        assert used(model) is used(model)
    assert [opened.closed for opened in model.opened] == [True]


def test_a_released_model_is_opened_again():
    with closing(Counted()) as model:
        first = used(model)
        model.release()
        assert first.closed
        assert used(model) is not first


def test_after_a_failure_calls_fail_without_opening():
    with closing(Counted(failing=1)) as model:
        for _ in range(2):
            with pytest.raises(EncoderUnusable, match="not there"):
                used(model)
        assert len(model.opened) == 1
        model._retry_at -= models.COOLDOWN_S
        assert used(model) is model.opened[1]
