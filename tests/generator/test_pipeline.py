"""From question to answer and trace: without a model, with one, and with one that fails."""

import asyncio
import json
from pathlib import Path

import httpx
import pytest

from base.errors import InvalidCall
from generator.calls import AskCall
from generator.errors import UnknownModel
from generator.finding.finding import find_papers
from generator.pipeline import AskRequest, answer_question, ask, find
from retriever.errors import BadQuestion
from tests.generator.language_model import (
    Scripted,
    answers_nothing,
    events,
    says,
    served,
    settings,
    streams,
)
from tests.generator.sample_index import KOREAN, NAME, UNANSWERABLE_KOREAN, ask_model, settings_of
from tests.retriever.made_papers import queries_of_plan

KEYWORDS = {"ko": ["간호사 회복탄력성", "이직 의도"], "en": ["resilience", "turnover"]}
ANSWER = {
    "title": "회복탄력성과 이직",
    "introduction": [{"text": "신규 간호사의 회복탄력성과 이직 의도를 살핀 연구가 있다.", "citations": [1]}],
    "body": [
        {"text": "신규 간호사의 회복탄력성은 이직 의도와 연결된다.", "citations": [1]},
        {"text": "회복탄력성이 높으면 이직 의도가 98765% 줄었다.", "citations": [1]},
        {"text": "신규 간호사의 회복탄력성을 다룬 다른 논문도 있다.", "citations": [19]},
    ],
    "conclusion": [],
    "answered": True,
}
UNUSED = Path("/nowhere")  # the index is open already


def answered(index, question, *answers, **request):
    """Answer with a model that replies this; return its script and what came of it."""
    script = Scripted(answers)
    given = settings_of(UNUSED, llm=settings(retries=0))
    return script, ask_model(index, question, given, script, **request)


def without_model(index, question, **request):
    return asyncio.run(answer_question(index, AskRequest(question, **request), settings_of(UNUSED)))


def step_of(asked, name):
    """Return the record of the one step of that name."""
    (step,) = asked.trace.steps(name)
    return step


def test_a_question_that_the_sample_cannot_answer_is_turned_away_in_its_language(sample):
    asked = without_model(sample, UNANSWERABLE_KOREAN)
    assert asked.answer.abstained
    statement = asked.answer.statement
    assert statement.startswith("찾은 문헌에는 이 질문에 대한 답이 없는 것으로 보입니다.")
    assert statement.endswith("어느 논문에도 나오지 않는 단어: 고려청자, 비색, 유약, 소성.")
    assert len(asked.evidence) == 5  # the nearest papers


def test_given_keywords_stand_in_for_the_models_and_queries_can_be_left_out(sample):
    keywords, skip = ("회복탄력성", "turnover"), ("SQ1",)
    script, asked = answered(sample, KOREAN, says(ANSWER), keywords=keywords, skip=skip)

    assert [body["response_format"]["json_schema"]["name"] for body in script.bodies] == ["answer"]
    assert [keyword.text for keyword in asked.result.keywords] == list(keywords)
    assert [query.name for query in queries_of_plan(asked.result)] == ["question", "SQ2"]
    request, inputs = asked.trace.record["request"], step_of(asked, "search")["inputs"]
    assert (request["keywords"], request["skip"]) == (list(keywords), list(skip))
    assert (inputs["keywords"], inputs["skip"]) == (list(keywords), list(skip))
    assert asked.result.applied.strategist == "person"


def test_a_model_that_answers_from_unrelated_papers_is_noted_and_gets_the_nearest_ones_only(sample):
    said = {"title": "Turandot", "body": [{"text": "Puccini composed it.", "citations": [1]}]}
    question, keywords = "Who composed the opera Turandot?", ("opera", "dose")
    script, asked = answered(sample, question, says(said), keywords=keywords)
    (note,) = [note for note in asked.result.notes if getattr(note, "code", "") == "probably_no_answer"]
    assert 0 <= note.values["percent"] < 27
    prompt = script.bodies[0]["messages"][0]["content"]
    best = [hit for hit in asked.evidence if hit.score >= 0.3 * asked.evidence[0].score]
    assert prompt.count("<passage number=") == len(best) < len(asked.evidence)
    first = asked.evidence[0]
    origin = ", ".join(filter(None, (first.passage.journal, str(first.passage.year or ""))))
    assert f"{first.passage.title} ({origin})\n" in prompt


@pytest.mark.parametrize(
    "question", ["", "강" * 20_001, "half \ud800"], ids=["empty", "too long", "lone surrogate"]
)
def test_a_question_that_cannot_be_searched_for_is_refused_before_the_model_is_asked(sample, question):
    script = Scripted([])
    with pytest.raises(BadQuestion):
        ask_model(sample, question, settings_of(UNUSED, llm=settings()), script)
    assert script.requests == []


def test_the_trace_holds_the_whole_way(sample):
    _, asked = answered(sample, KOREAN, says(KEYWORDS), says(ANSWER))
    record = asked.trace.record
    assert record["request"]["question"] == KOREAN
    assert [step["name"] for step in record["steps"]] == ["strategy", "search", "answer"]
    searched = step_of(asked, "search")["output"]
    assert step_of(asked, "strategy")["output"] == searched["strategy"]
    assert searched["strategy"]["origin"] == "model"
    assert (record["index"]["name"], record["index"]["version"]) == ("sample", 1)
    assert record["settings"]["model"] == "tiny-writer"
    assert [hit["passage_id"] for hit in searched["hits"]] == [hit.passage_id for hit in asked.evidence]
    assert record["evidence"][0]["text"] == asked.evidence[0].passage.text
    assert json.loads(step_of(asked, "keywords")["model_call"]["text"]) == KEYWORDS
    call = step_of(asked, "answer")["model_call"]
    assert json.loads(call["text"]) == ANSWER
    assert (call["prompt_tokens"], call["completion_tokens"]) == (100, 20)
    assert call["prompt_version"] >= 1
    assert record["answer"] == asked.answer.as_record()


def test_ask_works_where_an_event_loop_runs_already(sample_home):
    async def cell():
        return ask(KOREAN, NAME, home=sample_home)

    inside, outside = asyncio.run(cell()), ask(KOREAN, NAME, home=sample_home)
    assert inside.answer == outside.answer


@pytest.mark.parametrize("call", [ask, find, find_papers])
@pytest.mark.parametrize("sources", [["library"], "library"])
def test_an_index_and_sources_at_once_are_refused(call, sources):
    with pytest.raises(InvalidCall, match=r"exclude each other|list of names"):
        call(KOREAN, NAME, sources=sources)


def several(**changed):
    return settings_of(UNUSED, llm=settings(retries=0, other_models="small-writer, tiny-writer", **changed))


def test_the_model_of_a_request_is_recorded(sample):
    with served(answers_nothing) as model:
        given = several(base_url=model.base_url)
        request = AskCall(question=KOREAN, model="small-writer").request(given)
        asked = asyncio.run(answer_question(sample, request, given))
    assert {body["model"] for body in model.bodies} == {"small-writer"}
    assert asked.trace.record["request"]["model"] == "small-writer"


@pytest.mark.parametrize(
    ("given", "there_are"), [(several(), "tiny-writer, small-writer$"), (settings_of(UNUSED), "none$")]
)
def test_a_model_that_the_settings_do_not_name_is_refused(given, there_are):
    with pytest.raises(UnknownModel, match=f"no model 'other'; there are: {there_are}"):
        AskCall(question=KOREAN, model="other").request(given)


FAULTS: dict[str, tuple[list[httpx.Response | Exception], str]] = {
    "a stream that breaks off": (
        [streams(*events(ANSWER)[:9])],
        "the stream ended without [DONE], after 8 pieces",
    ),
    "429 for long": (
        [httpx.Response(429, headers={"Retry-After": "3600"})],
        "It asks for a pause of 3,600 s, more than is left of 240 s (SHRAG_LLM__ANSWER_S).",
    ),
    "no connection": ([httpx.ConnectError("refused")], "cannot reach"),
    "too long": (
        [httpx.Response(400, json={"error": {"message": "context_length_exceeded"}})] * 3,
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
