"""The check of a sentence against what it cites: only what must come out one way."""

import unicodedata

import pytest

from generator.citations import check_sentence, cited, numbers
from tests.generator.sample_index import passage

pytest_plugins = ["tests.generator.sample_index"]

ENGLISH = "Aerogel sheets of 2 mm delayed thermal runaway between NMC811 cells by 1,046 seconds."
KOREAN = (
    "신규 간호사 212명을 조사한 결과 회복탄력성이 높을수록 이직 의도가 18.5% 낮았으며 LPA로 유형을 나누었다."
)


def check(sample, sentence, *texts, lang="en"):
    """Check a sentence against passages of these texts."""
    # The index remembers the tokens of a passage_id: each text has its own.
    return check_sentence(sentence, [passage(text, text, lang=lang) for text in texts], sample).check


@pytest.mark.parametrize(("sentence", "lang"), [(ENGLISH, "en"), (KOREAN, "ko")], ids=["English", "Korean"])
def test_the_words_of_the_passage_are_supported(sample, sentence, lang):
    assert check(sample, sentence, sentence, lang=lang) == "supported"


@pytest.mark.parametrize(("sentence", "lang"), [(ENGLISH, "en"), (KOREAN, "ko")], ids=["English", "Korean"])
def test_a_sentence_without_citation_is_unsupported(sample, sentence, lang):
    assert check(sample, sentence) == "unsupported"


@pytest.mark.parametrize(
    ("right", "wrong", "text", "lang"),
    [("1,046", "1,064", ENGLISH, "en"), ("18.5", "15.8", KOREAN, "ko"), ("212", "221", KOREAN, "ko")],
)
def test_a_wrong_number_is_unsupported(sample, right, wrong, text, lang):
    assert check(sample, text.replace(right, wrong), text, lang=lang) == "unsupported"


def test_a_number_may_be_written_without_its_comma(sample):
    assert check(sample, ENGLISH.replace("1,046", "1046"), ENGLISH) == "supported"


@pytest.mark.parametrize(
    ("right", "wrong", "text", "lang"), [("NMC811", "LFP", ENGLISH, "en"), ("LPA", "SEM", KOREAN, "ko")]
)
def test_an_abbreviation_that_the_passage_does_not_hold_is_unsupported(sample, right, wrong, text, lang):
    assert check(sample, text.replace(right, wrong), text, lang=lang) == "unsupported"


def test_what_only_another_passage_says_is_unsupported(sample):
    sentence = "Drip irrigation raised the yield of pears in dry orchards."
    assert check(sample, sentence, ENGLISH) == "unsupported"


def test_any_of_the_cited_passages_may_hold_a_part(sample):
    sentence = "Thermal runaway was delayed by 1,046 seconds with aerogel and by 360 seconds with mica."
    other = "Mica plates delayed thermal runaway between cells by 360 seconds."
    assert check(sample, sentence, ENGLISH) == "unsupported"
    assert check(sample, sentence, ENGLISH, other) == "supported"


def test_decomposed_hangul_is_read_as_composed(sample):
    text = "신규 간호사의 이직 의도"
    decomposed = unicodedata.normalize("NFD", text)
    assert decomposed != text
    assert check(sample, decomposed, text, lang="ko") == "supported"


# Across languages, with the glossary of the sample, which pairs 회복탄력성 and resilience


def test_a_glossary_pair_and_the_same_number_support_across_languages(sample):
    source = "Resilience of newly hired nurses lowered turnover intention by 18.5%."
    sentence = "회복탄력성이 이직 의도를 18.5% 낮추었다."
    assert check(sample, sentence, source) == "supported"


def test_a_wrong_number_is_unsupported_across_languages(sample):
    source = "Resilience of newly hired nurses lowered turnover intention by 18.5%."
    sentence = "회복탄력성이 이직 의도를 81.5% 낮추었다."
    assert check(sample, sentence, source) == "unsupported"


def test_glossary_words_that_the_passage_does_not_hold_are_unsupported(sample):
    source = "Pear orchards need water in dry years."
    assert check(sample, "회복탄력성이 낮다.", source) == "unsupported"


def test_across_languages_without_number_name_or_glossary_word_nothing_can_be_checked(sample):
    assert check(sample, "그렇게 하는 것이 좋다.", "That is how it should be.") == "not checkable"


def test_a_sentence_without_words_cannot_be_checked(sample):
    assert check(sample, "…", ENGLISH) == "not checkable"


def test_cited_takes_the_passages_in_the_order_of_the_evidence():
    first, second, third = (passage(name, name) for name in ("A", "B", "C"))
    assert cited(("C", "A", "X"), [first, second, third]) == [first, third]


@pytest.mark.parametrize("written", ["총1,046건", "총 1,046건", "1046 cases", "1,046.0"])
def test_a_number_is_read_alike_however_it_is_written(written):
    assert numbers(written) == {"1046"}


def test_a_number_without_a_leading_zero_is_the_same_number():
    assert numbers("p < .05") == numbers("p < 0.05") == {"0.05"}


def test_a_name_inside_another_word_does_not_count(sample):
    sentence = "AI delayed thermal runaway between cells."
    assert check(sample, sentence, "They said it delayed thermal runaway between cells.") == "unsupported"


def test_the_plural_of_an_abbreviation_is_its_singular(sample):
    sentence = "LLMs delayed thermal runaway between cells."
    assert check(sample, sentence, "An LLM delayed thermal runaway between cells.") == "supported"
