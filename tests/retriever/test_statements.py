"""Texts that state something, and texts that only ask or list words."""

import json

import pytest

from retriever.duplicates.statements import asks, states_something
from tests.indexer.corpora import ROOT

QUESTIONS = [
    "Does midseason drainage reduce methane from rice paddies?",
    "How much does yield fall when the water is drained?",
    "Which plots emit least?",
    "논에서 물을 떼면 메탄이 얼마나 줄어드는가?",
    "물을 언제 떼는 것이 가장 좋을까?",
]


@pytest.mark.parametrize(
    "sentence",
    [
        *QUESTIONS,
        *(question.replace("?", ".") for question in QUESTIONS),
        *(question.rstrip("?") for question in QUESTIONS),
        "수확량도 줄었나요?",
        "Can drained plots recover？",
        "“Why does it rain?”",
    ],
)
def test_questions_ask_with_their_mark_and_without(sentence):
    assert asks(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "When plots were drained, emission fell by 37%.",
        "How plots differ in their emission remains unknown.",
        "The plots, which were drained twice, emit less than those that were not.",
        "메탄 배출량이 얼마나 줄어드는가를 세 해 동안 측정하였다.",
        "연구에 참여한 사람은 모두 전문가.",
        "국가 수준의 평가.",
    ],
)
def test_statements_do_not_ask(sentence):
    assert not asks(sentence)


@pytest.mark.parametrize("separator", [" ", ", ", " / "])
@pytest.mark.parametrize("stop", ["?", ".", ""])
def test_a_series_of_questions_states_nothing(separator, stop):
    assert not states_something(separator.join(question.rstrip("?") + stop for question in QUESTIONS * 3))


@pytest.mark.parametrize(
    "text",
    [
        " ".join(["methane rice paddy drainage water yield emission soil flood plots"] * 3),
        "rice, methane, drainage, yield, soil, paddy, water.",
        " ".join(["논 메탄 물떼기 배출 수량 토양 벼 재배 온실가스 감축"] * 3),
        "논, 메탄, 물떼기, 수량, 토양, 벼.",
    ],
)
def test_a_list_of_words_states_nothing(text):
    assert not states_something(text)


def test_a_text_that_asks_once_and_answers_states_something():
    assert states_something("Does drainage reduce methane? We drained 24 plots, and emission fell by 37%.")
    assert states_something("물을 떼면 메탄이 줄어드는가? 24개 논에서 물을 떼었더니 배출량이 37% 줄었다.")


def test_a_table_states_something():
    assert states_something(
        "1. Berlin 3,645,000 2. Hamburg 1,841,000 3. Munich 1,472,000 4. Cologne 1,086,000"
    )


def test_a_text_without_words_is_no_list():
    assert states_something("")
    assert states_something("…")


def test_every_abstract_of_the_sample_states_something():
    papers = map(json.loads, (ROOT / "sample/papers.jsonl").read_text(encoding="utf-8").splitlines())

    assert [paper["id"] for paper in papers if not states_something(paper.get("abstract", ""))] == []


@pytest.mark.parametrize("piece", ["?", "a ", "왜 ", "How ", "왜? ", ", ", "(\"'“", "Is is ", "가가가"])
def test_long_hostile_texts_are_read_in_time(piece):
    states_something(piece * 200_000)
