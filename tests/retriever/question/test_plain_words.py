"""Everyday words of a question, searched for by the words of scholarly texts."""

import pytest

from retriever.question.plain_words import plain_words
from tests.retriever.made_papers import found, index_of

PAPERS = [
    {"id": "CHILDREN", "title": "Sleep of children", "abstract": "Children slept longer after the lessons."},
    {"id": "MI", "title": "Hearts", "abstract": "Aspirin after myocardial infarction in older adults."},
    {"id": "MYOCARDIAL", "title": "Muscles", "abstract": "Myocardial cells and an infarction of the lung."},
    {"id": "WEIGHT", "title": "체중 감량", "abstract": "식단이 체중 감량에 미치는 효과를 보았다."},
    {"id": "HYPERTENSION", "title": "소금", "abstract": "소금과 고혈압(hypertension)의 관계를 보았다."},
    {"id": "OTHER", "title": "Rice", "abstract": "Methane from rice paddies under drainage."},
]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    with index_of(tmp_path_factory.mktemp("plain"), *PAPERS) as index:
        yield index


def ids(index, question, **options):
    return [hit.passage_id for hit in found(index, question, **options).hits]


def test_an_everyday_word_finds_the_scholarly_one(index):
    assert ids(index, "kids") == ["CHILDREN"]


def test_a_term_of_several_words_is_found_as_a_whole(index):
    assert ids(index, "heart attack aspirin")[0] == "MI"
    assert "MYOCARDIAL" not in ids(index, "heart attack")


def test_a_korean_everyday_word_finds_the_scholarly_one(index):
    assert ids(index, "살빼기") == ["WEIGHT"]


def test_the_scholarly_word_is_also_searched_for_in_the_other_language(index):
    assert ids(index, "high blood pressure") == ["HYPERTENSION"]


def test_an_equivalent_that_the_analysis_cuts_to_another_word_is_searched_for_whole(tmp_path):
    driving = {
        "id": "DRIVING",
        "title": "자율주행",
        "abstract": "자율주행(autonomous driving) 차량을 몰았다.",
    }
    rates = {"id": "RATES", "title": "금리", "abstract": "금리가 오르면 소비가 줄었다."}
    with index_of(tmp_path, driving, rates) as index:
        result = found(index, "금리")

    assert [hit.doc_id for hit in result.hits] == ["RATES"]
    assert not any(word in query.query for query in result.queries[:1] for word in ("autonomous", "driving"))


def test_a_method_of_a_paper_takes_the_words_as_they_are(index):
    assert ids(index, "kids", method="paper") == []


def test_no_rule_repeats_its_own_word():
    for plain, others in plain_words().items():
        assert plain not in others
        assert all(other.strip() == other != "" for other in others)
