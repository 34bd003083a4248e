"""The check of a sentence against what it cites: only what must come out one way."""

import json
import time
import unicodedata

import pytest

from generator.checking.quantities import quantities
from generator.citations import Reason, check_sentence, cited
from indexer.chunking import split_sentences
from tests.generator.claims import ACROSS, WITHIN
from tests.generator.sample_index import passage
from tests.indexer.corpora import ROOT

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


METHANE = "In a trial with dairy cows in the north, methane emissions fell by {}."


@pytest.mark.parametrize(
    ("own", "said", "expected"),
    [
        ("9e999999999 g", "9e999999998 g", "unsupported"),
        ("1" + 40 * "0" + "1 g", "1" + 40 * "0" + "2 g", "unsupported"),
        ("-5 degrees", "5 degrees", "unsupported"),
        ("5 degrees", "-5 degrees", "supported"),  # a fall by it
        ("minus 5 degrees", "−5 degrees", "supported"),
        ("2-5 g", "2–5 g", "supported"),
        ("35 %p", "35 %", "unsupported"),
        ("35 %포인트", "35 percentage points", "supported"),
        ("1.2.3 g", "1.2 g", "unsupported"),
        ("1.2.3 g", "1.2.3 g", "supported"),
        ("조조조조 원", "1조 원", "unsupported"),
        ("천만 원", "1,000만 원", "supported"),
        ("12 months", "a year", "supported"),
        ("one hundred and five g", "105 g", "supported"),
        ("two thousand and six million g", "2,000 and 6 million g", "supported"),
        (
            "nine hundred ninety-nine thousand nine hundred ninety-nine g",
            "999,999 g",
            "supported",
        ),
    ],
)
def test_a_number_is_the_same_however_it_is_written(sample, own, said, expected):
    assert check(sample, METHANE.format(own), METHANE.format(said)) == expected


@pytest.mark.parametrize("words", ["1 ", "Methane not ", "a", "7"])
def test_of_a_long_sentence_the_beginning_is_compared_and_the_rest_not_called_supported(sample, words):
    text = words * (120_000 // len(words))
    began = time.process_time()

    assert check(sample, text, text) in {"not checkable", "unsupported"}

    assert time.process_time() - began < 10  # linear: a tenth of it


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
    (quantity,) = quantities(written)
    assert quantity.value == 1046


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("p < .05", "p < 0.05"),
        ("9만 4천 쌍", "94,000 pairs"),
        ("3천억 원", "300 billion won"),
        ("thirty-six residents", "36명"),
        ("열두 분야", "twelve fields"),
        ("12월", "December"),
        ("3분의 2", "two thirds"),
        ("절반", "50%"),
        ("두 배", "twice"),
        ("1 year", "12개월"),
        ("0.005 g", "5 mg"),
        ("90분", "1.5 hours"),
        ("98.1퍼센트", "98.1 percent"),
        ("4.6 cm³", "4.6 cm3"),
        ("3.1 μg/m³", "3.1 µg/m³"),  # the Greek letter and the sign
        ("about 52 people", "51명"),
        ("이레 동안", "7 days"),
        ("3분이었다", "3 minutes"),
        ("6도에서는", "6 °C"),
        ("5주 이상", "5주이상의"),
    ],
)
def test_quantities_that_are_the_same(one, other):
    (first,), (second,) = quantities(one), quantities(other)
    assert first.same_as(second)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("5 mg", "5 g"),
        ("12 months", "12 days"),
        ("3천 원", "3만 원"),
        ("2.8 °C", "2.8%"),
        ("4.6 cm", "4.6 cm³"),
        ("여섯 달", "6 weeks"),
        ("52 people", "51명"),
    ],
)
def test_quantities_that_differ(one, other):
    (first,), (second,) = quantities(one), quantities(other)
    assert not first.same_as(second)


@pytest.mark.parametrize("written", ["6 도시", "3 분야", "5 주민", "2 원인", "2 분기"])
def test_a_word_that_begins_like_a_unit_is_none(written):
    (quantity,) = quantities(written)
    assert quantity.unit is None


@pytest.mark.parametrize("written", ["이레네", "하루키", "보름달", "열하루"])
def test_a_word_that_begins_or_ends_like_a_number_of_days_is_none(written):
    assert quantities(written) == []


def finding(sample, sentence, claims):
    return check_sentence(sentence, [passage(claims.passage, claims.passage, lang=claims.lang)], sample)


@pytest.mark.parametrize("claims", [*WITHIN, *ACROSS], ids=lambda claims: claims.wrong)
def test_what_the_passage_does_not_say_is_unsupported_with_its_sign(sample, claims):
    found = finding(sample, claims.wrong, claims)
    assert found.check == "unsupported"
    assert claims.sign in {reason.sign for reason in found.reasons}


@pytest.mark.parametrize("claims", [*WITHIN, *ACROSS], ids=lambda claims: claims.right)
def test_what_the_passage_says_in_other_words_is_supported(sample, claims):
    assert finding(sample, claims.right, claims).check == "supported"


def test_the_reason_names_the_words_that_differ(sample):
    text = "Trout were fed 5 mg of spirulina in Oslo."
    found = check_sentence("Trout were fed 5 g of spirulina in Bergen.", [passage("trout", text)], sample)
    assert found.reasons == (Reason("unit", "5 g"), Reason("name", "Bergen"))


def test_every_sentence_of_the_sample_is_supported_by_its_own_abstract(sample):
    """Nothing that the signs read of a text may speak against that text itself."""
    wrong = []
    for line in (ROOT / "sample" / "papers.jsonl").read_text(encoding="utf-8").splitlines():
        paper = json.loads(line)
        abstract = paper.get("abstract", "")
        held = [passage(paper["id"], abstract, lang=paper["lang"], title=paper["title"])]
        for start, end in split_sentences(abstract):
            found = check_sentence(abstract[start:end], held, sample)
            if found.check == "unsupported":
                wrong.append((abstract[start:end], found.reasons))
    assert wrong == []


def test_a_name_inside_another_word_does_not_count(sample):
    sentence = "AI delayed thermal runaway between cells."
    assert check(sample, sentence, "They said it delayed thermal runaway between cells.") == "unsupported"


def test_the_plural_of_an_abbreviation_is_its_singular(sample):
    sentence = "LLMs delayed thermal runaway between cells."
    assert check(sample, sentence, "An LLM delayed thermal runaway between cells.") == "supported"
