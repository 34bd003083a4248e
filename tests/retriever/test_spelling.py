"""Near spellings of tokens that the index does not hold."""

import asyncio

import pytest

from retriever.spelling import near_spellings, spelled
from tests.retriever.papers import found, ids, index_of, opened


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    with opened(tmp_path_factory) as index:
        yield index


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    texts = [
        "axolotl axolotl axolotls",
        "axolotm",
        "covid 2019 201900 graph gram bead beat",
        "딥러닝 콘텐츠 어플리케이션",
    ]
    papers = [{"id": f"W{number}", "title": "", "abstract": text} for number, text in enumerate(texts)]
    with index_of(tmp_path_factory.mktemp("words"), *papers) as index:
        yield index


def near(index, token):
    return asyncio.run(near_spellings(token, index.engine))


def test_hangul_is_spelled_in_jamo_and_latin_without_accents():
    assert spelled("그래") == "\u1100\u1173\u1105\u1162"
    assert spelled("naïve") == "naive"


@pytest.mark.parametrize("typed", ["axlotl", "axoltol", "axolotll", "axilotl"])
def test_a_typing_error_finds_the_word(index, typed):
    assert near(index, typed) == ["axolotl"]


def test_an_accent_more_or_less_finds_the_word(index):
    assert near(index, "naiv") == ["naïv"]


def test_two_errors_are_too_many_for_a_short_word(index):
    assert near(index, "axlotm") == []


def test_hangul_is_compared_by_jamo(index):
    assert near(index, "알고리듬") == ["알고리즘"]


def test_another_transliteration_is_found(words):
    assert near(words, "어플레케이션") == ["어플리케이션"]
    assert near(words, "애플리케이션") == []  # another first syllable: not looked through


@pytest.mark.parametrize("number", ["2018", "201901", "100.5"])
def test_a_number_has_no_near_spelling(words, number):
    assert near(words, number) == []


def test_a_number_is_no_near_spelling_of_another_where_english_keeps_the_point(tmp_path):
    paper = {"id": "N", "title": "", "abstract": "100.5 degrees"}
    with index_of(tmp_path / "numbers", paper, analyzer="english") as index:
        assert asyncio.run(index.engine.document_frequencies(["100.5"])) == {"100.5": 1}
        assert near(index, "100.6") == []


@pytest.mark.parametrize("short", ["bea", "gra", "콘츠"])
def test_a_short_word_has_no_near_spelling(words, short):
    assert near(words, short) == []


def test_only_the_nearest_are_given_the_frequent_first(words):
    assert near(words, "axolot") == ["axolotl", "axolotm"]


def test_a_search_says_what_it_searched_for(index):
    result = found(index, "알고리듬의 비교")

    assert result.hits[0].passage_id == "ALGORITHM"
    assert result.notes == ("알고리듬 is not in the index; searched as 알고리즘",)
    assert result.queries[0].query.startswith("알고리즘^0.8 OR 비교 OR ")


def test_a_typing_error_still_finds_the_paper(index):
    assert ids(index, "axoltol limb") == ["DOI-1"]


def test_or_searches_for_the_words_as_they_are(index):
    assert ids(index, "axoltol", "or") == []
