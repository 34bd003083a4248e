"""The last question of a conversation, made one that stands alone."""

from pathlib import Path

import httpx
import pytest

from generator.conversation import MOST_CHARACTERS, shown_turns
from generator.request import Turn
from tests.generator.language_model import Scripted, says, settings
from tests.generator.sample_index import KOREAN, ask_model, settings_of
from tests.generator.test_pipeline import ANSWER, KEYWORDS, step_of, without_model

UNUSED = Path("/nowhere")  # the index is open already
TURNS = (
    Turn("user", "간호사의 회복탄력성을 다룬 연구가 있는가?"),
    Turn("assistant", "신규 간호사의 회복탄력성을 다룬 연구가 있다 [1]."),
)
LAST = "이직하려는 마음과는 어떻게 연결되는가?"
WHOLE = {"depends": True, "question": "간호사의 회복탄력성은 이직하려는 마음과 어떻게 연결되는가?"}
REFUSED = httpx.Response(400, json={"error": {"message": "no"}})


def asked_behind(index, turns, question, *answers):
    script = Scripted(answers)
    given = settings_of(UNUSED, llm=settings(retries=0))
    return script, ask_model(index, question, given, script, turns=tuple(turns))


def test_a_question_is_asked_with_what_the_conversation_says(sample):
    script, asked = asked_behind(sample, TURNS, LAST, says(WHOLE), says(KEYWORDS), says(ANSWER))
    shown = script.bodies[0]["messages"][0]["content"]
    assert "user: 간호사의 회복탄력성을 다룬 연구가 있는가?" in shown
    assert "assistant: 신규 간호사의 회복탄력성을 다룬 연구가 있다 [1]." in shown
    assert WHOLE["question"] in script.bodies[1]["messages"][0]["content"]
    assert asked.result.question == WHOLE["question"]
    assert asked.result.notes == ()
    step = step_of(asked, "question")
    assert (step["inputs"]["question"], step["output"]) == (LAST, WHOLE["question"])
    assert asked.trace.record["request"]["question"] == LAST
    assert asked.trace.record["request"]["turns"][0] == {"role": "user", "text": TURNS[0].text}


def test_a_question_that_stands_alone_stays_as_it_is_to_the_letter(sample):
    alone = {"depends": False, "question": "Something that the model made of it?"}
    _, asked = asked_behind(sample, TURNS, KOREAN, says(alone), says(KEYWORDS), says(ANSWER))
    assert asked.result.question == KOREAN


@pytest.mark.parametrize("failure", [[REFUSED], [says("no"), says({"depends": True, "question": " "})]])
def test_where_the_model_fails_the_question_stays_and_a_note_says_so(sample, failure):
    _, asked = asked_behind(sample, TURNS, KOREAN, *failure, says(KEYWORDS), says(ANSWER))
    assert asked.result.question == KOREAN
    unclear, failed = asked.result.notes
    assert unclear.code == "turns_unclear"
    assert failed.startswith("keywords of the earlier question, the model failed: ")
    assert asked.answer.written_by == "tiny-writer-7b"


WATER = "Does alternate wetting and drying lower methane from rice paddies?"
KOREAN_WATER = "논에 물을 대고 빼는 방식을 바꾸면 메탄이 얼마나 줄어드는가?"


def behind(index, question, *earlier, **given):
    turns = [turn for each in earlier for turn in (Turn("user", each), Turn("assistant", "Yes. [1]"))]
    return without_model(index, question, turns=tuple(turns), **given)


@pytest.mark.parametrize(
    ("earlier", "question", "added"),
    [
        (WATER, "And on sandy soils?", "methane"),
        (WATER, "Why?", "methane"),
        (KOREAN_WATER, "그때 수량도 줄었나?", "메탄"),
        (WATER, "What about nitrous oxide?", "methane"),
        (KOREAN_WATER, "그럼 모래땅에서는?", "메탄"),
        (WATER, "Is this also true for sandy soils?", "methane"),
        (KOREAN_WATER, "왜 그런가?", "메탄"),
        (WATER, "Is it safe on sandy soils?", "methane"),
    ],
)
def test_without_a_model_a_follow_up_keeps_the_subject_of_the_question_before(
    sample, earlier, question, added
):
    asked = behind(sample, question, earlier)
    assert asked.result.question.startswith(f"{question} (")
    assert added in asked.result.question
    assert asked.result.hits[0].doc_id in {"SAMPLE-AGR-001", "SAMPLE-AGR-002"}
    assert asked.result.notes == ()
    assert step_of(asked, "question")["output"] == asked.result.question


@pytest.mark.parametrize(
    "question",
    [
        "How does aerogel slow thermal runaway?",
        "What is resilience?",
        "Resilience?",
        "회복탄력성이란 무엇인가?",
        "What is the IT outsourcing risk?",
        "Is it possible to grow rice without flooding?",
        "이건희의 경영 전략은?",
        "Does aerogel slow runaway when it spreads?",
    ],
)
def test_without_a_model_a_question_that_does_not_refer_back_stays_as_it_is(sample, question):
    asked = behind(sample, question, WATER)
    assert asked.result.question == question
    assert any("the earlier turns of the conversation were not taken" in each for each in asked.result.notes)


def test_of_a_long_conversation_the_newest_turns_are_shown():
    turns = [Turn(("user", "assistant")[n % 2], f"{n} {'word ' * 500}") for n in range(200)]
    shown = shown_turns(turns)
    assert shown[-1].startswith("assistant: 199 word")
    assert shown[0].startswith("assistant: 193 word")
    assert 1_000 < sum(map(len, shown)) <= MOST_CHARACTERS
    assert all(text.endswith("…") for text in shown)
