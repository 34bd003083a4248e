"""Requests that fail: what is tried again, with pauses, within the time there is, and how failures read."""

from itertools import repeat

import httpx
import pytest

from generator.errors import ModelRefusedCall, ModelTooSlow
from tests.generator.language_model import Slowly, says
from tests.generator.river import RIVER, ask, fail

# Tried again


@pytest.mark.parametrize("status", [429, 503])
def test_what_may_pass_by_itself_is_tried_again(status):
    script, reply = ask(httpx.Response(status), says(RIVER))
    assert (len(script.requests), reply.attempts, reply.repaired) == (2, 2, False)
    assert script.bodies[0] == script.bodies[1]


def test_the_pause_that_a_busy_server_asks_for_is_kept():
    script, reply = ask(httpx.Response(429, headers={"Retry-After": "3"}), says(RIVER))
    assert reply.milliseconds == 3_000
    assert (len(script.requests), reply.attempts) == (2, 2)


def test_a_pause_beyond_the_deadline_is_not_waited_for():
    busy = httpx.Response(429, headers={"Retry-After": "900"})
    script, error = fail(ModelRefusedCall, busy, deadline_s=5)
    assert (len(script.requests), error.status) == (1, 429)
    assert "It asks for a pause of 900 s" in str(error)


def dripping():
    """Return a body that brings a space now and then, as a proxy does to keep a connection alive."""
    return httpx.Response(200, stream=Slowly(repeat(b" "), 0.01))


def test_a_host_that_takes_no_connection_is_not_tried_again():
    script, error = fail(ModelTooSlow, httpx.ConnectTimeout(""), retries=5)
    assert (len(script.requests), error.of_server) == (1, True)
    assert "cannot reach http://model.test/v1/chat/completions: no connection in time" in str(error)


def test_the_deadline_holds_over_the_repair_too():
    script, _ = fail(ModelTooSlow, says("no"), dripping(), deadline_s=0.3, retries=0)
    assert len(script.requests) == 2


# Refused for good, in the server's own words, without the key


@pytest.mark.parametrize(
    ("status", "step"),
    [
        (400, "longer than the model's context"),
        (401, "SHRAG_LLM__API_KEY"),
        (404, "http://model.test/v1/models"),
        (307, "redirects are not followed"),
    ],
)
def test_what_will_not_pass_by_itself_is_not_tried_again(status, step):
    refusal = httpx.Response(
        status,
        json={"error": {"message": "No.\n\x1b[31mNot here."}},
        headers={"Location": "http://elsewhere.test"},
    )
    script, error = fail(ModelRefusedCall, refusal)
    assert len(script.requests) == 1
    assert error.status == status
    assert f"http://model.test/v1/chat/completions answered {status}" in str(error)
    assert "No. [31mNot here. " in str(error)
    assert step in str(error)
