"""Whatever goes wrong with the answer, the question is answered, labelled, and the note says why."""

import httpx
import pytest

from generator.pipeline import AskRequest, answer_question, run
from tests.generator.language_model import Scripted, events, is_silent, piece, says, served, settings, streams
from tests.generator.sample_index import KOREAN, ask_model, settings_of
from tests.generator.test_pipeline import ANSWER, KEYWORDS, UNUSED

pytest_plugins = ["tests.generator.sample_index"]

DIED = {"error": {"message": "EngineCore died", "code": 500}}
FAULTS: dict[str, tuple[list[httpx.Response | Exception], str]] = {
    "half a JSON": (
        [streams(*events('{"title": "회복'))] * 2,
        "gave no valid 'answer' answer after one repair",
    ),
    "an empty answer": ([streams(*events(""))] * 2, "the answer is empty"),
    "prose": ([says("I would say that it depends.")] * 2, "there is no JSON object in it"),
    "a refusal": ([says(None, refusal="No.")], "declined: No. Rephrase the question"),
    "a stream that breaks off": (
        [streams(*events(ANSWER)[:9])],
        "the stream ended without [DONE], after 8 pieces",
    ),
    "an error in a stream": ([streams(piece("{"), DIED)], "EngineCore died"),
    "500": ([httpx.Response(500, text="CUDA error")], "answered 500"),
    "503": ([httpx.Response(503, text="starting")], "answered 503"),
    "429 for long": (
        [httpx.Response(429, headers={"Retry-After": "3600"})],
        "It asks for a pause of 3,600 s, more than is left of 240 s (SHRAG_LLM__ANSWER_S).",
    ),
    "no connection": ([httpx.ConnectError("refused")], "cannot reach"),
    "another protocol": ([httpx.RemoteProtocolError("no HTTP")], "no HTTP"),
    "a page": ([httpx.Response(200, html="<h1>Welcome</h1>")], "not with a chat completion"),
    "too long twice": (
        [httpx.Response(400, json={"error": {"message": "context_length_exceeded"}})] * 2,
        "the prompt is longer than the model's context",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_answer_leaves_a_quoted_one_and_one_note(sample, fault):
    answers, said = FAULTS[fault]
    script = Scripted([says(KEYWORDS), *answers])
    retries = 1 if "429" in fault else 0
    given = settings_of(UNUSED, llm=settings(retries=retries))
    asked = ask_model(sample, KOREAN, given, script)
    assert asked.answer.written_by == "extractive"
    assert asked.answer.sentences
    (note,) = asked.result.notes
    assert note.startswith("extractive answer, the model failed: ")
    assert said in note
    assert "\n" not in note
    assert len(script.requests) == 1 + len(answers)


def test_a_server_that_is_silent_is_waited_for_once_a_question(sample):
    with served(is_silent) as server:
        given = settings_of(UNUSED, llm=settings(base_url=server.base_url, first_token_s=0.2))
        asked = run(answer_question(sample, AskRequest(KOREAN), given))
        assert server.begun.wait(240)  # a busy machine may take longer to read it than it was waited for
        assert len(server.bodies) == 1
    assert asked.answer.written_by == "extractive"
    keywords, answer = asked.result.notes
    assert keywords.startswith("strategy from statistics, the model failed: ")
    assert answer.startswith("extractive answer, the model failed: ")
    for note in (keywords, answer):
        assert "was silent for 0.2 s (SHRAG_LLM__FIRST_TOKEN_S)" in note
