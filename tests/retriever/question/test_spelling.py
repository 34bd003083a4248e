"""Near spellings of words that the index does not hold."""

import pytest

from retriever.question.spelling import is_ordinary, near_spellings, spelled
from tests.retriever.made_papers import found, ids, index_of, opened


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    with opened(tmp_path_factory) as index:
        yield index


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    texts = [
        "axolotl axolotl axolotls",
        "axolotm axolotl",
        "covid 2019 201900 graph gram bead beat",
        "Theatre fibre catalogue haemoglobin naïve optimisation",
        "알고리즘 콘텐츠 어플리케이션",
    ]
    papers = [{"id": f"W{number}", "title": "", "abstract": text} for number, text in enumerate(texts)]
    with index_of(tmp_path_factory.mktemp("words"), *papers) as index:
        yield index


def near(index, word, tag=""):
    """Return the near spellings of a word of one token, as they are written."""
    [(token, *_)] = index.analyzer.analyze(word) if word.isascii() else [(word,)]
    spellings = near_spellings(word, token, index.engine.lexicon, index.glossary, tag=tag)
    return [written for written, _ in spellings]


def test_hangul_is_spelled_in_jamo_and_latin_without_accents():
    assert spelled("그래") == "\u1100\u1173\u1105\u1162"
    assert spelled("naïve") == "naive"


@pytest.mark.parametrize("typed", ["axlotl", "axoltol", "axolotll", "axilotl", "Axlotl"])
def test_a_typing_error_finds_the_word(index, typed):
    assert near(index, typed) == ["axolotl"]


def test_a_spelling_comes_with_the_token_that_it_is_indexed_by(index):
    found = near_spellings("segmentaiton", "segmentaiton", index.engine.lexicon, index.glossary)

    assert found == [("segmentation", "segment")]


def test_words_are_compared_as_they_are_typed_not_their_stems(index):
    # The stems differ in one letter: islnd and island.
    assert near(index, "islnds") == ["islands"]


def test_an_accent_more_or_less_finds_the_word(index):
    assert near(index, "naiv") == ["naïve"]


def test_two_errors_are_too_many_for_a_short_word(index):
    assert near(index, "axlotm") == []


def test_a_long_word_may_have_two_errors(index):
    assert near(index, "halucinaton") == ["hallucination"]


@pytest.mark.parametrize("word", ["grape", "beam", "bread", "grasp"])
def test_an_ordinary_word_is_never_replaced(words, word):
    assert is_ordinary(word)
    assert near(words, word) == []


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("theater", "theatre"),
        ("fiber", "fibre"),
        ("optimization", "optimisation"),
        ("catalog", "catalogue"),
        ("hemoglobin", "haemoglobin"),
        ("naive", "naïve"),
    ],
)
def test_an_ordinary_word_is_found_in_its_other_spelling(words, typed, found):
    assert is_ordinary(typed)
    assert near(words, typed) == [found]


def test_hangul_is_compared_by_jamo(words):
    assert near(words, "알고리듬") == ["알고리즘"]
    assert near(words, "어플레케이션") == ["어플리케이션"]
    assert near(words, "애플리케이션") == []  # another first syllable is not compared


@pytest.mark.parametrize(("tag", "found"), [("NNP", ["알고리즘"]), ("NNG", []), ("VV", [])])
def test_a_korean_word_that_the_dictionary_knows_is_never_replaced(words, tag, found):
    assert near(words, "알고리듬", tag) == found


@pytest.mark.parametrize("number", ["2018", "201901", "100.5"])
def test_a_number_has_no_near_spelling(words, number):
    assert near_spellings(number, number, words.engine.lexicon, words.glossary) == []


@pytest.mark.parametrize("short", ["bea", "gra", "콘츠"])
def test_a_short_word_has_no_near_spelling(words, short):
    assert near(words, short) == []


def test_where_the_terms_of_an_index_are_not_known_there_are_none(words):
    assert near_spellings("axolot", "axolot", None, words.glossary) == []


def test_of_equally_near_words_that_of_more_passages_comes_first(words):
    assert near(words, "axolot") == ["axolotl", "axolotm"]


def test_a_search_says_what_it_searched_for(index):
    result = found(index, "해나리 군집의 이동")

    assert result.hits[0].passage_id == "DECOMPOSED"
    assert "해나리 is in no paper; searched as 해파리" in result.notes
    assert "해파리^0.8" in result.queries[0].query


def test_a_typing_error_still_finds_the_paper(index):
    assert ids(index, "axoltol limb") == ["DOI-1"]


def test_or_searches_for_the_words_as_they_are(index):
    assert ids(index, "axoltol", "or") == []
