"""Questions of several steps: the steps of a strategy, their evidence, and the limits."""

import pytest

from generator.budgets import Budget
from tests.generator.language_model import Scripted, says, settings
from tests.generator.sample_index import ENGLISH, KOREAN, ask_model, settings_of
from tests.generator.test_pipeline import UNUSED

STEPS = (
    "How many annotators wrote the Korean question answering corpus on which a knowledge-graph approach was "
    "later tested, and by how much did that approach lower hallucination?"
)
FIRST, SECOND = "Which Korean question answering corpus is there?", "By how much did it lower hallucination?"
STANDALONE = "By how much did knowledge graphs lower hallucination on the KorQuAD corpus?"
ANSWER = {"title": "A title", "body": [{"text": "Knowledge graphs lower hallucination.", "citations": [1]}]}


def strategy(*steps, **values):
    keywords = {"ko": ["지식 그래프", "환각"], "en": ["knowledge graph", "hallucination"]}
    return says(keywords | {"exclude": [], "years": None, "steps": list(steps)} | values)


OF_A_STEP = strategy()


def answers(text, *, answered=True):
    return says({"answer": text, "passages": [1], "answered": answered})


def open_target(sample, *replies):
    script, llm = Scripted(replies), settings(stream=False, retries=0)
    return ask_model(sample, STEPS, settings_of(UNUSED, llm=llm), script, hops="auto"), script


TWO_STEPS = (
    strategy(FIRST, SECOND),
    OF_A_STEP,
    answers("KorQuAD"),
    says({"question": STANDALONE}),
    OF_A_STEP,
    answers("by a third"),
    says(ANSWER),
)


def test_each_answer_enters_the_next_question_and_each_step_has_its_strategy(sample):
    asked, script = open_target(sample, *TWO_STEPS)
    prompts = [body["messages"][0]["content"] for body in script.bodies]
    whole, first, _, rewrite, second, sub_answer, answer = prompts
    assert STEPS in whole
    assert FIRST in first
    assert f"{FIRST} KorQuAD" in rewrite
    assert STANDALONE in second
    assert STANDALONE in sub_answer
    assert f"{FIRST} KorQuAD" in answer
    assert f"{STANDALONE} by a third" in answer
    assert [hop["output"]["question"] for hop in asked.trace.steps("hop")] == [FIRST, STANDALONE]
    assert [step["name"] for step in asked.trace.record["steps"]] == ["strategy", "hops", "answer"]
    assert asked.answer.written_by == "tiny-writer-7b"


def test_exclusions_and_years_of_the_question_apply_to_each_step(sample):
    whole = strategy(KOREAN, ENGLISH, exclude=[{"ko": "팽창", "en": "swelling"}], years=[2015, None])
    rewritten = says({"question": ENGLISH})
    replies = [whole, OF_A_STEP, answers("one"), rewritten, OF_A_STEP, answers("two"), says(ANSWER)]
    asked, _ = open_target(sample, *replies)
    own, *hops = [step["output"] for step in asked.trace.steps("search")]
    assert own["strategy"]["exclude"] == [{"ko": "팽창", "en": "swelling"}]
    for hop in hops:
        assert hop["strategy"]["exclude"] == [{"ko": "팽창"}, {"en": "swelling"}]
        assert all(hit["year"] >= 2015 for hit in hop["hits"])
        assert hop["hits"]


@pytest.mark.parametrize("steps", [[], [STEPS], [FIRST]], ids=["none", "the question", "one"])
def test_a_question_without_steps_goes_its_way_by_the_same_strategy(sample, steps):
    asked, script = open_target(sample, strategy(*steps), says(ANSWER))
    assert [step["name"] for step in asked.trace.record["steps"]] == ["strategy", "search", "answer"]
    assert len(asked.evidence) <= 5
    assert len(script.requests) == 2


def test_a_step_that_repeats_an_earlier_question_is_left_out(sample):
    replies = [strategy(FIRST, SECOND), OF_A_STEP, answers("KorQuAD")]
    asked, _ = open_target(sample, *replies, says({"question": f"  {FIRST.upper()}!"}), says(ANSWER))
    assert "step 2 repeats an earlier question" in " ".join(asked.result.notes)
    assert asked.answer.title == "A title"


def test_a_budget_that_is_spent_ends_the_steps_with_a_note(sample, monkeypatch):
    monkeypatch.setattr("generator.hops.BUDGET", Budget(calls=2))
    asked, _ = open_target(sample, *TWO_STEPS[:3], says(ANSWER))
    assert asked.result.notes[-1] == "the budget of the steps (2 calls) is spent: 1 of 2 are done"
    assert asked.answer.title == "A title"
