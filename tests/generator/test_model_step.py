"""A model call as a step: its record, its fallback, its budget, and the variables of its prompt."""

import asyncio
from dataclasses import asdict
from typing import Any

import httpx
import pytest
from pydantic import BaseModel

from generator.budgets import Allowance, Budget, Spent
from generator.llm import LanguageModel
from generator.model_step import ModelStep, UnusableReply, constant
from generator.prompts import Prompt
from generator.tracing import Step
from tests.generator.language_model import Scripted, completion, says, settings

PROMPT = Prompt("draft", "en", 3, "Name the river.\n$question")


class River(BaseModel):
    """Reply schema."""

    name: str


def name_of(reply):
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


def run(step, *answers, budget=None, times=1, **changed):
    """Run a step with a model of these answers; return its value, its trace and the requests."""
    root, script = Step("ask"), Scripted(answers)

    async def run_step():
        async with LanguageModel(settings(retries=0, **changed), transport=script.transport) as model:
            return [await step.run(root, model, budget) for _ in range(times)][-1]

    steps: list[Any] = root.children
    return asyncio.run(run_step()), steps, script.requests


def test_a_reply_is_recorded_and_becomes_the_value():
    value, [step], _ = run(drafting(), says({"name": "Nakdong"}))
    assert value == "Nakdong"
    assert (step.name, step.inputs, step.output) == ("draft", {"question": "Which river?"}, ["Nakdong"])
    call = step.as_record()["model_call"]
    assert (call["prompt_version"], call["prompt_tokens"], call["completion_tokens"]) == (3, 100, 20)
    _, [step], _ = run(drafting(output=None), says({"name": "Nakdong"}))
    assert step.output == {"name": "Nakdong"}


@pytest.mark.parametrize(
    ("answer", "error", "call"),
    [
        (httpx.Response(503), "ModelRefusedCall: ", {"attempts": 1}),
        (
            says({"name": ""}),
            "ModelAnswerInvalid: tiny-writer-7b at http://model.test/v1/chat/completions named no river. Use",
            {"attempts": 1, "text": '{"name": ""}'},
        ),
    ],
)
def test_a_failed_call_leaves_the_fallback_its_name_and_a_note(answer, error, call):
    value, [step], _ = run(drafting(), answer)
    assert (value, step.fallback, step.model_call) == ("Han", "no draft", call)
    assert step.error.startswith(error)
    assert step.notes[0].startswith("no draft, the model failed: ")


def test_after_a_server_that_was_too_slow_no_request_is_sent():
    budget = Allowance(Budget(calls=5))
    value, steps, requests = run(drafting(), httpx.ReadTimeout("slow"), times=2, budget=budget)
    assert (value, len(requests), budget.spent.calls) == ("Han", 1, 1)
    assert [step.model_call for step in steps] == [{"attempts": 1}, {"attempts": 0}]


# Budgets

RESERVED = len(PROMPT.render(question="Which river?")) // 3 + settings().max_tokens


def without_usage(content):
    return httpx.Response(200, json={**completion(content), "usage": None})


@pytest.mark.parametrize(
    ("budget", "before"),
    [
        (Budget(calls=2), Spent(calls=2)),
        (Budget(tokens=2_000), Spent()),
        (Budget(seconds=9), Spent(seconds=9.5)),
    ],
)
def test_a_budget_that_is_spent_sends_no_request_and_is_noted(budget, before):
    allowance = Allowance(budget, before)
    value, steps, requests = run(drafting(if_spent=constant("later")), budget=allowance)
    assert (value, steps, requests) == ("later", [], [])
    [(name, limit)] = [(name, limit) for name, limit in asdict(budget).items() if limit is not None]
    assert allowance.note() == f"the budget of {limit:,} {name} is spent; what was found before is given"
    assert run(drafting(), budget=allowance)[0] == "Han"


@pytest.mark.parametrize(
    ("answers", "calls", "tokens"),
    [
        ([says({"name": "Nakdong"})], 1, 120),
        ([says("no JSON"), says({"name": "Nakdong"})], 2, 240),
        ([httpx.Response(503)], 1, 0),
        ([says("no JSON")] * 2, 2, 2 * RESERVED),
        ([without_usage("no JSON"), without_usage({"name": "Nakdong"})], 2, 2 * RESERVED),
    ],
)
def test_the_reservation_is_corrected_by_the_actual_cost(answers, calls, tokens):
    budget = Allowance(Budget(calls=3, tokens=100_000))
    run(drafting(), *answers, budget=budget)
    assert (budget.spent.calls, budget.spent.tokens) == (calls, tokens)


def test_concurrent_calls_together_stay_within_the_budget():
    script, budget = Scripted([says({"name": "Nakdong"})] * 5), Allowance(Budget(calls=3))

    async def run_five():
        async with LanguageModel(settings(), transport=script.transport) as model:
            return await asyncio.gather(*(drafting().run(Step("ask"), model, budget) for _ in range(5)))

    assert sorted(asyncio.run(run_five())) == ["Han"] * 2 + ["Nakdong"] * 3
    assert (budget.spent.calls, budget.ended_limits) == (3, ["3 calls"])


def test_the_time_that_is_left_ends_a_running_call():
    async def is_silent(request):
        await asyncio.Event().wait()

    budget = Allowance(Budget(seconds=0.05))

    async def run_step():
        async with LanguageModel(settings(), transport=httpx.MockTransport(is_silent)) as model:
            return await drafting().run(Step("ask"), model, budget)

    assert asyncio.run(run_step()) == "Han"
    assert budget.ended == ("seconds",)
