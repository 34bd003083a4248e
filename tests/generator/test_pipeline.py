"""From question to answer and trace: without a model, with one, and with one that fails half way."""

import asyncio
import json
from pathlib import Path

import httpx
import pytest

from generator.pipeline import Settings, answer_question, ask, find, run
from generator.trace import Trace, differences
from retriever.errors import BadQuestion
from retriever.filters import make_filters
from tests.generator.language_model import Scripted, says, settings
from tests.generator.sample_index import (
    ENGLISH,
    KOREAN,
    NAME,
    SEARCH_KEYS,
    UNANSWERABLE_KOREAN,
    settings_of,
)

pytest_plugins = ["tests.generator.sample_index"]

KEYWORDS = {"korean": ["간호사 회복탄력성", "이직 의도"], "english": ["resilience", "turnover"]}
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
DOWN = httpx.ConnectError("connection refused")
REFUSED = httpx.Response(400, json={"error": {"message": "too long"}})


def answered(index, question, *answers, filters=None, **llm):
    """Answer with a model that says this; return its script and what came of it."""
    script = Scripted(answers)
    given = settings_of(UNUSED, llm=settings(retries=0, **llm))
    call = answer_question(index, question, given, filters, transport=script.transport)
    return script, asyncio.run(call)


def without_model(index, question, filters=None):
    return asyncio.run(answer_question(index, question, settings_of(UNUSED), filters))


def keyword_texts(one):
    return [keyword.text for keyword in one.result.keywords]


# Without a model


def test_without_a_model_the_answer_is_quoted_and_says_so(sample):
    one = without_model(sample, KOREAN)
    assert one.answer.written_by == "extractive"
    assert one.trace.record["model_calls"] == {}
    assert one.trace.record["settings"]["model"] is None
    assert one.result.notes == ()


def test_the_evidence_is_the_five_best_papers(sample):
    one = without_model(sample, KOREAN)
    assert [hit.rank for hit in one.evidence] == [1, 2, 3, 4, 5]
    assert len({hit.doc_id for hit in one.evidence}) == 5
    assert one.evidence == one.result.hits


def test_the_record_is_that_of_search_with_answer_and_evidence(sample):
    record = without_model(sample, KOREAN).as_record()
    assert list(record) == [*SEARCH_KEYS, "answer", "evidence"]
    assert record["evidence"] == record["hits"]
    assert json.loads(json.dumps(record)) == record


def test_a_question_that_the_sample_cannot_answer_is_turned_away_in_its_language(sample):
    one = without_model(sample, UNANSWERABLE_KOREAN)
    assert one.answer.abstained
    assert one.answer.as_text().splitlines()[2:] == ["서론", "찾은 문헌에는 이 질문에 대한 답이 없습니다."]
    assert len(one.evidence) == 5  # what was found is shown all the same


def test_filters_hold_and_stand_in_the_trace(sample):
    filters = make_filters("2021..2023", "ko", None)
    one = without_model(sample, KOREAN, filters)
    assert one.evidence
    assert {hit.passage.lang for hit in one.evidence} == {"ko"}
    assert all(2021 <= hit.passage.year <= 2023 for hit in one.evidence)
    assert one.trace.record["filters"] == {"years": [2021, 2023], "lang": "ko", "journal": None}


# With a model


def test_the_model_writes_keywords_and_answer(sample):
    script, one = answered(sample, KOREAN, says(KEYWORDS), says(ANSWER))
    names = [body["response_format"]["json_schema"]["name"] for body in script.bodies]
    assert names == ["keywords", "answer"]
    assert one.answer.written_by == "tiny-writer-7b"
    assert one.answer.title == "회복탄력성과 이직"
    assert one.result.notes == ()
    assert {"keywords (model)", "answer (model)", "search", "total"} <= set(one.result.milliseconds)


def test_the_model_s_keywords_are_what_is_searched_for(sample):
    _, one = answered(sample, KOREAN, says(KEYWORDS), says(ANSWER))
    assert keyword_texts(one) == ["간호사", "resilience", "회복탄력성", "turnover", "이직", "의도"]
    queries = [query.query for query in one.result.queries]
    assert queries[-6:] == [
        "간호사 OR resilience OR 회복탄력성 OR turnover OR 이직 OR 의도",
        "간호사 OR resilience OR 회복탄력성 OR turnover OR 이직",
        "간호사 OR resilience OR 회복탄력성 OR turnover",
        "간호사 OR resilience OR 회복탄력성",
        "간호사 OR resilience",
        "간호사",
    ]


def test_every_sentence_of_the_model_is_checked(sample):
    _, one = answered(sample, KOREAN, says(KEYWORDS), says(ANSWER))
    first = one.evidence[0].passage_id
    assert [(part.citations, part.check) for part in one.answer.sentences[1:]] == [
        ((first,), "supported"),
        ((first,), "unsupported"),  # 98765% stands nowhere
        ((), "unsupported"),  # there is no passage 19
    ]


def test_the_model_is_shown_the_evidence_and_nothing_else(sample):
    script, one = answered(sample, KOREAN, says(KEYWORDS), says(ANSWER))
    content = script.bodies[1]["messages"][0]["content"]
    assert content.count("<passage number=") == 5
    assert all(hit.passage.text in content for hit in one.evidence)


def test_a_model_that_finds_no_answer_abstains(sample):
    nothing = ANSWER | {"introduction": [], "body": [], "answered": False}
    _, one = answered(sample, KOREAN, says(KEYWORDS), says(nothing))
    assert one.answer.abstained
    assert one.answer.title == "답을 찾지 못함"
    assert one.answer.written_by == "tiny-writer-7b"


def test_half_an_answer_is_mended_and_the_trace_says_so(sample):
    _, one = answered(sample, KOREAN, says(KEYWORDS), says('{"title": "회복'), says(ANSWER))
    assert one.answer.title == "회복탄력성과 이직"
    assert one.trace.record["model_calls"]["answer"]["repaired"] is True
    assert one.trace.record["model_calls"]["keywords"]["repaired"] is False


# With a model that fails


def test_where_only_the_keywords_fail_statistics_find_and_the_model_answers(sample):
    _, one = answered(sample, KOREAN, REFUSED, says(ANSWER))
    assert keyword_texts(one) == keyword_texts(without_model(sample, KOREAN))
    assert one.answer.written_by == "tiny-writer-7b"
    (note,) = one.result.notes
    assert note.startswith("keywords from statistics, the model failed: ")
    assert "too long" in one.trace.record["model_calls"]["keywords"]["error"]


def test_where_only_the_answer_fails_it_is_quoted_with_the_model_s_keywords(sample):
    _, one = answered(sample, KOREAN, says(KEYWORDS), REFUSED)
    assert keyword_texts(one)[:2] == ["간호사", "resilience"]
    assert one.answer.written_by == "extractive"
    (note,) = one.result.notes
    assert note.startswith("extractive answer, the model failed: ")


def test_where_the_model_is_down_all_is_as_without_one_and_two_notes_say_so(sample):
    _, one = answered(sample, KOREAN, DOWN, DOWN)
    assert one.answer == without_model(sample, KOREAN).answer
    assert [note.partition(",")[0] for note in one.result.notes] == [
        "keywords from statistics",
        "extractive answer",
    ]
    assert one.as_record()["notes"] == list(one.result.notes)


def test_an_answer_broken_twice_is_kept_in_the_trace(sample):
    broken = '{"title": "회복'
    _, one = answered(sample, KOREAN, says(KEYWORDS), says(broken), says(broken))
    assert one.answer.written_by == "extractive"
    assert one.trace.record["model_calls"]["answer"]["text"] == broken


# Where the model is not asked


@pytest.mark.parametrize(
    "question",
    ["", "   ", "강" * 20_001, "half \ud800"],
    ids=["empty", "white space", "too long", "lone surrogate"],
)
def test_a_question_that_cannot_be_searched_for_is_refused_before_the_model_is_asked(sample, question):
    script = Scripted([])
    call = answer_question(sample, question, settings_of(UNUSED, llm=settings()), transport=script.transport)
    with pytest.raises(BadQuestion):
        asyncio.run(call)
    assert script.requests == []


@pytest.mark.parametrize("question", ["🙂🙂", "the of and"], ids=["emoji", "stop words"])
def test_a_question_without_words_costs_no_call(sample, question):
    script, one = answered(sample, question)
    assert script.requests == []
    assert one.answer.abstained
    assert one.evidence == ()


def test_without_evidence_the_model_is_not_asked_for_an_answer(sample):
    script, one = answered(sample, KOREAN, says(KEYWORDS), filters=make_filters("1001", None, None))
    assert len(script.requests) == 1
    assert (one.answer.abstained, one.answer.written_by) == (True, "extractive")


# The trace


def test_the_trace_holds_the_whole_way(sample):
    _, one = answered(sample, KOREAN, says(KEYWORDS), says(ANSWER))
    record = one.trace.record
    assert record["question"] == KOREAN
    assert (record["index"]["name"], record["index"]["version"]) == ("sample", 1)
    assert record["settings"]["model"] == "tiny-writer"
    assert record["keywords"][0] == {"text": "간호사", "language": "ko", "weight": 1.0}
    assert record["queries"][-1]["query"] == "간호사"
    assert [hit["passage_id"] for hit in record["hits"]] == [hit.passage_id for hit in one.evidence]
    assert record["evidence"][0]["text"] == one.evidence[0].passage.text
    assert json.loads(record["model_calls"]["keywords"]["text"]) == KEYWORDS
    assert json.loads(record["model_calls"]["answer"]["text"]) == ANSWER
    assert record["model_calls"]["answer"]["prompt_version"] >= 1
    assert record["answer"] == one.answer.as_record()


def test_a_trace_comes_back_from_its_file_unchanged(sample, tmp_path):
    _, one = answered(
        sample, KOREAN, says(KEYWORDS), says(ANSWER), filters=make_filters("2000..", None, None)
    )
    one.trace.save(tmp_path / "trace.json")
    assert Trace.load(tmp_path / "trace.json") == one.trace


def test_the_same_question_twice_differs_in_nothing_but_times(sample):
    once = without_model(sample, ENGLISH).trace
    again = without_model(sample, ENGLISH).trace
    assert once.record["milliseconds"] != again.record["milliseconds"]
    assert differences(once, again) == []


def test_another_answer_shows_as_a_difference(sample):
    _, one = answered(sample, KOREAN, says(KEYWORDS), says(ANSWER))
    _, other = answered(sample, KOREAN, says(KEYWORDS), says(ANSWER | {"title": "다른 제목"}))
    assert 'answer.title: "회복탄력성과 이직" | "다른 제목"' in differences(one.trace, other.trace)


# For scripts and notebooks


def test_ask_answers_from_an_index_by_name(sample_home):
    one = ask(KOREAN, NAME, home=sample_home)
    assert one.answer.language == "ko"
    assert one.evidence[0].passage_id == "SAMPLE-NUR-001"


def test_find_searches_an_index_by_name(sample_home):
    result = find(ENGLISH, NAME, method="or", k=3, home=sample_home)
    assert [hit.rank for hit in result.hits] == [1, 2, 3]
    assert result.method == "or"


def test_home_is_read_from_the_environment(sample_home, monkeypatch):
    monkeypatch.setenv("SHRAG_HOME", str(sample_home))
    assert Settings.from_environment().indexer.home == sample_home
    assert find(ENGLISH, NAME, k=1).hits[0].passage_id == "SAMPLE-BAT-011"


def test_ask_works_where_an_event_loop_runs_already(sample_home):
    async def cell():
        return ask(KOREAN, NAME, home=sample_home)

    inside, outside = asyncio.run(cell()), ask(KOREAN, NAME, home=sample_home)
    assert inside.answer == outside.answer


def test_an_error_inside_a_running_loop_arrives_as_it_is(sample_home):
    async def cell():
        return ask("", NAME, home=sample_home)

    with pytest.raises(BadQuestion, match="empty"):
        asyncio.run(cell())


def test_run_returns_what_the_coroutine_returns():
    async def three():
        return 3

    async def cell():
        return run(three())

    assert (run(three()), asyncio.run(cell())) == (3, 3)
