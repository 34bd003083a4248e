"""What may pass by itself: tried again, with pauses, within the time there is."""

import asyncio
import socket
import time

import httpx
import pytest

from generator.errors import ModelRefusedCall, ModelTooSlow, ModelUnreachable
from tests.generator.language_model import answers_with, breaks_off, drips, says, served, settings
from tests.generator.river import RIVER, ask, call, fail


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 503])
def test_what_may_pass_by_itself_is_tried_again(status):
    script, reply = ask(httpx.Response(status), says(RIVER))
    assert (len(script.requests), reply.attempts, reply.repaired) == (2, 2, False)
    assert script.bodies[0] == script.bodies[1]


def test_500_three_times_is_told_with_its_count():
    script, error = fail(ModelRefusedCall, *[httpx.Response(500, text="CUDA out of memory")] * 3, retries=2)
    assert (len(script.requests), error.status) == (3, 500)
    assert "CUDA out of memory" in str(error)
    assert str(error).endswith("(asked 3 times)")


def test_no_retries_are_made_where_none_are_set():
    script, _ = fail(ModelRefusedCall, httpx.Response(503), retries=0)
    assert len(script.requests) == 1


def test_the_pause_that_a_busy_server_asks_for_is_kept():
    started = time.monotonic()
    script, reply = ask(httpx.Response(429, headers={"Retry-After": "0.3"}), says(RIVER))
    assert time.monotonic() - started >= 0.3
    assert (len(script.requests), reply.attempts) == (2, 2)


def test_a_pause_beyond_the_deadline_is_not_waited_for():
    started = time.monotonic()
    busy = httpx.Response(429, headers={"Retry-After": "20"})
    script, error = fail(ModelRefusedCall, busy, deadline_s=5)
    assert time.monotonic() - started < 2
    assert (len(script.requests), error.status) == (1, 429)
    assert "It asks for a pause of 20 s" in str(error)


def test_a_connection_that_is_refused_is_tried_again_and_told():
    with socket.socket() as taken:  # bound, and nobody listens
        taken.bind(("127.0.0.1", 0))
        base_url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        with pytest.raises(ModelUnreachable) as caught:
            asyncio.run(call(settings(base_url=base_url, retries=1)))
    assert str(caught.value).startswith(f"cannot reach {base_url}/chat/completions: ")
    assert str(caught.value).endswith("(asked 2 times)")


def test_a_connection_lost_once_is_made_again():
    script, reply = ask(httpx.ReadError(""), httpx.ConnectTimeout(""), says(RIVER))
    assert (len(script.requests), reply.attempts) == (3, 3)


def test_an_error_without_words_is_told_by_its_name():
    _, error = fail(ModelUnreachable, httpx.ReadError(""), retries=0)
    assert "/chat/completions: ReadError. Start" in str(error)


def test_a_body_that_breaks_off_is_asked_for_again():
    with served(breaks_off, answers_with(RIVER)) as server:
        reply = asyncio.run(call(settings(base_url=server.base_url)))
    assert (reply.value.name, reply.attempts, len(server.bodies)) == ("낙동강", 2, 2)


def test_a_body_that_always_breaks_off_is_a_lost_connection():
    with served(breaks_off) as server, pytest.raises(ModelUnreachable, match=r"asked 2 times"):
        asyncio.run(call(settings(base_url=server.base_url, retries=1)))
    assert len(server.bodies) == 2


def test_a_server_that_sends_a_little_all_the_time_is_too_slow_all_the_same():
    with served(drips) as server, pytest.raises(ModelTooSlow) as caught:
        asyncio.run(call(settings(base_url=server.base_url, timeout_s=0.2, retries=1)))
    assert len(server.bodies) == 2
    assert "gave no whole answer within 0.2 s (SHRAG_LLM__TIMEOUT_S)" in str(caught.value)


def test_the_deadline_holds_over_all_attempts():
    started = time.monotonic()
    with served(drips) as server, pytest.raises(ModelTooSlow):
        asyncio.run(call(settings(base_url=server.base_url, timeout_s=0.2, deadline_s=0.3, retries=10)))
    assert len(server.bodies) <= 2
    assert time.monotonic() - started < 2


def test_the_deadline_holds_over_the_repair_too():
    with served(answers_with("no"), drips) as server, pytest.raises(ModelTooSlow):
        asyncio.run(call(settings(base_url=server.base_url, deadline_s=0.3, retries=0)))
    assert len(server.bodies) == 2
