"""Questions of several steps: the gate, the hops of a model, what ends them, and two rounds without one."""

import asyncio
import json
import math
from contextlib import closing

import httpx
import pytest

from generator.answer_events import stream_answer
from generator.hops.answering import answer_in_hops
from generator.model_calls.budgets import Budget
from generator.pipeline import AskRequest, answer_question
from generator.request import Resources
from generator.tracing.steps import Step
from generator.ways import find_way
from retriever.errors import SourceFailed
from retriever.sources.gathered import index_of_sources
from retriever.sources.kinds.index import IndexSource
from retriever.sources.merging import LimitedSource
from retriever.sources.models import SharedModels
from tests.generator.language_model import Scripted, says, settings
from tests.generator.sample_index import ENGLISH, KOREAN, NAME, ask_model, settings_of, shrag
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


def decomposed(*questions, ordered=True):
    return says({"questions": list(questions), "ordered": ordered})


def chained(*steps):
    return says({"steps": list(steps)})


def answers(text, *, answered=True):
    return says({"answer": text, "passages": [1], "answered": answered})


def rewritten(question):
    return says({"question": question})


def open_target(sample, *replies, hops="always", question=STEPS, evidence=None):
    script = Scripted(replies)
    llm = settings(stream=False, retries=0)
    asked = ask_model(sample, question, settings_of(UNUSED, llm=llm), script, hops=hops, evidence=evidence)
    return asked, script


def prompts_of(script):
    return [body["messages"][0]["content"] for body in script.bodies]


def hop_steps(asked):
    return list(asked.trace.steps("hop"))


def test_each_answer_of_a_chain_enters_the_next_question(sample):
    asked, script = open_target(
        sample,
        decomposed(FIRST, SECOND),
        chained(FIRST, SECOND),
        answers("KorQuAD"),
        rewritten(STANDALONE),
        answers("by a third"),
        says(ANSWER),
    )
    decompose, chain, _, rewrite, sub_answer, answer = prompts_of(script)
    assert STEPS in decompose
    assert STEPS in chain
    assert f"{FIRST} KorQuAD" in rewrite
    assert STANDALONE in sub_answer
    assert f"{FIRST} KorQuAD" in answer
    assert f"{STANDALONE} by a third" in answer
    assert [hop["output"]["question"] for hop in hop_steps(asked)] == [FIRST, STANDALONE]
    assert asked.answer.written_by == "tiny-writer-7b"


def test_the_evidence_of_all_hops_goes_to_the_answer(sample):
    asked, script = open_target(
        sample,
        decomposed(KOREAN, ENGLISH, ordered=False),
        answers("one"),
        answers("two"),
        says(ANSWER),
    )
    searches = [step["output"]["hits"] for step in asked.trace.steps("search")]
    found = {hit["passage_id"] for hits in searches for hit in hits}
    assert {hit.passage_id for hit in asked.evidence} == found
    assert len(asked.evidence) > 5
    assert [hit.rank for hit in asked.evidence] == list(range(1, len(asked.evidence) + 1))
    assert all(hit.passage.text[:40] in prompts_of(script)[-1] for hit in asked.evidence)


def test_as_much_evidence_as_is_asked_for_goes_to_the_answer_of_several_steps(sample):
    replies = [decomposed(FIRST, SECOND, ordered=False), answers("a"), answers("b"), says(ANSWER)]
    asked, _ = open_target(sample, *replies, evidence=30)
    assert len(hop_steps(asked)) == 2
    assert 30 <= len(asked.evidence) <= 60


def test_what_the_question_excludes_and_its_years_hold_for_every_hop(sample):
    question = f"Papers since 2015, except swelling: {STEPS}"
    asked, _ = open_target(
        sample,
        decomposed(KOREAN, ENGLISH, ordered=False),
        answers("one"),
        answers("two"),
        says(ANSWER),
        question=question,
    )
    own, *hops = [step["output"] for step in asked.trace.steps("search")]
    texts = [exclusion["text"] for exclusion in own["constraints"]["exclusions"]]
    assert (texts, own["constraints"]["years"][0]["first"]) != ([], None)
    for hop in hops:
        assert [exclusion["text"] for exclusion in hop["constraints"]["exclusions"]] == texts
        assert hop["constraints"]["years"][0]["first"] == own["constraints"]["years"][0]["first"]
        assert hop["hits"]


def test_questions_that_do_not_depend_are_not_chained(sample):
    asked, script = open_target(
        sample, decomposed(FIRST, ENGLISH, ordered=False), answers("a"), answers("b"), says(ANSWER)
    )
    assert len(script.requests) == 4
    assert [step["name"] for step in asked.trace.record["steps"]] == ["gate", "hops", "answer"]


def test_a_question_of_one_step_goes_its_way(sample):
    asked, script = open_target(
        sample,
        says({"korean": ["배터리", "열폭주"], "english": ["battery", "thermal runaway"]}),
        says(ANSWER),
        question=ENGLISH,
        hops="auto",
    )
    assert [step["name"] for step in asked.trace.record["steps"]] == ["gate", "keywords", "search", "answer"]
    assert len(script.requests) == 2


def test_where_the_model_sees_one_step_the_question_goes_its_way(sample):
    asked, script = open_target(
        sample,
        decomposed(STEPS),
        says({"korean": ["지식 그래프", "환각"], "english": ["knowledge graph", "hallucination"]}),
        says(ANSWER),
    )
    assert [step["name"] for step in asked.trace.record["steps"]][-3:] == ["keywords", "search", "answer"]
    assert len(asked.evidence) <= 5
    assert len(script.requests) == 3


def test_a_question_that_was_asked_before_ends_the_steps(sample):
    asked, _ = open_target(
        sample,
        decomposed(FIRST, SECOND),
        chained(FIRST, SECOND, "And then?"),
        answers("KorQuAD"),
        rewritten(f"  {FIRST.upper()}!"),
        says(ANSWER),
    )
    assert "repeats an earlier question" in " ".join(asked.result.notes)
    assert asked.answer.title == "A title"


def test_a_step_without_an_answer_ends_the_chain(sample):
    asked, _ = open_target(
        sample,
        decomposed(FIRST, SECOND),
        chained(FIRST, SECOND),
        answers("", answered=False),
        says(ANSWER),
    )
    assert "step 1 found no answer" in " ".join(asked.result.notes)
    assert asked.answer.title == "A title"


def test_a_step_that_finds_nothing_ends_the_chain(sample):
    asked, _ = open_target(sample, decomposed("キツネ?", SECOND), chained("キツネ?", SECOND), says(ANSWER))
    assert "step 1 found no answer" in " ".join(asked.result.notes)


def test_of_a_hundred_steps_six_are_gone(sample):
    steps = [f"What is the {number}th property of hard carbon?" for number in range(100)]
    asked, script = open_target(sample, decomposed(*steps, ordered=False), *[answers("a")] * 6, says(ANSWER))
    assert len(hop_steps(asked)) == 6
    assert "planned 100 steps" in " ".join(asked.result.notes)
    assert len(script.requests) == 8


@pytest.mark.parametrize(
    "plan",
    [
        says("no JSON at all"),
        says({"questions": [], "ordered": False}),
        says({"questions": ["?"], "ordered": "perhaps"}),
        says(""),
        says({"questions": ["x" * 5_000, "y"], "ordered": True}),
        says(json.dumps({"questions": ["\ud800", "   "], "ordered": True})),
    ],
)
def test_without_a_plan_two_rounds_of_searches_take_its_place(sample, plan):
    asked, _ = open_target(sample, plan, plan, says(ANSWER))
    assert "two rounds of searches" in " ".join(asked.result.notes)
    assert asked.answer.title == "A title"


@pytest.mark.parametrize("question", ["?!", STEPS.lower()])
def test_a_question_that_cannot_be_asked_is_no_step(sample, question):
    asked, _ = open_target(
        sample,
        decomposed(question, FIRST, ENGLISH, ordered=False),
        answers("a"),
        answers("b"),
        says(ANSWER),
    )
    assert [hop["inputs"]["question"] for hop in hop_steps(asked)] == [FIRST, ENGLISH]


def within(sample, budget, transport):
    """Answer within a budget; return the answer and the notes."""
    everything = settings_of(UNUSED, llm=settings(stream=False, retries=0))

    async def ask():
        async with everything.language_model(transport) as model:
            step = Step("ask")
            request = AskRequest(STEPS, hops="always")
            resources = Resources(sample, everything, model)
            with step.running():
                found = await answer_in_hops(find_way("shrag"), request, resources, step, budget)
            return found.answer, [note for part in step.walk() for note in part.notes]

    return asyncio.run(ask())


def test_a_budget_that_is_spent_ends_the_steps_with_a_note(sample):
    script = Scripted([decomposed(FIRST, SECOND), chained(FIRST, SECOND), answers("KorQuAD"), says(ANSWER)])
    answer, notes = within(sample, Budget(calls=3), script.transport)
    assert notes == ["the budget of the steps (3 calls) is spent: 1 of 2 are done"]
    assert answer.title == "A title"


def test_a_budget_that_is_too_small_for_a_plan_leaves_two_rounds_of_searches(sample):
    answer, notes = within(sample, Budget(tokens=0), Scripted([says(ANSWER)]).transport)
    note = "the budget of the steps (0 tokens) is spent: two rounds of searches in place of the steps"
    assert notes == [note]
    assert answer.title == "A title"


@pytest.mark.parametrize("budget", [Budget(calls=1), Budget(papers=1)])
def test_a_budget_that_the_plan_or_the_first_search_spends_leaves_no_step(sample, budget):
    script = Scripted([decomposed(FIRST, SECOND, ordered=False), says(ANSWER)])
    answer, notes = within(sample, budget, script.transport)
    [note] = notes
    assert note.endswith("is spent: 0 of 2 are done")
    assert answer.title == "A title"


@pytest.mark.parametrize("ordered", [True, False])
def test_a_model_that_is_silent_costs_no_more_than_the_seconds_of_the_budget(sample, ordered):
    plan = [decomposed(FIRST, SECOND, ordered=ordered), *[chained(FIRST, SECOND)] * ordered]

    async def reply(request):
        if not request.url.path.endswith("/chat/completions"):
            return httpx.Response(404)
        if plan:
            return plan.pop(0)
        if "Which Korean" in json.loads(request.content)["messages"][0]["content"] and not told:
            told.append(request)
            await asyncio.sleep(600)
        return says(ANSWER)

    told = []
    answer, notes = within(sample, Budget(seconds=3), httpx.MockTransport(reply))
    assert any("the budget of the steps (3 seconds) is spent" in note for note in notes)
    assert answer.title == "A title"


def test_where_the_model_fails_in_a_step_the_answer_says_so(sample):
    asked, _ = open_target(
        sample,
        decomposed(FIRST, SECOND),
        chained(FIRST, SECOND),
        says("nothing"),
        says("nothing again"),
        says(ANSWER),
    )
    assert "no answer of this step" in " ".join(asked.result.notes)
    assert asked.answer.title == "A title"


def test_without_a_model_a_second_round_follows_the_first(sample):
    asked = asyncio.run(answer_question(sample, AskRequest(STEPS, hops="auto"), settings_of(UNUSED)))
    first, second = asked.trace.steps("search")
    assert len(asked.evidence) == 10
    names = [query["name"] for query in second["output"]["queries"]]
    assert "second round 1" in names
    assert "second round 1" not in [query["name"] for query in first["output"]["queries"]]
    assert "interleaved" in asked.result.order


@pytest.mark.parametrize(
    ("replies", "note"),
    [
        ([], "the second round was not searched for: gone"),
        (
            [decomposed(FIRST, SECOND), chained(FIRST, SECOND), says(ANSWER)],
            "step 1 was not searched for: gone",
        ),
        ([decomposed(FIRST, ENGLISH, ordered=False), says(ANSWER)], "step 2 was not searched for: gone"),
    ],
    ids=["without a model", "a chain", "at once"],
)
def test_where_sources_fail_after_the_first_search_its_evidence_answers(sample, monkeypatch, replies, note):
    search, calls, most = IndexSource.search, 0, math.inf

    async def fails_later(source, queries, *, filters):
        nonlocal calls
        calls += 1
        if calls > most:
            raise SourceFailed("gone")
        return await search(source, queries, filters=filters)

    def ask(*replies, hops):
        everything = settings_of(UNUSED, **({"llm": settings(stream=False, retries=0)} if replies else {}))
        request = AskRequest(STEPS, hops=hops)

        async def answer():
            source = LimitedSource(IndexSource("ours", sample), 60)
            with closing(SharedModels(everything.indexer)) as models:
                async with index_of_sources([source], models) as index:
                    if not replies:
                        return await answer_question(index, request, everything)
                    async with everything.language_model(Scripted(replies).transport) as model:
                        return await answer_question(index, request, everything, model=model)

        return asyncio.run(answer())

    monkeypatch.setattr(IndexSource, "search", fails_later)
    ask(hops="never")
    most, calls = calls, 0
    asked = ask(*replies, hops="always")
    assert note in asked.result.notes
    assert asked.evidence


def test_an_expression_is_never_answered_in_steps(sample):
    request = AskRequest("battery AND thermal", method="boolean", hops="always")
    asked = asyncio.run(answer_question(sample, request, settings_of(UNUSED)))
    assert [step["name"] for step in asked.trace.record["steps"]] == ["gate", "search", "quotation"]


def test_the_stream_tells_keywords_queries_evidence_and_sentences(sample):
    script = Scripted([decomposed(FIRST, ENGLISH, ordered=False), answers("a"), answers("b"), says(ANSWER)])
    everything = settings_of(UNUSED, llm=settings(stream=False, retries=0))

    async def events():
        async with everything.language_model(script.transport) as model:
            request = AskRequest(STEPS, hops="always")
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


def test_a_question_about_a_topic_goes_its_way(sample):
    request = AskRequest(STEPS, way="paper-qa-1", topic="SAMPLE-BAT-001", hops="always")
    asked = asyncio.run(answer_question(sample, request, settings_of(UNUSED)))
    assert "hops" not in [step["name"] for step in asked.trace.record["steps"]]
    assert any("not answered in several steps" in note for note in asked.result.notes)


def test_a_way_that_gives_place_to_several_steps_is_told(sample):
    for way, told in (("paper-qa-1", True), ("shrag", False)):
        request = AskRequest(STEPS, way=way, hops="always")
        asked = asyncio.run(answer_question(sample, request, settings_of(UNUSED)))
        assert any("not by way" in note for note in asked.result.notes) is told


def test_the_command_takes_hops(sample_home):
    done = shrag("ask", STEPS, "--name", NAME, "--hops", "always", "--json", home=sample_home)
    assert done.returncode == 0
    assert len(json.loads(done.stdout)["evidence"]) == 10
    assert shrag("ask", STEPS, "--name", NAME, "--hops", "twice", home=sample_home).returncode == 2
