"""A paper's record: bounds, aliases, what is absent, what is unknown."""

import pytest
from pydantic import ValidationError

from indexer.corpora.papers import Paper, language_of, language_of_question, why_invalid


def refusal(**record):
    with pytest.raises(ValidationError) as error:
        Paper.model_validate(record)
    return why_invalid(error.value)


@pytest.mark.parametrize("key", ["id", "_id", "docid"])
@pytest.mark.parametrize("text", ["abstract", "text", "contents"])
def test_aliases_are_read(key, text):
    paper = Paper.model_validate({key: "A", text: "methane"})

    assert (paper.id, paper.abstract) == ("A", "methane")


def test_what_is_absent_stays_absent_and_what_is_unknown_is_kept():
    record = {"id": "A", "title": "t", "funder": {"name": "x"}, "body": "left out"}

    assert Paper.model_validate(record).record() == {
        "id": "A",
        "title": "t",
        "lang": "en",
        "funder": {"name": "x"},
    }


@pytest.mark.parametrize(
    ("record", "begins"),
    [
        ({"id": "A" * 513}, "id: "),
        ({"id": "A\u0085"}, "id: "),
        ({"id": 3}, "id: "),
        ({"id": "A", "year": 999}, "year: "),
        ({"id": "A", "year": 2101}, "year: "),
        (
            {"id": "A", "cited_by_count": 10**400},
            "cited_by_count: ",
        ),
        ({"id": "A", "authors": "Kim"}, "authors: "),
        (
            {"id": "A", "references": ["B C"]},
            "references.0: ",
        ),
        ({"id": "A", "title": None}, "title: "),
        ({"id": "A", "note": "\ud800"}, "a lone surrogate"),
    ],
)
def test_what_is_out_of_bounds_is_refused_in_one_line(record, begins):
    assert refusal(**record).startswith(begins)


def test_the_bounds_themselves_are_allowed():
    for record in ({"id": "A" * 512}, {"id": "A", "year": 1000}, {"id": "A", "year": 2100}):
        assert Paper.model_validate(record).id == record["id"]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("벼논의 메탄", "ko"),
        ("BERT 기반 retrieval 모델", "ko"),
        ("Hanok (한옥) houses of old", "en"),
        ("123", "other"),
    ],
)
def test_the_script_tells_the_language(text, language):
    assert language_of(text) == language
    assert Paper.model_validate({"id": "A", "abstract": text}).lang == language


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("knowledge graph와 hallucination의 관계", "ko"),
        ("hard carbon 음극의 capacity", "ko"),
        ("Helicobacter pylori 제균 regimen", "ko"),
        ("in vitro fertilization 성공률은?", "ko"),
        ("deep learning을 이용한 protein folding (AlphaFold)", "ko"),
        ("What does 회복탄력성 mean?", "en"),
        ("How is the Korean word 정 translated in English papers?", "en"),
        ("What is 효 in Confucian families", "en"),
        ("knowledge graph and hallucination", "en"),
        ("2 + 2", "other"),
    ],
)
def test_function_words_tell_the_language_of_a_question(question, language):
    assert language_of_question(question) == language
