"""Calls of a language model: what is sent, and what a good answer gives."""

import httpx
import pytest

from generator.errors import ModelRefusedCall
from generator.llm.model import chat_request
from tests.generator.language_model import (
    says,
    settings,
)
from tests.generator.river import MESSAGES, RIVER, River, ask, fail


def test_a_request_is_a_value():
    assert chat_request(MESSAGES, River, name="river", settings=settings(seed=7, max_tokens=64)) == {
        "model": "tiny-writer",
        "messages": [{"role": "user", "content": "Which river is the longest in the south of Korea?"}],
        "temperature": 0.0,
        "max_tokens": 64,
        "seed": 7,
        "stream": True,
        "stream_options": {"include_usage": True},
        "chat_template_kwargs": {"enable_thinking": False},
        "response_format": {
            "type": "json_schema",
            "json_schema": {
                "name": "river",
                "strict": True,
                "schema": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string", "minLength": 1, "maxLength": 20},
                        "length": {"type": "integer", "minimum": 0},
                    },
                    "required": ["name", "length"],
                    "additionalProperties": False,
                },
            },
        },
    }


def test_a_good_answer_takes_one_request():
    script, reply = ask(says(RIVER))
    assert reply.value == River(name="낙동강", length=510)
    assert reply.model == "tiny-writer-7b"
    assert (reply.prompt_tokens, reply.completion_tokens) == (100, 20)
    assert (reply.attempts, reply.repaired, reply.finish_reason) == (1, False, "stop")
    assert reply.text == '{"name": "낙동강", "length": 510}'
    assert [str(request.url) for request in script.requests] == ["http://model.test/v1/chat/completions"]
    assert "Authorization" not in script.requests[0].headers


def refuses(message):
    return httpx.Response(400, json={"error": {"message": message, "type": "invalid_request_error"}})


def test_a_parameter_that_a_model_does_not_support_is_left_out_or_replaced():
    """The messages are those of models that reason."""
    script, reply = ask(
        refuses(
            "Unsupported parameter: 'max_tokens' is not supported with this model. "
            "Use 'max_completion_tokens' instead."
        ),
        refuses(
            "Unsupported value: 'temperature' does not support 0 with this model. "
            "Only the default (1) value is supported."
        ),
        says(RIVER),
        retries=0,
    )
    assert reply.attempts == 3
    first, _, last = script.bodies
    left_out = {"max_tokens", "temperature"}
    assert last == {name: value for name, value in first.items() if name not in left_out} | {
        "max_completion_tokens": first["max_tokens"]
    }


@pytest.mark.parametrize(
    "message",
    [
        "temperature must be at most 1",
        "response_format is not supported; supported parameters are temperature, seed, max_tokens",
        "max_tokens is too large: 100000. This model supports at most 16384 completion tokens",
        "no such model",
    ],
)
def test_another_refusal_is_final(message):
    script, error = fail(ModelRefusedCall, refuses(message))
    assert len(script.requests) == 1
    assert message in str(error)
