"""The circuit: which failures open it, how long it stays open, who may try."""

import asyncio

import httpx
import pytest

from generator.errors import (
    CircuitOpen,
    ContextExceeded,
    ModelAnswerInvalid,
    ModelRefusedCall,
    ModelTooSlow,
    ModelUnreachable,
)
from generator.llm import LanguageModel
from generator.llm.client import Circuit, Limit
from generator.strategist import reply_schema
from tests.generator.language_model import Scripted, says, settings
from tests.virtual_clock import run

DOWN = ModelUnreachable("cannot reach it")
KEYWORDS = {"ko": ["강", "하천"], "en": ["river", "stream"]}
MESSAGES = [{"role": "user", "content": "강"}]
KEYWORD_LISTS = reply_schema(("ko", "en"), 2, 5)


class Clock:
    """A clock that goes on when it is told to."""

    def __init__(self):
        self.seconds = 100.0

    def __call__(self):
        return self.seconds


def fails(breaker, error=DOWN):
    with pytest.raises(type(error)), breaker.passage():
        raise error


@pytest.mark.parametrize(
    ("error", "opened"),
    [
        (ModelRefusedCall("no such field", status=400), False),
        (ModelRefusedCall("slow down", status=429), False),
        (ContextExceeded("too long", status=400), False),
        (ModelAnswerInvalid("no JSON"), False),
        (ModelRefusedCall("out of memory", status=503), True),
    ],
)
def test_only_what_speaks_of_the_server_opens_it(error, opened):
    breaker = Circuit(1, 30.0, "http://model.test", Clock())
    fails(breaker, error)
    assert breaker.is_open is opened


def test_a_try_that_fails_opens_it_for_as_long_again():
    clock = Clock()
    breaker = Circuit(3, 30.0, "http://model.test", clock)
    for _ in range(3):
        fails(breaker)
    clock.seconds += 30
    fails(breaker)
    clock.seconds += 29
    assert breaker.is_open
    clock.seconds += 1
    assert not breaker.is_open


@pytest.mark.parametrize(
    ("left_s", "of_s", "changed", "expected"),
    [
        (0.1, 60, {}, (False, 1)),
        (1, 1, {}, (True, 1)),
        (30, 60, {"first_token_s": 0.1}, (True, 1)),
    ],
    ids=["the rest of a stage", "a whole stage", "a limit of the request"],
)
def test_a_silent_server_that_had_all_of_a_limit_opens_it(left_s, of_s, changed, expected):
    requests = []

    async def is_silent(request):
        requests.append(request)
        await asyncio.Event().wait()

    async def ask():
        given = settings(circuit_failures=1, retries=0, **changed)
        async with LanguageModel(given, transport=httpx.MockTransport(is_silent)) as model:
            limit = Limit(asyncio.get_running_loop().time() + left_s, of_s, "answer_s")
            with pytest.raises(ModelTooSlow):
                await model.complete_json(MESSAGES, KEYWORD_LISTS, name="answer", limit=limit)
            return model.circuit.is_open

    assert (run(ask()), len(requests)) == expected


def test_a_dead_server_is_told_at_once_and_asked_again_after_a_while():
    clock = Clock()
    script = Scripted([httpx.ConnectError("refused")] * 2 + [says(KEYWORDS)])
    given = settings(circuit_failures=2, circuit_open_s=30, retries=5)

    async def ask(model):
        return await model.complete_json(MESSAGES, KEYWORD_LISTS, name="keywords")

    async def questions():
        async with LanguageModel(given, transport=script.transport, clock=clock) as model:
            with pytest.raises(ModelUnreachable, match="requested 2 times"):
                await ask(model)
            with pytest.raises(CircuitOpen, match="failed 2 times in a row"):
                await ask(model)
            assert len(script.requests) == 2
            clock.seconds += 30
            return await ask(model)

    assert asyncio.run(questions()).value.en == ["river", "stream"]
    assert len(script.requests) == 3
