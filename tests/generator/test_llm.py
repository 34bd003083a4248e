"""What a language model's server may answer, and what comes of it: the calls are counted at the HTTP seam."""

import asyncio
import json
import socket
import subprocess
import sys
import time
from typing import Annotated, Literal

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, ValidationError

from generator.errors import (
    GeneratorError,
    ModelAnswerInvalid,
    ModelNotConfigured,
    ModelRefusedCall,
    ModelTooSlow,
    ModelUnreachable,
)
from generator.llm import LanguageModel, chat_request, pause_s
from generator.settings import GeneratorSettings, LanguageModelSettings
from generator.structured import UnreadableAnswer, json_schema, read_answer
from tests.generator.language_model import (
    BASE_URL,
    Scripted,
    answers_with,
    breaks_off,
    drips,
    says,
    served,
    settings,
)

RIVER = {"name": "낙동강", "length": 510}


class River(BaseModel):
    name: Annotated[str, Field(min_length=1, max_length=20)]
    length: Annotated[int, Field(ge=0)]


MESSAGES = [{"role": "user", "content": "Which river is the longest in the south of Korea?"}]


def ask(*answers, **changed):
    """Ask a model that gives these answers for a river; return its script and the reply."""
    script = Scripted(answers)
    return script, asyncio.run(call(settings(**changed), script.transport))


def fail(error, *answers, **changed):
    """Ask in vain; return the script and the error."""
    script = Scripted(answers)
    with pytest.raises(error) as caught:
        asyncio.run(call(settings(**changed), script.transport))
    return script, caught.value


async def call(given, transport=None, schema=River):
    async with LanguageModel(given, transport=transport) as model:
        return await model.complete_json(MESSAGES, schema, name="river")


# The call


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


def test_further_fields_are_sent_and_those_of_the_template_joined():
    extra = {"top_k": 1, "chat_template_kwargs": {"language": "ko"}}
    body = chat_request(MESSAGES, River, name="river", settings=settings(extra_body=extra))
    assert body["top_k"] == 1
    assert body["chat_template_kwargs"] == {"enable_thinking": False, "language": "ko"}


def test_a_plain_openai_server_is_sent_no_field_of_vllm():
    body = chat_request(MESSAGES, River, name="river", settings=settings(dialect="openai"))
    assert "chat_template_kwargs" not in body


def test_thinking_is_asked_for_where_it_is_wanted():
    body = chat_request(MESSAGES, River, name="river", settings=settings(thinking=True))
    assert body["chat_template_kwargs"] == {"enable_thinking": True}


def test_no_seed_is_sent_where_none_is_set():
    assert "seed" not in chat_request(MESSAGES, River, name="river", settings=settings(seed=None))


def test_a_good_answer_takes_one_request():
    script, reply = ask(says(RIVER))
    assert reply.value == River(name="낙동강", length=510)
    assert reply.model == "tiny-writer-7b"
    assert (reply.prompt_tokens, reply.completion_tokens) == (100, 20)
    assert (reply.attempts, reply.repaired, reply.finish_reason) == (1, False, "stop")
    assert reply.text == '{"name": "낙동강", "length": 510}'
    assert reply.milliseconds > 0
    assert [str(request.url) for request in script.requests] == ["http://model.test/v1/chat/completions"]
    assert "Authorization" not in script.requests[0].headers


def test_a_reply_tells_all_but_its_value_to_a_trace():
    _, reply = ask(says(RIVER))
    record = reply.as_record()
    assert list(record.pop("milliseconds")) == ["queued", "total"]
    assert json.loads(json.dumps(record)) == {
        "model": "tiny-writer-7b",
        "text": '{"name": "낙동강", "length": 510}',
        "finish_reason": "stop",
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "attempts": 1,
        "repaired": False,
    }


def test_the_key_goes_into_the_header():
    script, _ = ask(says(RIVER), api_key="sk-river-123")
    assert script.requests[0].headers["Authorization"] == "Bearer sk-river-123"


def test_a_server_that_counts_no_tokens_and_names_no_model_is_fine():
    bare = httpx.Response(200, json={"choices": [{"message": {"content": json.dumps(RIVER)}}]})
    _, reply = ask(bare)
    assert (reply.prompt_tokens, reply.completion_tokens, reply.model) == (None, None, "tiny-writer")


def test_half_a_surrogate_pair_in_a_message_is_sent_as_a_question_mark():
    script = Scripted([says(RIVER)])

    async def ask_oddly():
        async with LanguageModel(settings(), transport=script.transport) as model:
            await model.complete_json([{"role": "user", "content": "강\ud800"}], River, name="river")

    asyncio.run(ask_oddly())
    assert script.bodies[0]["messages"] == [{"role": "user", "content": "강?"}]


def test_proxies_of_the_environment_are_not_used(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    with served(answers_with(RIVER)) as server:
        reply = asyncio.run(call(settings(base_url=server.base_url)))
    assert reply.value.length == 510


def test_importing_the_client_does_not_import_httpx():
    code = "import sys, generator.llm, generator.keywords; sys.exit('httpx' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_model_that_is_not_opened_says_how():
    model = LanguageModel(settings())
    with pytest.raises(RuntimeError, match="async with"):
        asyncio.run(model.complete_json(MESSAGES, River, name="river"))


# Answers that are not plain JSON


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
        '\n {"length": 510, "name": "낙동강", "source": "한강 말고"}',
    ],
    ids=["fence", "prose", "think", "think-unopened", "braces", "last", "list", "digits", "more"],
)
def test_the_value_is_found_in_what_a_server_without_schemas_writes(text):
    script, reply = ask(says(text))
    assert reply.value == River(name="낙동강", length=510)
    assert (len(script.requests), reply.repaired, reply.text) == (1, False, text)


def test_a_thinking_tag_inside_a_string_is_text():
    assert read_answer('{"name": "a</think>b", "length": 1}', River).name == "a</think>b"


def test_a_line_break_inside_a_string_is_let_through():
    assert read_answer('{"name": "낙동\n강", "length": 1}', River).name == "낙동\n강"


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


@given(st.text() | st.text(alphabet='{}[]",:a1 \n<think>/'))
def test_reading_never_fails_otherwise(text):
    found: River | str
    try:
        found = read_answer(text, River)
    except UnreadableAnswer as unreadable:
        found = str(unreadable)
    assert found


# Repair


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


def test_an_answer_that_stays_broken_fails_after_two_requests():
    script, error = fail(ModelAnswerInvalid, says('{"name": "낙동'), says('{"name": "낙동강"}'))
    assert len(script.requests) == 2
    assert error.text == '{"name": "낙동강"}'
    assert str(error) == (
        "tiny-writer-7b at http://model.test/v1/chat/completions gave no valid 'river' answer, asked twice: "
        "length: Field required. Use a server that enforces `response_format` (vLLM does), or another model."
    )


def test_an_answer_that_is_cut_off_twice_names_the_limit():
    half = '{"name": "낙동'
    _, error = fail(
        ModelAnswerInvalid,
        says(half, finish_reason="length"),
        says(half, finish_reason="length"),
        max_tokens=16,
    )
    assert "it was cut off at 16 tokens. Raise SHRAG_LLM__MAX_TOKENS." in str(error)


@pytest.mark.parametrize("empty", [None, "", " \n"])
def test_an_empty_answer_is_sent_back_as_words(empty):
    script, reply = ask(says(empty), says(RIVER))
    assert reply.repaired
    assert script.bodies[1]["messages"][1] == {"role": "assistant", "content": "(empty)"}
    assert "the answer is empty" in script.bodies[1]["messages"][2]["content"]


def test_a_wrong_schema_is_told_field_by_field():
    script, _ = ask(says({"river": "낙동강", "length": -1}), says(RIVER))
    complaint = script.bodies[1]["messages"][2]["content"]
    assert "name: Field required; length: Input should be greater than or equal to 0" in complaint


def test_half_a_surrogate_pair_in_an_answer_is_an_invalid_one():
    script, reply = ask(says('{"name": "\\ud800", "length": 1}'), says(RIVER))
    assert reply.repaired
    assert len(script.requests) == 2


def test_a_refusal_during_the_repair_is_told_as_such():
    script, error = fail(ModelRefusedCall, says("no"), httpx.Response(401, json={"error": "expired"}))
    assert (len(script.requests), error.status) == (2, 401)


# Answers that are none


def test_a_refusal_of_the_model_is_not_argued_with():
    script, error = fail(ModelRefusedCall, says(None, refusal="I will not speak of rivers."))
    assert len(script.requests) == 1
    assert error.status == 200
    assert "declined: I will not speak of rivers. Ask in other words" in str(error)


def test_a_content_filter_is_a_refusal():
    _, error = fail(ModelRefusedCall, says(None, finish_reason="content_filter"))
    assert "content filter" in str(error)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"choices": []}, "without choices"),
        ({"model": "x"}, "not with a chat completion. Set SHRAG_LLM__BASE_URL"),
        ({"choices": [{"text": "legacy"}]}, "not with a chat completion"),
        ([], "not with a chat completion"),
    ],
)
def test_a_response_without_an_answer_is_not_repaired(body, said):
    script, error = fail(ModelAnswerInvalid, httpx.Response(200, json=body))
    assert len(script.requests) == 1
    assert said in str(error)


def test_a_page_instead_of_an_answer_is_not_repaired():
    script, error = fail(ModelAnswerInvalid, httpx.Response(200, html="<h1>Welcome</h1>"))
    assert len(script.requests) == 1
    assert error.text == "<h1>Welcome</h1>"


def test_an_error_with_status_200_is_a_refusal():
    _, error = fail(ModelRefusedCall, httpx.Response(200, json={"error": {"message": "no model loaded"}}))
    assert "answered with an error: no model loaded. Look into the server's log." in str(error)


# Statuses


@pytest.mark.parametrize(
    ("status", "step"),
    [
        (400, "longer than the model's context"),
        (401, "SHRAG_LLM__API_KEY"),
        (403, "may not use this model"),
        (404, "http://model.test/v1/models"),
        (418, "Check SHRAG_LLM__BASE_URL"),
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
    assert (
        f"http://model.test/v1/chat/completions answered {status} to a call of tiny-writer (once): "
        in str(error)
    )
    assert "No. [31mNot here. " in str(error)
    assert step in str(error)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('{"error": {"message": "in vLLM", "code": 404}}', "in vLLM"),
        ('{"error": "in Ollama"}', "in Ollama"),
        ('{"detail": "in FastAPI"}', "in FastAPI"),
        ('{"object": "error", "message": "in old vLLM"}', "in old vLLM"),
        ('{"detail": [{"loc": ["body"]}]}', '[{"loc": ["body"]}]'),
        ("<html>nginx</html>", "<html>nginx</html>"),
        ("", "Bad Request"),
    ],
)
def test_the_words_of_the_server_are_found_in_any_shape(body, said):
    _, error = fail(ModelRefusedCall, httpx.Response(400, text=body))
    assert f"(once): {said}. The prompt" in str(error)


def test_the_words_of_the_server_are_cut():
    _, error = fail(ModelRefusedCall, httpx.Response(400, text="x" * 5000))
    assert "x" * 299 + "…" in str(error)
    assert "x" * 300 not in str(error)


def test_a_key_that_the_server_repeats_is_hidden():
    answer = httpx.Response(401, json={"error": {"message": "Incorrect key: sk-river-123"}})
    _, error = fail(ModelRefusedCall, answer, api_key="sk-river-123")
    assert "Incorrect key: ***. Set SHRAG_LLM__API_KEY" in str(error)


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ("<p>Bearer sk-river-123</p>", "<p>Bearer ***</p>"),
        ('{"choices": [], "id": "sk-river-123"}', '{"choices": [], "id": "***"}'),
    ],
)
def test_a_key_in_a_body_that_is_no_answer_is_hidden_from_trace_and_recording(body, kept):
    _, error = fail(ModelAnswerInvalid, httpx.Response(200, text=body), api_key="sk-river-123")
    assert error.text == kept


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 503])
def test_what_may_pass_by_itself_is_tried_again(status):
    script, reply = ask(httpx.Response(status), says(RIVER))
    assert (len(script.requests), reply.attempts, reply.repaired) == (2, 2, False)
    assert script.bodies[0] == script.bodies[1]


def test_500_three_times_is_told_with_its_count():
    script, error = fail(ModelRefusedCall, *[httpx.Response(500, text="CUDA out of memory")] * 3, retries=2)
    assert (len(script.requests), error.status) == (3, 500)
    assert "(3 times): CUDA out of memory. Look into the server's log." in str(error)


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
    assert str(error).endswith(
        "It asks for a pause of 20 s, longer than what is left of 5 s (SHRAG_LLM__DEADLINE_S)."
    )


def test_pauses_double_within_a_quarter_and_are_bounded():
    assert 0.75 <= pause_s(1, 1.0, b"") <= 1.25
    assert 3.0 <= pause_s(3, 1.0, b"") <= 5.0
    assert pause_s(3, 1.0, b"a") == pause_s(3, 1.0, b"a")
    assert pause_s(3, 1.0, b"a") != pause_s(3, 1.0, b"b")
    assert pause_s(10, 60.0, b"") == 30.0
    assert pause_s(1, 1.0, b"", asked_for=7.0) == 7.0
    assert pause_s(1, 1.0, b"", asked_for=3600.0) == 3600.0


# Connections


def test_a_connection_that_is_refused_is_tried_again_and_told():
    with socket.socket() as taken:  # bound, and nobody listens
        taken.bind(("127.0.0.1", 0))
        base_url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        with pytest.raises(ModelUnreachable) as caught:
            asyncio.run(call(settings(base_url=base_url, retries=1)))
    assert str(caught.value).startswith(f"cannot reach {base_url}/chat/completions: ")
    assert str(caught.value).endswith(
        "(2 times). Start the server, or set SHRAG_LLM__BASE_URL to where it runs."
    )


def test_a_connection_lost_once_is_made_again():
    script, reply = ask(httpx.ReadError(""), httpx.ConnectTimeout(""), says(RIVER))
    assert (len(script.requests), reply.attempts) == (3, 3)


def test_an_error_without_words_is_told_by_its_name():
    _, error = fail(ModelUnreachable, httpx.ReadError(""), retries=0)
    assert "/chat/completions: ReadError (once). Start" in str(error)


def test_a_body_that_breaks_off_is_asked_for_again():
    with served(breaks_off, answers_with(RIVER)) as server:
        reply = asyncio.run(call(settings(base_url=server.base_url)))
    assert (reply.value.name, reply.attempts, len(server.bodies)) == ("낙동강", 2, 2)


def test_a_body_that_always_breaks_off_is_a_lost_connection():
    with served(breaks_off) as server, pytest.raises(ModelUnreachable, match=r"\(2 times\)"):
        asyncio.run(call(settings(base_url=server.base_url, retries=1)))
    assert len(server.bodies) == 2


def test_a_server_that_sends_a_little_all_the_time_is_too_slow_all_the_same():
    with served(drips) as server, pytest.raises(ModelTooSlow) as caught:
        asyncio.run(call(settings(base_url=server.base_url, timeout_s=0.2, retries=1)))
    assert len(server.bodies) == 2
    assert (
        "gave no whole answer within 0.2 s (SHRAG_LLM__TIMEOUT_S) (2 times). Raise SHRAG_LLM__TIMEOUT_S"
        in str(caught.value)
    )


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


# Schemas


class Sentence(BaseModel):
    text: Annotated[str, Field(max_length=500)]
    citations: Annotated[list[int], Field(max_length=5)] = []


class Essay(BaseModel):
    title: Annotated[str, Field(max_length=100, title="Title of the essay")]
    body: Annotated[list[Sentence], Field(max_length=8, description="one sentence each")]
    mood: Literal["sure", "unsure"] = "sure"


class Chapter(BaseModel):
    parts: list["Chapter"]


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


def test_a_schema_that_holds_itself_is_refused():
    with pytest.raises(TypeError, match="Chapter holds itself"):
        json_schema(Chapter)


# Settings


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


def test_without_settings_no_model_is_configured():
    settings = GeneratorSettings().llm
    assert not settings.configured
    with pytest.raises(ModelNotConfigured, match="SHRAG_LLM__BASE_URL"):
        LanguageModel(settings)


def test_empty_variables_are_as_none(monkeypatch):
    monkeypatch.setenv("SHRAG_LLM__BASE_URL", "")
    monkeypatch.setenv("SHRAG_LLM__MODEL", "")
    assert not GeneratorSettings().llm.configured


def test_the_full_address_of_the_call_is_taken_as_well():
    assert settings(base_url="https://model.test/v1/chat/completions").base_url == "https://model.test/v1"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"base_url": "localhost:8000"}, "must begin with http:// or https://"),
        ({"base_url": "ftp://model.test"}, "must begin with http:// or https://"),
        ({"base_url": "http://reader:secret@model.test/v1"}, "a key belongs into SHRAG_LLM__API_KEY"),
        ({"base_url": "http://model.test/v1?key=secret"}, "must not hold"),
        ({"api_key": "secret secret"}, "must be ASCII without white space"),
        ({"api_key": "secret열쇠"}, "must be ASCII without white space"),
        ({"model": None}, "set SHRAG_LLM__MODEL"),
        ({"timeout_s": 0}, "greater than 0"),
        ({"timeout_s": "nan"}, "finite"),
        ({"timout_s": 1}, "Extra inputs"),
    ],
)
def test_settings_that_cannot_work_are_refused_without_showing_them(changed, said):
    with pytest.raises(ValidationError) as caught:
        settings(**changed)
    assert said in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_bad_setting_of_the_environment_is_not_shown_either(monkeypatch):
    monkeypatch.setenv("SHRAG_LLM__BASE_URL", "http://reader:secret@model.test/v1")
    with pytest.raises(ValidationError) as caught:
        GeneratorSettings()
    assert "secret" not in str(caught.value)


def test_all_errors_of_the_generator_have_one_root():
    errors = (ModelNotConfigured, ModelUnreachable, ModelTooSlow, ModelRefusedCall, ModelAnswerInvalid)
    assert all(issubclass(error, GeneratorError) for error in errors)


def test_the_defaults_are_valid():
    assert LanguageModelSettings(base_url=BASE_URL, model="tiny-writer").temperature == 0
