"""Near spellings of words that the index does not contain."""

import pytest

from retriever.spelling import is_ordinary, near_spellings
from tests.retriever.made_papers import found, ids, index_of, opened

TEXTS = [
    "axolotl axolotl axolotls hallucination islands segmentation",
    "axolotm axolotl",
    "covid 2019 201900 graph gram bead beat",
    "Theatre fibre catalogue haemoglobin naïve optimisation",
    "알고리즘 콘텐츠 어플리케이션",
]


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    papers = [{"id": f"W{number}", "title": "", "abstract": text} for number, text in enumerate(TEXTS)]
    with index_of(tmp_path_factory.mktemp("words"), *papers) as index:
        yield index


def near(index, word, tag=""):
    """Return the near spellings of a word of one token, as they are written."""
    [(token, *_)] = index.analyzer.analyze(word) if word.isascii() else [(word,)]
    spellings = near_spellings(word, token, index.engine.lexicon, index.glossary, tag=tag)
    return [written for written, _ in spellings]


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        *((typed, ["axolotl"]) for typed in ("axlotl", "axoltol", "axolotll", "axilotl", "Axlotl")),
        ("axolotq", ["axolotl", "axolotm"]),  # the word of more passages first
        ("axlotq", []),  # two errors in a short word
        ("halucinaton", ["hallucination"]),  # two in a long one
        ("islnds", ["islands"]),  # words are compared, not stems
        ("naiv", ["naïve"]),
        ("알고리듬", ["알고리즘"]),
        ("어플레케이션", ["어플리케이션"]),
        ("애플리케이션", []),  # another first syllable
        ("bea", []),
        ("콘츠", []),
    ],
)
def test_a_word_with_few_typing_errors_finds_its_spelling(words, typed, found):
    assert near(words, typed) == found


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("grape", []),
        ("bread", []),
        ("theater", ["theatre"]),
        ("fiber", ["fibre"]),
        ("optimization", ["optimisation"]),
        ("catalog", ["catalogue"]),
        ("hemoglobin", ["haemoglobin"]),
    ],
)
def test_an_ordinary_word_has_its_other_english_spelling_alone(words, typed, found):
    assert is_ordinary(typed)
    assert near(words, typed) == found


def test_a_search_by_a_near_spelling_says_so(tmp_path_factory):
    with opened(tmp_path_factory) as index:
        result = found(index, "해나리 군집의 이동")

        assert result.hits[0].passage_id == "DECOMPOSED"
        assert "해나리 is in no paper; searched as 해파리" in result.notes
        assert ids(index, "axoltol limb")[0] == "DOI-1"
        assert ids(index, "axoltol", "or") == []
