"""Answers that cannot be used: sent back once, or told."""

import httpx
import pytest

from generator.errors import ModelAnswerInvalid, ModelRefusedCall
from tests.generator.language_model import says
from tests.generator.river import RIVER, ask, fail


def test_half_a_json_is_sent_back_once_and_mended():
    script, reply = ask(says('{"name": "낙동', finish_reason="length"), says(RIVER))
    assert reply.value.name == "낙동강"
    assert (reply.attempts, reply.repaired) == (2, True)
    assert (reply.prompt_tokens, reply.completion_tokens) == (200, 40)
    assert reply.text == '{"name": "낙동강", "length": 510}'
    first, second = script.bodies
    question, answer, complaint = second["messages"]
    assert question == first["messages"][0]
    assert answer == {"role": "assistant", "content": '{"name": "낙동'}
    assert complaint["role"] == "user"
    assert (
        "<complaint>\nthe JSON breaks off before its end; it was cut off at 2048 tokens\n</complaint>"
        in (complaint["content"])
    )
    assert second["response_format"] == first["response_format"]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (says(None, refusal="I will not speak of rivers."), "I will not speak of rivers"),
        (says(None, finish_reason="content_filter"), "content filter"),
        (httpx.Response(200, json={"error": {"message": "no model loaded"}}), "no model loaded"),
    ],
    ids=["refusal", "content filter", "error with status 200"],
)
def test_a_refusal_of_the_model_is_not_argued_with(answer, said):
    script, error = fail(ModelRefusedCall, answer)
    assert (len(script.requests), error.status) == (1, 200)
    assert said in str(error)


@pytest.mark.parametrize(
    "body",
    ['{"choices": []}', '{"model": "x"}', '{"choices": [{"text": "legacy"}]}', "[]", "<h1>Welcome</h1>"],
)
def test_a_response_without_an_answer_is_not_repaired(body):
    script, error = fail(ModelAnswerInvalid, httpx.Response(200, text=body))
    assert len(script.requests) == 1
    assert "SHRAG_LLM__BASE_URL" in str(error)
    assert error.text == body
