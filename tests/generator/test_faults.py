"""Whatever goes wrong with the answer, the question is answered, labelled, and the note says why."""

import httpx
import pytest

from tests.generator.language_model import Scripted, events, piece, says, settings, streams
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
    "a refusal": ([says(None, refusal="No.")], "declined: No. Rephrase the question"),
    "a stream that breaks off": (
        [streams(*events(ANSWER)[:9])],
        "the stream ended without [DONE], after 8 pieces",
    ),
    "an error in a stream": ([streams(piece("{"), DIED)], "EngineCore died"),
    "500": ([httpx.Response(500, text="CUDA error")], "answered 500"),
    "429 for long": (
        [httpx.Response(429, headers={"Retry-After": "3600"})],
        "It asks for a pause of 3,600 s, more than is left of 240 s (SHRAG_LLM__ANSWER_S).",
    ),
    "no connection": ([httpx.ConnectError("refused")], "cannot reach"),
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
