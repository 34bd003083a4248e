"""The check of a sentence against what it cites: only what must come out one way."""

import json
import time
import unicodedata

import pytest

from generator.answers.answer import cited_passages
from generator.checking.numbers.labels import phrase_labels, sentence_labels
from generator.checking.sentence_check import Reason, check_sentence
from generator.checking.statements.substances import drugs
from generator.checking.text.clauses import read_text
from generator.checking.text.quantities import quantities
from indexer.corpora.chunking import split_sentences
from tests.generator.claims import ACROSS, WITHIN
from tests.generator.sample_index import passage
from tests.indexer.made_corpora import ROOT

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
    assert cited_passages(("C", "A", "X"), [first, second, third]) == [first, third]


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
        ("0 and a half hours", "half an hour"),
        ("a year and a half", "18 months"),
        ("구십구 퍼센트", "99%"),
        ("삼백 명씩", "300 people"),
        ("이천 명", "2,000명"),
        ("이천 원짜리", "2,000원"),
        ("천만 명", "10 million people"),
        ("십만 원", "100,000 won"),
        ("이조 원", "2조 원"),
        ("사천 건", "4천 건"),
        ("삼천 톤급", "3,000 t"),
        ("백오십 킬로와트", "150 kW"),
        ("만 년 전에", "10,000년 전"),
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


@pytest.mark.parametrize(
    "written",
    [
        *"구조 분석|구조 개선|구조 해석|구조개혁|구조대|구조도|구조주의|구조 회복|구조 시간".split("|"),
        *"일조 시간|일조시간|일조권|사조 분류|조 원장|오만 가지|일만 해도|천이 시간|공천 명단".split("|"),
        *"사천 대지진|사천 주민|사천 해전|사천도|이천 도자기|이천 주민|이천 회의에서".split("|"),
        *"삼백초|백일해|팔만대장경".split("|"),
    ],
)
def test_a_korean_word_that_begins_like_a_number_in_words_is_none(written):
    assert quantities(written) == []


def test_a_word_that_begins_like_a_number_in_words_does_not_speak_against_its_sentence(sample):
    source = "Structural analysis showed that thermal runaway was delayed."
    assert check(sample, "구조 분석 결과 열폭주가 늦어졌다.", source) == "supported"


@pytest.mark.parametrize("written", ["이레네", "하루키", "보름달", "열하루"])
def test_a_word_that_begins_or_ends_like_a_number_of_days_is_none(written):
    assert quantities(written) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Trout ate 5 mg of krill.", {"trout", "at", "krill"}),
        ("송어는 크릴 5킬로그램을 먹었다.", {"송어", "크릴", "먹"}),
    ],
    ids=["English", "Korean"],
)
def test_the_unit_of_a_number_is_none_of_the_words_beside_it(sample, text, words):
    read = read_text(text, sample.analyzer)
    (place,), (label,) = phrase_labels(read), sentence_labels(read)
    assert place.words == words
    assert label.words == words - {"먹"}  # what is said of all numbers


@pytest.mark.parametrize(
    ("sentence", "source", "lang"),
    [
        ("The cholesterol of mice fell by 5 %.", "쥐의 콜레스테롤이 5 % 감소하였다.", "ko"),
        ("The phytosterols of mice fell by 5 %.", "쥐의 식물스테롤이 5 % 감소하였다.", "ko"),
        ("The histidine of mice fell by 5 %.", "쥐의 아미노산이 5 % 감소하였다.", "ko"),
        ("케모카인이 5 % 감소하였다.", "Chemokines fell by 5 %.", "en"),
    ],
)
def test_a_biomolecule_that_ends_like_a_drug_is_none(sample, sentence, source, lang):
    assert check(sample, sentence, source, lang=lang) == "supported"


def test_a_person_that_ends_like_a_drug_is_none():
    assert drugs("아프리카인과 조카인 왕은 리도카인, 코카인") == ["리도카인", "코카인"]


@pytest.mark.parametrize(
    ("sentence", "source", "lang"),
    [
        ("리도카인이 5 % 감소하였다.", "Procaine fell by 5 %.", "en"),
        ("The salmeterol of mice fell by 5 %.", "쥐의 포르모테롤이 5 % 감소하였다.", "ko"),
    ],
)
def test_another_drug_is_unsupported(sample, sentence, source, lang):
    assert check(sample, sentence, source, lang=lang) == "unsupported"


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


@pytest.mark.slow
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
