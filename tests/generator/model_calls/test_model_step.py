"""A model call as a step: its record, its fallback, its budget, and the variables of its prompt."""

import asyncio
from typing import Any

import httpx
import pytest
from pydantic import BaseModel

from generator.errors import InvalidPrompt
from generator.llm import LanguageModel
from generator.model_calls.budgets import Allowance, Budget, Spent
from generator.model_calls.model_step import ModelStep, UnusableReply, constant
from generator.prompts import Prompt
from generator.tracing.steps import Step
from tests.generator.language_model import Scripted, says, settings
from tests.generator.sample_index import passage

PROMPT = Prompt("draft", "en", 3, "Name the river.\n$question")


class River(BaseModel):
    """Reply schema."""

    name: str


async def name_of(reply):
    if not reply.value.name:
        raise UnusableReply("named no river")
    return reply.value.name


def drafting(**changed):
    declared: dict[str, Any] = {
        "prompt": PROMPT,
        "values": {"question": "Which river?"},
        "read": name_of,
        "fallback": "no draft",
        "otherwise": constant("Han"),
        "inputs": {"question": "Which river?"},
        "output": lambda value: [value],
    }
    return ModelStep("draft", schema=River, **declared | changed)


def run(step, *answers, budget=None, **changed):
    """Run a step with a model of these answers; return its value, its trace and the requests."""
    root, script = Step("ask"), Scripted(answers)

    async def run_step():
        async with LanguageModel(settings(retries=0, **changed), transport=script.transport) as model:
            return await step.run(root, model, budget)

    steps: list[Any] = root.children
    return asyncio.run(run_step()), steps, script.requests


def test_a_reply_is_recorded_and_becomes_the_value():
    value, [step], _ = run(drafting(), says({"name": "Nakdong"}))
    assert value == "Nakdong"
    assert (step.name, step.inputs, step.output) == ("draft", {"question": "Which river?"}, ["Nakdong"])
    call = step.as_record()["model_call"]
    assert (call["prompt_version"], call["prompt_tokens"], call["completion_tokens"]) == (3, 100, 20)


def test_by_default_the_output_is_the_reply():
    _, [step], _ = run(drafting(output=None), says({"name": "Nakdong"}))
    assert step.output == {"name": "Nakdong"}


def test_a_failed_call_leaves_the_fallback_and_its_name():
    value, [step], _ = run(drafting(), httpx.Response(503))
    assert value == "Han"
    assert step.fallback == "no draft"
    assert step.error.startswith("ModelRefusedCall: ")
    assert step.notes[0].startswith("no draft, the model failed: ")
    assert step.model_call == {"attempts": 1}


def test_an_unusable_reply_is_a_failure_with_its_text():
    value, [step], _ = run(drafting(), says({"name": ""}))
    assert value == "Han"
    assert "tiny-writer-7b at http://model.test/v1/chat/completions named no river. Use" in step.error
    assert step.model_call["text"] == '{"name": ""}'


def test_without_a_model_there_is_no_step():
    root = Step("ask")
    assert asyncio.run(drafting().run(root, None)) == "Han"
    assert root.children == []


def test_after_a_server_that_was_too_slow_no_request_is_sent():
    step = drafting()
    root, script = Step("ask"), Scripted([httpx.ReadTimeout("slow")])

    async def run_twice():
        async with LanguageModel(settings(retries=0), transport=script.transport) as model:
            return [await step.run(root, model) for _ in range(2)]

    assert asyncio.run(run_twice()) == ["Han", "Han"]
    assert [child.model_call for child in root.children] == [{"attempts": 1}, {"attempts": 0}]
    assert len(script.requests) == 1


def test_an_error_of_the_program_has_no_fallback():
    async def fail(_):
        raise KeyError("bug")

    with pytest.raises(KeyError):
        run(drafting(read=fail), says({"name": "Han"}))


@pytest.mark.parametrize("values", [{}, {"question": "Which?", "year": "2026"}])
def test_a_missing_or_unknown_variable_of_the_prompt_is_a_named_error(values):
    with pytest.raises(InvalidPrompt, match=r"prompt draft\.en"):
        run(drafting(values=values), says({"name": "Han"}))


def test_a_budget_that_is_spent_sends_no_request():
    budget = Allowance(Budget(calls=2), Spent(calls=2))
    value, steps, requests = run(drafting(if_spent=constant("later")), budget=budget)
    assert (value, steps, requests) == ("later", [], [])
    assert budget.ended == ("calls",)


def test_by_default_a_spent_budget_leaves_the_fallback():
    value, *_ = run(drafting(), budget=Allowance(Budget(tokens=0)))
    assert value == "Han"


def test_a_budget_without_room_for_the_repair_is_spent():
    budget = Allowance(Budget(calls=1))
    value, [step], requests = run(drafting(if_spent=constant("later")), says("no JSON"), budget=budget)
    assert value == "later"
    assert len(requests) == 1
    assert step.error == "BudgetSpent"
    assert budget.spent.calls == 1


def test_the_reservation_is_corrected_by_the_counted_tokens():
    budget = Allowance(Budget(tokens=100_000))
    run(drafting(), says({"name": "Nakdong"}), budget=budget)
    assert (budget.spent.calls, budget.spent.tokens) == (1, 120)


def test_a_request_that_was_refused_costs_a_call_and_no_tokens():
    budget = Allowance(Budget(calls=3))
    run(drafting(), httpx.Response(503), budget=budget)
    assert (budget.spent.calls, budget.spent.tokens) == (1, 0)


def test_a_prompt_that_the_server_refuses_as_too_long_is_shortened_once_and_both_requests_are_spent():
    river = passage("R1", "The Han is long. The Nakdong is longer.", title="Rivers")
    text = "maximum context length is 900 tokens, the context length of this model"
    too_long = httpx.Response(400, json={"error": {"message": text, "code": 400}})
    prompt = Prompt("draft", "en", 3, "Name the river.\n$passages\n$question")
    step, budget = drafting(prompt=prompt, passages=[river]), Allowance(Budget(calls=3))
    value, [done], requests = run(step, too_long, says({"name": "Nakdong"}), budget=budget, max_tokens=64)
    assert value == "Nakdong"
    assert [b"longer" in request.content for request in requests] == [True, False]
    assert done.model_call["context"]["said_by"] == "refusal"
    assert budget.spent.calls == 2
