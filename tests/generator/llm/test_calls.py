"""Calls of a language model: settings, requests, and values found in replies."""

import asyncio
import json
from typing import Annotated, Literal

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, ValidationError

from generator.errors import ModelRefusedCall
from generator.llm import LanguageModel
from generator.llm.model import chat_request
from generator.llm.reading import UnreadableAnswer, json_schema, read_answer
from generator.settings import GeneratorSettings
from tests.generator.language_model import says, settings
from tests.generator.river import MESSAGES, RIVER, River, ask, fail


def test_settings_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("SHRAG_LLM__BASE_URL", "http://localhost:8000/v1/")
    monkeypatch.setenv("SHRAG_LLM__MODEL", "tiny-writer")
    monkeypatch.setenv("SHRAG_LLM__API_KEY", "sk-river-123\n")
    monkeypatch.setenv("SHRAG_LLM__TIMEOUT_S", "7.5")
    monkeypatch.setenv("SHRAG_LLM__SEED", "")
    llm = GeneratorSettings().llm
    assert (llm.base_url, llm.model, llm.timeout_s, llm.seed) == (
        "http://localhost:8000/v1",
        "tiny-writer",
        7.5,
        0,
    )
    assert llm.api_key
    assert llm.api_key.get_secret_value() == "sk-river-123"
    assert "sk-river" not in repr(llm) + llm.model_dump_json()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"base_url": "localhost:8000"}, "must begin with http:// or https://"),
        ({"base_url": "http://reader:secret@model.test/v1"}, "must not contain a name or password"),
        ({"api_key": "secret secret"}, "must be ASCII without white space"),
        ({"api_key": "secret", "allow_plain_http": False}, "unencrypted to model.test: use https://"),
        ({"model": None}, "set SHRAG_LLM__MODEL"),
        ({"timeout_s": "nan"}, "finite"),
        ({"timout_s": 1}, "Extra inputs"),
    ],
)
def test_settings_that_cannot_work_are_refused_without_showing_them(changed, said):
    with pytest.raises(ValidationError) as caught:
        settings(**changed)
    assert said in str(caught.value)
    assert "secret" not in str(caught.value)


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


def refusal(message):
    return httpx.Response(400, json={"error": {"message": message}})


def test_a_parameter_that_a_model_does_not_support_is_left_out_or_replaced():
    """The messages are those of models that reason."""
    script, reply = ask(
        refusal("Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."),
        refusal("Unsupported value: 'temperature' does not support 0. Only the default (1) is supported."),
        says(RIVER),
        retries=0,
    )
    assert reply.attempts == 3
    first, _, last = script.bodies
    left_out = {"max_tokens", "temperature"}
    assert last == {name: value for name, value in first.items() if name not in left_out} | {
        "max_completion_tokens": first["max_tokens"]
    }


def test_concurrent_calls_are_each_sent_again_without_a_refused_parameter():
    both_sent = asyncio.Barrier(2)

    async def answer(request):
        if "seed" not in json.loads(request.content):
            return says(RIVER)
        await both_sent.wait()
        return refusal("Unsupported parameter: 'seed' is not supported with this model.")

    async def call_twice():
        transport = httpx.MockTransport(answer)
        async with LanguageModel(settings(retries=0), transport=transport) as model:
            calls = (model.complete_json(MESSAGES, River, name="river") for _ in range(2))
            return await asyncio.gather(*calls)

    assert [reply.attempts for reply in asyncio.run(call_twice())] == [2, 2]


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
    script, error = fail(ModelRefusedCall, refusal(message))
    assert len(script.requests) == 1
    assert message in str(error)


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"name": "낙동강", "length": 510}\n```',
        'Here is the river:\n\n{"name": "낙동강", "length": 510}\n\nIs there anything else?',
        '<think>The Han? {"name": "한강", "length": 494}. No.</think>\n{"name": "낙동강", "length": 510}',
        'The Han is shorter.\n</think>\n\n{"name": "낙동강", "length": 510}',
        'The shape {name, length} is wanted: {"name": "낙동강", "length": 510}',
        'First {"name": "한강", "length": 494}, corrected: {"name": "낙동강", "length": 510}',
        '[{"name": "낙동강", "length": 510}]',
        '{"name": "낙동강", "length": "510"}',
        'So:\n```json\n{"name": "낙동강", "length": 510,}\n```',
        '\n {"length": 510, "name": "낙동강", "source": "한강 말고"}',
    ],
)
def test_the_value_is_found_in_replies_of_a_server_without_schemas(text):
    script, reply = ask(says(text))
    assert reply.value == River(name="낙동강", length=510)
    assert (len(script.requests), reply.repaired, reply.text) == (1, False, text)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{"name": "낙동', "the JSON breaks off before its end"),
        ('{"name": "낙동강", ', "the JSON breaks off before its end"),
        ("I cannot tell.", "there is no JSON object in it"),
        ("<think>Let me see: {", "there is no JSON object in it"),
        ('{"name": "", "length": 1}', "name: String should have at least 1 character"),
        ('{"name": "낙동강"}', "length: Field required"),
        ('{"name": 낙동강}', "not JSON: Expecting value at character 9"),
        ('{"a":' * 100_000, "nested too deeply"),
    ],
)
def test_an_unreadable_answer_says_what_is_wrong(text, complaint):
    with pytest.raises(UnreadableAnswer) as caught:
        read_answer(text, River)
    assert str(caught.value) == complaint


@pytest.mark.parametrize(("name", "end"), [("a</think>b", "}"), ("a,] b,}", ",\n}"), ("낙동\n강", "}")])
def test_signs_inside_a_string_are_text(name, end):
    assert read_answer(f'{{"name": "{name}", "length": 1{end}', River).name == name


@given(st.text() | st.text(alphabet='{}[]",:a1 \n<think>/'))
def test_reading_never_fails_otherwise(text):
    found: River | str
    try:
        found = read_answer(text, River)
    except UnreadableAnswer as unreadable:
        found = str(unreadable)
    assert found


class Sentence(BaseModel):
    text: Annotated[str, Field(max_length=500)]
    citations: Annotated[list[int], Field(max_length=5)] = []


class Essay(BaseModel):
    title: Annotated[str, Field(max_length=100, title="Title of the essay")]
    body: Annotated[list[Sentence], Field(max_length=8, description="one sentence each")]
    mood: Literal["sure", "unsure"] = "sure"


def test_a_schema_is_written_without_references_and_with_all_properties():
    assert json_schema(Essay) == {
        "type": "object",
        "properties": {
            "title": {"type": "string", "maxLength": 100},
            "body": {
                "type": "array",
                "maxItems": 8,
                "description": "one sentence each",
                "items": {
                    "type": "object",
                    "properties": {
                        "text": {"type": "string", "maxLength": 500},
                        "citations": {"type": "array", "maxItems": 5, "items": {"type": "integer"}},
                    },
                    "required": ["text", "citations"],
                    "additionalProperties": False,
                },
            },
            "mood": {"type": "string", "enum": ["sure", "unsure"]},
        },
        "required": ["title", "body", "mood"],
        "additionalProperties": False,
    }
