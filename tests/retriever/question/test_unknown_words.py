"""The words of a question that no paper contains, in results and on a terminal."""

import json

import pytest

from tests.generator.sample_index import found, shrag

pytest_plugins = ["tests.generator.sample_index"]


@pytest.mark.parametrize(
    ("question", "unknown"),
    [
        ("bitcoin price volatility", ("bitcoin",)),
        ("비트코인의 가격은 얼마나 흔들리는가?", ("비트코인",)),
        ("What are the best ways to brew Kombucha, please?", ("brew", "Kombucha")),
        ("그래핀산화물 코팅의 부식 저항", ("그래핀",)),
        ("그 논은 이따금 마르는가?", ()),
        ("그때 논에서 잰 떡은?", ("떡",)),
        ("thermal runaway", ()),
    ],
    ids=[
        "as typed",
        "without its particle",
        "without words that ask",
        "part of a compound",
        "no determiners and adverbs",
        "no syllable of a known word",
        "none",
    ],
)
def test_words_that_no_paper_contains_are_named(sample, question, unknown):
    assert found(sample, question).unknown_words == unknown


def test_a_word_with_a_known_counterpart_is_known(sample):
    assert found(sample, "덴드라이트").unknown_words == found(sample, "dendrites").unknown_words == ()


def test_a_word_that_a_near_spelling_stands_for_is_known(sample):
    result = found(sample, "cobbalt")
    assert (result.unknown_words, result.notes) == ((), ("cobbalt is in no paper; searched as cobalt",))


def test_what_the_question_excludes_is_not_looked_for(sample):
    assert found(sample, "thermal runaway, excluding kombucha").unknown_words == ()


def test_a_method_without_keywords_names_none(sample):
    assert found(sample, "bitcoin price", method="or").unknown_words == ()


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("bitcoin price", "note: no paper contains: bitcoin"),
        ("비트코인 가격", "note: 어느 논문에도 나오지 않는 단어: 비트코인"),
    ],
    ids=["English", "Korean"],
)
def test_a_search_notes_them_on_the_terminal(sample_home, question, note):
    done = shrag("search", question, "--name", "sample", home=sample_home)
    assert note in done.stderr.splitlines()


def test_json_has_them_as_a_list(sample_home):
    done = shrag("search", "bitcoin price", "--name", "sample", "--json", home=sample_home)
    assert json.loads(done.stdout)["unknown_words"] == ["bitcoin"]
