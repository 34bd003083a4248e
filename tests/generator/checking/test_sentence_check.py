"""Supported, unsupported or not checkable: sentences against the passages that they cite."""

import time
import unicodedata

import pytest

from generator.checking.sentence_check import check_sentence
from tests.generator.sample_index import passage

pytest_plugins = ["tests.generator.sample_index"]

ENGLISH = "Aerogel sheets of 2 mm delayed thermal runaway between NMC811 cells by 1,046 seconds."
KOREAN = (
    "신규 간호사 212명을 조사한 결과 회복탄력성이 높을수록 이직 의도가 18.5% 낮았으며 LPA로 유형을 나누었다."
)
METHANE = "In a trial with dairy cows in the north, methane emissions fell by {}."
RESILIENCE = "Resilience of newly hired nurses lowered turnover intention by 18.5%."
BOTH = "Thermal runaway was delayed by 1,046 seconds with aerogel and by 360 seconds with mica."
MICA = "Mica plates delayed thermal runaway between cells by 360 seconds."
RUNAWAY = "{} delayed thermal runaway between cells."


def check(sample, sentence, *texts):
    """Check a sentence against passages of these texts."""
    # The index remembers the tokens of a passage_id: each text has its own.
    passages = [
        passage(text, text, lang="ko" if any("가" <= letter <= "힣" for letter in text) else "en")
        for text in texts
    ]
    return check_sentence(sentence, passages, sample).check


@pytest.mark.parametrize(
    ("expected", "sentence", "passages"),
    [
        ("supported", ENGLISH, [ENGLISH]),
        ("supported", KOREAN, [KOREAN]),
        ("supported", unicodedata.normalize("NFD", "신규 간호사의 이직 의도"), ["신규 간호사의 이직 의도"]),
        ("unsupported", ENGLISH, []),
        ("unsupported", KOREAN, []),
        ("not checkable", "…", [ENGLISH]),
        # Words of another passage
        ("unsupported", "Drip irrigation raised the yield of pears in dry orchards.", [ENGLISH]),
        ("unsupported", BOTH, [ENGLISH]),
        ("supported", BOTH, [ENGLISH, MICA]),
        # Numbers
        ("unsupported", ENGLISH.replace("1,046", "1,064"), [ENGLISH]),
        ("supported", ENGLISH.replace("1,046", "1046"), [ENGLISH]),
        ("unsupported", KOREAN.replace("18.5", "15.8"), [KOREAN]),
        ("unsupported", KOREAN.replace("212", "221"), [KOREAN]),
        # Abbreviations
        ("unsupported", ENGLISH.replace("NMC811", "LFP"), [ENGLISH]),
        ("unsupported", KOREAN.replace("LPA", "SEM"), [KOREAN]),
        ("unsupported", RUNAWAY.format("AI"), [RUNAWAY.format("They said it")]),
        ("supported", RUNAWAY.format("LLMs"), [RUNAWAY.format("An LLM")]),
        # Across languages; the glossary of the sample pairs 회복탄력성 and resilience
        ("supported", "회복탄력성이 이직 의도를 18.5% 낮추었다.", [RESILIENCE]),
        ("unsupported", "회복탄력성이 이직 의도를 81.5% 낮추었다.", [RESILIENCE]),
        ("unsupported", "회복탄력성이 낮다.", ["Pear orchards need water in dry years."]),
        ("not checkable", "그렇게 하는 것이 좋다.", ["That is how it should be."]),
        (
            "supported",
            "구조 분석 결과 열폭주가 늦어졌다.",
            ["Structural analysis showed that thermal runaway was delayed."],
        ),
        # Biomolecules with the ending of a drug, and other drugs
        ("supported", "The cholesterol of mice fell by 5 %.", ["쥐의 콜레스테롤이 5 % 감소하였다."]),
        ("supported", "The phytosterols of mice fell by 5 %.", ["쥐의 식물스테롤이 5 % 감소하였다."]),
        ("supported", "The histidine of mice fell by 5 %.", ["쥐의 아미노산이 5 % 감소하였다."]),
        ("supported", "케모카인이 5 % 감소하였다.", ["Chemokines fell by 5 %."]),
        ("unsupported", "리도카인이 5 % 감소하였다.", ["Procaine fell by 5 %."]),
        ("unsupported", "The salmeterol of mice fell by 5 %.", ["쥐의 포르모테롤이 5 % 감소하였다."]),
    ],
)
def test_a_sentence_against_its_passages(sample, expected, sentence, passages):
    assert check(sample, sentence, *passages) == expected


@pytest.mark.parametrize(
    ("own", "stated", "expected"),
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
        ("nine hundred ninety-nine thousand nine hundred ninety-nine g", "999,999 g", "supported"),
    ],
)
def test_forms_of_a_number(sample, own, stated, expected):
    passages = [passage(stated, METHANE.format(stated))]
    assert check_sentence(METHANE.format(own), passages, sample).check == expected


@pytest.mark.parametrize("words", ["1 ", "Methane not ", "a", "7"])
def test_a_long_sentence_is_compared_up_to_a_limit_and_never_supported(sample, words):
    text = words * (120_000 // len(words))
    began = time.process_time()

    assert check(sample, text, text) in {"not checkable", "unsupported"}

    assert time.process_time() - began < 10  # linear: a tenth of it
