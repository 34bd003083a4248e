"""Answers that come token by token: read, broken off, too slow, cancelled."""

from itertools import repeat

import httpx
import pytest

from generator.errors import ModelTooSlow, ModelUnreachable
from tests.generator.language_model import (
    Scripted,
    events,
    piece,
    settings,
    streams,
    streams_slowly,
    written,
)
from tests.generator.river import RIVER, River, ask, call, fail
from tests.virtual_clock import run

KEEP_ALIVE = b": keep-alive\n\n"


# An answer in pieces


def test_a_streamed_answer_is_put_together():
    script, reply = ask(streams(*events(RIVER)))
    assert reply.value == River(name="낙동강", length=510)
    assert reply.text == '{"name": "낙동강", "length": 510}'
    assert (reply.model, reply.finish_reason) == ("tiny-writer-7b", "stop")
    assert (reply.prompt_tokens, reply.completion_tokens) == (100, 20)
    assert 0 <= reply.first_token_ms <= reply.milliseconds
    assert list(reply.as_record()["milliseconds"]) == ["queued", "first_token", "total"]
    assert script.bodies[0]["stream_options"] == {"include_usage": True}


# Streams that fail


@pytest.mark.parametrize(
    ("stream", "said"),
    [
        (written(*events(RIVER)[:4]), "without [DONE], after 3 pieces"),
        (b"", "without [DONE], after 0 pieces"),
        (written("not JSON"), "cannot be read"),
    ],
    ids=["half", "empty", "no JSON"],
)
def test_a_stream_that_does_not_come_to_its_end_is_asked_for_again(stream, said):
    broken = httpx.Response(200, content=stream, headers={"Content-Type": "text/event-stream"})
    script, reply = ask(broken, streams(*events(RIVER)))
    assert (len(script.requests), reply.attempts) == (2, 2)
    _, error = fail(ModelUnreachable, broken, retries=0)
    assert said in str(error)


# Limits


def test_a_server_that_only_keeps_the_connection_alive_is_not_silent_and_does_not_end():
    _, error = fail(ModelTooSlow, streams_slowly(repeat(KEEP_ALIVE), 1), first_token_s=5, timeout_s=9)
    assert "did not finish within 9 s (SHRAG_LLM__TIMEOUT_S). " in str(error)


def test_a_stream_that_stops_is_told_from_one_that_is_slow():
    _, error = fail(ModelTooSlow, streams_slowly([written(*events(RIVER)[:4])], 9), between_tokens_s=3)
    assert "was silent for 3 s (SHRAG_LLM__BETWEEN_TOKENS_S) after 3 pieces of its answer" in str(error)


def endless():
    return streams_slowly(repeat(written(piece("{"))), 1)


@pytest.mark.parametrize(("name", "setting"), [("keywords", "KEYWORDS_S"), ("answer", "ANSWER_S")])
def test_each_stage_has_a_limit_of_its_own_over_all_attempts(name, setting):
    given = settings(**{setting.lower(): 4}, retries=5)
    with pytest.raises(ModelTooSlow, match=rf"4 s \(SHRAG_LLM__{setting}\)"):
        run(call(given, Scripted([endless()]).transport, name=name))
