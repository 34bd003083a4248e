"""The circuit: which failures open it, how long it stays open, who may try."""

import asyncio

import httpx
import pytest

from generator.errors import (
    CircuitOpen,
    ContextExceeded,
    ModelAnswerInvalid,
    ModelRefusedCall,
    ModelUnreachable,
)
from generator.keywords import KeywordLists
from generator.llm import LanguageModel
from generator.llm.circuit import Circuit
from tests.generator.language_model import Scripted, says, settings

DOWN = ModelUnreachable("cannot reach it")
KEYWORDS = {"korean": ["강", "하천"], "english": ["river", "stream"]}
MESSAGES = [{"role": "user", "content": "강"}]


class Clock:
    """A clock that goes on when it is told to."""

    def __init__(self):
        self.seconds = 100.0

    def __call__(self):
        return self.seconds


def circuit(failures=3, open_s=30.0):
    clock = Clock()
    return clock, Circuit(failures, open_s, "http://model.test", clock)


def fails(one, error=DOWN):
    with pytest.raises(type(error)), one.passage():
        raise error


def test_it_opens_with_the_last_of_so_many_failures_in_a_row():
    _, one = circuit(failures=3)
    fails(one)
    fails(one)
    assert not one.is_open
    fails(one)
    assert one.is_open
    with pytest.raises(CircuitOpen) as caught, one.passage():
        pytest.fail("passed")
    assert str(caught.value) == (
        "http://model.test failed 3 times in a row and is left alone (tried again in 30 s; "
        "SHRAG_LLM__CIRCUIT_OPEN_S). Last: cannot reach it"
    )


def test_an_answer_between_failures_begins_the_count_anew():
    _, one = circuit(failures=2)
    fails(one)
    with one.passage():
        pass
    fails(one)
    assert not one.is_open


@pytest.mark.parametrize(
    "error",
    [
        ModelRefusedCall("no such field", status=400),
        ModelRefusedCall("slow down", status=429),
        ContextExceeded("too long", status=400),
        ModelAnswerInvalid("no JSON"),
    ],
)
def test_what_says_nothing_of_the_server_does_not_open_it(error):
    _, one = circuit(failures=1)
    fails(one, error)
    assert not one.is_open


def test_a_server_error_opens_it():
    _, one = circuit(failures=1)
    fails(one, ModelRefusedCall("out of memory", status=503))
    assert one.is_open


def test_after_its_time_one_may_try_and_an_answer_closes_it():
    clock, one = circuit(failures=1, open_s=30.0)
    fails(one)
    clock.seconds += 29.9
    assert one.is_open
    clock.seconds += 0.1
    with one.passage(), pytest.raises(CircuitOpen, match="one request is trying it now"):
        one.check()
    one.check()


def test_a_try_that_fails_opens_it_for_as_long_again():
    clock, one = circuit(failures=3, open_s=30.0)
    for _ in range(3):
        fails(one)
    clock.seconds += 30
    fails(one)
    clock.seconds += 29
    assert one.is_open
    clock.seconds += 1
    assert not one.is_open


def test_a_try_that_is_cancelled_leaves_it_to_the_next():
    clock, one = circuit(failures=1, open_s=30.0)
    fails(one)
    clock.seconds += 30
    with pytest.raises(asyncio.CancelledError), one.passage():
        raise asyncio.CancelledError
    one.check()


def test_a_dead_server_is_told_at_once_and_asked_again_after_a_while():
    clock = Clock()
    script = Scripted([httpx.ConnectError("refused")] * 2 + [says(KEYWORDS)])
    given = settings(circuit_failures=2, circuit_open_s=30, retries=5)

    async def ask(model):
        return await model.complete_json(MESSAGES, KeywordLists, name="keywords")

    async def questions():
        async with LanguageModel(given, transport=script.transport, clock=clock) as model:
            with pytest.raises(ModelUnreachable, match=r"\(2 times\)"):
                await ask(model)
            with pytest.raises(CircuitOpen, match="failed 2 times in a row"):
                await ask(model)
            assert len(script.requests) == 2
            clock.seconds += 30
            return await ask(model)

    assert asyncio.run(questions()).value.english == ["river", "stream"]
    assert len(script.requests) == 3
