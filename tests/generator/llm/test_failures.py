"""Calls that fail: what is requested again, repaired once, or reported, within the time there is."""

from itertools import repeat

import httpx
import pytest

from generator.errors import ModelAnswerInvalid, ModelRefusedCall, ModelTooSlow, ModelUnreachable
from tests.generator.language_model import (
    Scripted,
    Slowly,
    events,
    piece,
    says,
    settings,
    streams,
    streams_slowly,
    written,
)
from tests.generator.river import RIVER, River, ask, call, fail
from tests.virtual_clock import run

HALF = written(*events(RIVER)[:4])


def stream_of(content):
    return httpx.Response(200, content=content, headers={"Content-Type": "text/event-stream"})


@pytest.mark.parametrize(
    ("failure", "milliseconds"),
    [
        (httpx.Response(503), 0),
        (httpx.Response(429, headers={"Retry-After": "3"}), 3_000),  # the pause that the server requests
        (stream_of(HALF), 0),
        (stream_of(b""), 0),
        (stream_of(written("not JSON")), 0),
    ],
)
def test_a_temporary_failure_is_requested_again(failure, milliseconds):
    script, reply = ask(failure, says(RIVER))
    assert (len(script.requests), reply.attempts, reply.repaired) == (2, 2, False)
    assert reply.milliseconds == milliseconds
    assert script.bodies[0] == script.bodies[1]


def test_a_streamed_answer_is_put_together():
    script, reply = ask(streams(*events(RIVER)))
    assert (reply.value, reply.text) == (River.model_validate(RIVER), '{"name": "낙동강", "length": 510}')
    assert (reply.model, reply.finish_reason) == ("tiny-writer-7b", "stop")
    assert (reply.prompt_tokens, reply.completion_tokens) == (100, 20)
    assert 0 <= reply.first_token_ms <= reply.milliseconds
    assert list(reply.as_record()["milliseconds"]) == ["queued", "first_token", "total"]
    assert script.bodies[0]["stream_options"] == {"include_usage": True}


def test_half_a_json_is_sent_back_once_and_repaired():
    script, reply = ask(says('{"name": "낙동', finish_reason="length"), says(RIVER))
    assert reply.value == River.model_validate(RIVER)
    assert (reply.attempts, reply.repaired) == (2, True)
    assert (reply.prompt_tokens, reply.completion_tokens) == (200, 40)
    first, second = script.bodies
    question, answer, complaint = second["messages"]
    assert question == first["messages"][0]
    assert answer == {"role": "assistant", "content": '{"name": "낙동'}
    assert "the JSON breaks off before its end; it was cut off at 2048 tokens" in complaint["content"]
    assert second["response_format"] == first["response_format"]


REFUSAL = {"error": {"message": "No.\n\x1b[31mNot here."}}
GONE = httpx.ConnectTimeout("")
KEEP_ALIVE = b": keep-alive\n\n"


@pytest.mark.parametrize(
    ("answer", "error", "changed", "parts"),
    [
        *(
            (
                httpx.Response(status, json=REFUSAL),
                ModelRefusedCall,
                {},
                f"answered {status}| [31mNot|{step}",
            )
            for status, step in (
                (400, "longer than the model's context"),
                (401, "SHRAG_LLM__API_KEY"),
                (404, "http://model.test/v1/models"),
                (307, "redirects are not followed"),
            )
        ),
        (
            says(None, refusal="I will not speak of rivers."),
            ModelRefusedCall,
            {},
            "I will not speak of rivers",
        ),
        (says(None, finish_reason="content_filter"), ModelRefusedCall, {}, "content filter"),
        (httpx.Response(200, json={"error": {"message": "no model"}}), ModelRefusedCall, {}, "no model"),
        *(
            (httpx.Response(200, text=body), ModelAnswerInvalid, {}, "SHRAG_LLM__BASE_URL")
            for body in ('{"choices": []}', '{"choices": [{"text": "legacy"}]}', "[]", "<h1>Welcome</h1>")
        ),
        (GONE, ModelTooSlow, {"retries": 5}, "cannot reach http://model.test/v1|no connection in time"),
        (stream_of(HALF), ModelUnreachable, {"retries": 0}, "without [DONE], after 3 pieces"),
        (
            streams_slowly(repeat(KEEP_ALIVE), 1),
            ModelTooSlow,
            {"first_token_s": 5, "timeout_s": 9},
            "9 s (SHRAG_LLM__TIMEOUT_S)",
        ),
        (streams_slowly([HALF], 9), ModelTooSlow, {"between_tokens_s": 3}, "(SHRAG_LLM__BETWEEN_TOKENS_S)"),
    ],
)
def test_a_permanent_failure_is_reported_after_one_request(answer, error, changed, parts):
    script, raised = fail(error, answer, **changed)
    assert len(script.requests) == 1
    assert all(part in str(raised) for part in parts.split("|"))


@pytest.mark.parametrize(("name", "setting"), [("keywords", "KEYWORDS_S"), ("answer", "ANSWER_S")])
def test_each_stage_has_a_limit_of_its_own_over_all_attempts(name, setting):
    endless = streams_slowly(repeat(written(piece("{"))), 1)
    given = settings(**{setting.lower(): 4}, retries=5)
    with pytest.raises(ModelTooSlow, match=rf"4 s \(SHRAG_LLM__{setting}\)"):
        run(call(given, Scripted([endless]).transport, name=name))


def test_the_deadline_includes_the_repair():
    dripping = httpx.Response(200, stream=Slowly(repeat(b" "), 0.01))
    script, _ = fail(ModelTooSlow, says("no"), dripping, deadline_s=0.3, retries=0)
    assert len(script.requests) == 2
