"""What a server refuses for good, in its own words, without the key."""

import httpx
import pytest

from generator.errors import ModelAnswerInvalid, ModelRefusedCall
from tests.generator.river import fail


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
    assert f"http://model.test/v1/chat/completions answered {status}" in str(error)
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
    assert f": {said}. The prompt" in str(error)


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
