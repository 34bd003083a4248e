"""Abbreviations and loanwords of a question, searched for by their other forms."""

import pytest

from retriever.settings import RetrieverSettings
from tests.retriever.made_papers import found, index_of

PAPERS = [
    {
        "id": "EXPLAINED",
        "title": "Smaller models",
        "abstract": "We study knowledge distillation (KD) and a controller area network (CAN). It can fail.",
    },
    {"id": "LONG", "title": "Teachers and students", "abstract": "Knowledge distillation shrinks a network."},
    {"id": "SHORT", "title": "Losses", "abstract": "KD with a soft loss, compared with pruning."},
    {"id": "BUS", "title": "Vehicles", "abstract": "Messages on a controller area network of cars."},
    {"id": "TROPONIN", "title": "Hearts", "abstract": "Troponin rises after surgery on dendrites."},
    {"id": "FERMENT", "title": "발효", "abstract": "김치의 발효를 온도에 따라 관찰하였다."},
]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    with index_of(tmp_path_factory.mktemp("forms"), *PAPERS) as index:
        yield index


def notes(index, question, **settings):
    return list(found(index, question, settings=RetrieverSettings(**settings)).notes)


def test_an_abbreviation_finds_what_writes_its_long_form(index):
    result = found(index, "KD 손실")
    assert "LONG" in [hit.passage_id for hit in result.hits]
    assert "KD is also searched for as knowledge distillation" in result.notes


def test_a_long_form_finds_what_writes_its_abbreviation(index):
    result = found(index, "소형 모형의 knowledge distillation")
    assert "SHORT" in [hit.passage_id for hit in result.hits]
    assert "knowledge distillation is also searched for as KD" in result.notes


def test_an_abbreviation_that_is_a_word_counts_in_capitals_alone(index):
    assert notes(index, "dendrites on CAN") == ["CAN is also searched for as controller area network"]
    assert notes(index, "dendrites can grow") == []
    assert notes(index, "dendrites of a controller area network") == []


def test_an_abbreviation_that_is_no_word_counts_in_small_letters_too(index):
    assert notes(index, "kd loss") == ["kd is also searched for as knowledge distillation"]


def test_a_loanword_finds_the_english_word(index):
    result = found(index, "트로포닌의 기준")
    assert "TROPONIN" in [hit.passage_id for hit in result.hits]
    assert "트로포닌 is also searched for as troponin (by its sound)" in result.notes


def test_a_word_that_is_repeated_is_compared_and_told_once(index):
    heard = "트로포닌 is also searched for as troponin (by its sound)"
    assert notes(index, "트로포닌 " * 3) == [heard]
    assert heard in notes(index, "클로로플라스트 " * 8 + "트로포닌")
    assert notes(index, "KD " * 3) == ["KD is also searched for as knowledge distillation"]


def test_korean_words_are_not_searched_by_their_sound(index):
    assert notes(index, "김치의 발효는 온도에 따라 어떻게 되는가?") == []


@pytest.mark.parametrize("question", ["KD loss", "트로포닌"])
def test_other_forms_can_be_switched_off(index, question):
    assert notes(index, question)
    plain = found(index, question, settings=RetrieverSettings(without=frozenset({"word-forms"})))
    assert not any("also searched" in note for note in plain.notes)
    assert plain.applied.without == ("word-forms",)


@pytest.mark.parametrize("method", ["or", "paper"])
def test_the_other_methods_search_what_is_asked(index, method):
    result = found(index, "KD 트로포닌", method)
    assert not any("also searched" in note for note in result.notes)
    assert result.applied.without is None


def test_a_query_shows_words_not_stems(index):
    [whole, *_] = found(index, "KD 손실").queries
    assert whole.query.startswith('KD OR "knowledge distillation" OR 손실')
