"""Questions of several steps: the steps of a strategy, their evidence, and the limits."""

import asyncio
import json
import math
from contextlib import closing

import httpx
import pytest

from generator.answer_events import stream_answer
from generator.budgets import Budget
from generator.hops import answer_in_hops
from generator.pipeline import AskRequest, answer_question
from generator.request import Resources
from generator.tracing.steps import Step
from generator.ways import find_way
from retriever.errors import SourceFailed
from retriever.sources.gathered import SharedModels, index_of_sources
from retriever.sources.kinds.index import IndexSource
from retriever.sources.merging import LimitedSource
from retriever.strategy import Strategy
from tests.generator.language_model import Scripted, says, settings
from tests.generator.sample_index import ENGLISH, KOREAN, ask_model, settings_of
from tests.generator.test_pipeline import UNUSED

pytest_plugins = ["tests.generator.sample_index"]

STEPS = (
    "How many annotators wrote the Korean question answering corpus on which a knowledge-graph approach was "
    "later tested, and by how much did that approach lower hallucination?"
)
FIRST, SECOND = "Which Korean question answering corpus is there?", "By how much did it lower hallucination?"
STANDALONE = "By how much did knowledge graphs lower hallucination on the KorQuAD corpus?"
ANSWER = {
    "title": "A title",
    "introduction": [{"text": "Knowledge graphs lower hallucination.", "citations": [1]}],
    "body": [],
    "conclusion": [],
    "answered": True,
}


def strategy(*steps, **values):
    keywords = {"ko": ["지식 그래프", "환각"], "en": ["knowledge graph", "hallucination"]}
    return says(keywords | {"exclude": [], "years": None, "steps": list(steps)} | values)


OF_A_STEP = strategy()


def answers(text, *, answered=True):
    return says({"answer": text, "passages": [1], "answered": answered})


def rewritten(question):
    return says({"question": question})


def open_target(sample, *replies, hops="auto", question=STEPS, evidence=None, **request):
    script = Scripted(replies)
    llm = settings(stream=False, retries=0)
    asked = ask_model(
        sample, question, settings_of(UNUSED, llm=llm), script, hops=hops, evidence=evidence, **request
    )
    return asked, script


TWO_STEPS = (
    strategy(FIRST, SECOND),
    OF_A_STEP,
    answers("KorQuAD"),
    rewritten(STANDALONE),
    OF_A_STEP,
    answers("by a third"),
    says(ANSWER),
)


def prompts_of(script):
    return [body["messages"][0]["content"] for body in script.bodies]


def hop_steps(asked):
    return list(asked.trace.steps("hop"))


def test_each_answer_enters_the_next_question_and_each_step_has_its_strategy(sample):
    asked, script = open_target(sample, *TWO_STEPS)
    whole, first, _, rewrite, second, sub_answer, answer = prompts_of(script)
    assert STEPS in whole
    assert FIRST in first
    assert f"{FIRST} KorQuAD" in rewrite
    assert STANDALONE in second
    assert STANDALONE in sub_answer
    assert f"{FIRST} KorQuAD" in answer
    assert f"{STANDALONE} by a third" in answer
    assert [hop["output"]["question"] for hop in hop_steps(asked)] == [FIRST, STANDALONE]
    assert [step["name"] for step in asked.trace.record["steps"]] == ["strategy", "hops", "answer"]
    assert asked.answer.written_by == "tiny-writer-7b"


def test_the_evidence_of_all_steps_goes_to_the_answer(sample):
    replies = [strategy(KOREAN, ENGLISH), OF_A_STEP, answers("one"), rewritten(ENGLISH), OF_A_STEP]
    asked, script = open_target(sample, *replies, answers("two"), says(ANSWER))
    searches = [step["output"]["hits"] for step in asked.trace.steps("search")]
    found = {hit["passage_id"] for hits in searches for hit in hits}
    assert {hit.passage_id for hit in asked.evidence} == found
    assert len(asked.evidence) > 5
    assert [hit.rank for hit in asked.evidence] == list(range(1, len(asked.evidence) + 1))
    assert all(hit.passage.text[:40] in prompts_of(script)[-1] for hit in asked.evidence)


def test_exclusions_and_years_of_the_question_apply_to_each_step(sample):
    whole = strategy(KOREAN, ENGLISH, exclude=[{"ko": "팽창", "en": "swelling"}], years=[2015, None])
    replies = [whole, OF_A_STEP, answers("one"), rewritten(ENGLISH), OF_A_STEP, answers("two"), says(ANSWER)]
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


def test_the_steps_of_a_given_strategy_are_followed_without_asking_for_another(sample):
    given = Strategy(en=("knowledge graph",), steps=(FIRST, SECOND))
    asked, _ = open_target(sample, *TWO_STEPS[1:], strategy=given)
    assert len(hop_steps(asked)) == 2


def test_a_step_that_repeats_an_earlier_question_is_left_out(sample):
    replies = [strategy(FIRST, SECOND), OF_A_STEP, answers("KorQuAD"), rewritten(f"  {FIRST.upper()}!")]
    asked, _ = open_target(sample, *replies, says(ANSWER))
    assert "step 2 repeats an earlier question" in " ".join(asked.result.notes)
    assert asked.answer.title == "A title"


def within(sample, budget, transport):
    """Answer within a budget; return the answer and the notes."""
    everything = settings_of(UNUSED, llm=settings(stream=False, retries=0))

    async def ask():
        async with everything.language_model(transport) as model:
            step = Step("ask")
            request = AskRequest(STEPS, hops="auto")
            resources = Resources(sample, everything, model)
            with step.running():
                found = await answer_in_hops(find_way("shrag"), request, resources, step, budget)
            return found.answer, step.all_notes()

    return asyncio.run(ask())


def test_a_budget_that_is_spent_ends_the_steps_with_a_note(sample):
    script = Scripted([*TWO_STEPS[:3], says(ANSWER)])
    answer, notes = within(sample, Budget(calls=2), script.transport)
    assert notes == ["the budget of the steps (2 calls) is spent: 1 of 2 are done"]
    assert answer.title == "A title"


def test_a_model_that_is_silent_costs_no_more_than_the_seconds_of_the_budget(sample):
    plan, told = [strategy(FIRST, SECOND)], list[httpx.Request]()

    async def reply(request):
        if not request.url.path.endswith("/chat/completions"):
            return httpx.Response(404)
        if plan:
            return plan.pop(0)
        if "Which Korean" in json.loads(request.content)["messages"][0]["content"] and not told:
            told.append(request)
            await asyncio.sleep(600)
        return says(ANSWER)

    answer, notes = within(sample, Budget(seconds=3), httpx.MockTransport(reply))
    assert any("the budget of the steps (3 seconds) is spent" in note for note in notes)
    assert answer.title == "A title"


def test_where_the_model_fails_in_a_step_the_answer_says_so(sample):
    failing = [says("nothing"), says("nothing again")]
    asked, _ = open_target(
        sample, strategy(FIRST, ENGLISH), *failing, *failing, OF_A_STEP, answers("two"), says(ANSWER)
    )
    notes = " ".join(asked.result.notes)
    assert "strategy from statistics" in notes
    assert "no answer of this step" in notes
    assert asked.answer.title == "A title"


def test_without_a_model_there_is_one_search(sample):
    asked = asyncio.run(answer_question(sample, AskRequest(STEPS, hops="auto"), settings_of(UNUSED)))
    assert [step["name"] for step in asked.trace.record["steps"]] == ["search", "quotation"]


def test_where_sources_fail_after_the_first_search_its_evidence_answers(sample, monkeypatch):
    search, calls, most = IndexSource.search, 0, math.inf

    async def fails_later(source, queries, *, filters):
        nonlocal calls
        calls += 1
        if calls > most:
            raise SourceFailed("gone")
        return await search(source, queries, filters=filters)

    def ask(*replies, hops):
        everything = settings_of(UNUSED, llm=settings(stream=False, retries=0))

        async def answer():
            source = LimitedSource(IndexSource("ours", sample), 60)
            with closing(SharedModels(everything.indexer)) as models:
                async with (
                    index_of_sources([source], models) as index,
                    everything.language_model(Scripted(replies).transport) as model,
                ):
                    return await answer_question(index, AskRequest(STEPS, hops=hops), everything, model=model)

        return asyncio.run(answer())

    monkeypatch.setattr(IndexSource, "search", fails_later)
    ask(strategy(FIRST, ENGLISH), says(ANSWER), hops="never")
    most, calls = calls, 0
    asked = ask(strategy(FIRST, ENGLISH), OF_A_STEP, OF_A_STEP, says(ANSWER), hops="auto")
    assert "step 1 was not searched for: gone" in asked.result.notes
    assert asked.evidence


def test_an_expression_and_a_question_about_a_topic_go_their_way(sample):
    for request in (
        AskRequest("battery AND thermal", method="boolean", hops="auto"),
        AskRequest(STEPS, way="paper-qa-1", topic="SAMPLE-BAT-001", hops="auto"),
    ):
        asked = asyncio.run(answer_question(sample, request, settings_of(UNUSED)))
        assert "hops" not in [step["name"] for step in asked.trace.record["steps"]]


def test_the_stream_has_the_events_of_all_steps(sample):
    script = Scripted(TWO_STEPS)
    everything = settings_of(UNUSED, llm=settings(stream=False, retries=0))

    async def events():
        async with everything.language_model(script.transport) as model:
            request = AskRequest(STEPS, hops="auto")
            return [event async for event in stream_answer(sample, request, everything, model=model)]

    told = asyncio.run(events())
    kinds = [event.kind for event in told]
    assert (
        kinds.index("keywords") < kinds.index("queries") < kinds.index("evidence") < kinds.index("sentence")
    )
    last = [event.data for event in told if event.kind == "evidence"][-1]
    assert [hit["passage_id"] for hit in last["hits"]] == [
        hit["passage_id"] for hit in told[-1].data["evidence"]
    ]


def test_a_way_that_is_replaced_by_several_steps_is_named(sample):
    for way, told in (("paper-qa-1", True), ("shrag", False)):
        asked, _ = open_target(sample, *TWO_STEPS, way=way)
        assert any("not by way" in note for note in asked.result.notes) is told
