"""Formulas and names that are one term although the analysis splits them."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.analysis import make_analyzer
from retriever.question.compounds import compounds
from tests.counted_reads import CountedReads

BILINGUAL = make_analyzer("bilingual")
MIXED = make_analyzer("bilingual", "mixed")


def rows(text, analyzer=BILINGUAL):
    tokens = analyzer.analyze(text)
    return [[token[0] for token in tokens[first : last + 1]] for first, last in compounds(text, tokens)]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("CO2 배출", ["co", "2"]),
        ("CO2배출량", ["co", "2"]),
        ("H2O", ["h", "2", "o"]),
        ("PM2.5 농도", ["pm", "2", "5"]),
        ("LiFePO4 cathodes", ["lifepo", "4"]),
        ("covid-19 vaccines", ["covid", "19"]),
        ("SARS-CoV-2", ["sar", "cov", "2"]),
        ("GPT-3.5", ["gpt", "3", "5"]),
        ("비타민 B12", ["b", "12"]),
        ("IL-6", ["il", "6"]),
        ("5-HT", ["5", "ht"]),
        ("H1N1", ["h", "1", "n", "1"]),
        ("Ca2+ channels", ["ca", "2"]),
        ("5G 통신", ["5", "g"]),
        ("3D printing", ["3", "d"]),
        ("2-deoxyglucose", ["2", "deoxyglucos"]),
        ("X-ray", ["x", "rai"]),
        ("X선 사진", ["x", "선"]),
        ("T세포", ["t", "세포"]),
        ("TNF-α", ["tnf", "α"]),
        ("코로나19의 영향", ["코로나", "19"]),
        ("in the U.S.A", ["u", "s"]),
    ],
)
def test_a_term_of_several_tokens(text, tokens):
    assert rows(text) == [tokens]


@pytest.mark.parametrize(
    "text",
    [
        "5km 20kg 30kW 10-20mg",
        "20년 30% 2.5배",
        "최근5년간",
        "the 1990s and the 3rd",
        "an 18-year-old, a 10-fold and a 3-dimensional",
        "real-time state-of-the-art",
        "제2형 당뇨병",
        "2019-2021",
        "A는 B를 본다",
        "the end.The next",
        "ISO 9001",
        "Na+ ions",
        "",
    ],
)
def test_what_is_no_term_of_several_tokens(text):
    assert rows(text) == []


def test_places_of_the_first_and_last_token():
    text = "CO2와 PM2.5"
    tokens = BILINGUAL.analyze(text)
    assert [token[0] for token in tokens] == ["co", "2", "pm", "2", "5"]
    assert compounds(text, tokens) == [(0, 1), (2, 4)]


def test_tokens_on_one_place_are_no_row():
    assert rows("코로나19", MIXED) == [["코로나", "19"]]
    assert rows("가곡역", MIXED) == []


def test_a_formula_in_subscripts_is_one_token_already():
    assert rows("CO₂ 배출") == []


@pytest.mark.parametrize("word", ["CO2 ", "코로나19 ", "X선 "])
def test_the_tokens_of_many_terms_are_read_a_few_times_each(word):
    text = 500 * word
    tokens = CountedReads(BILINGUAL.analyze(text))
    assert len(compounds(text, tokens)) == 500
    assert tokens.reads <= 10 * len(tokens)


@given(st.text(st.sampled_from("CO2₂.-5GXαkm 선년19ab가나+"), max_size=30))
def test_rows_are_in_order_and_within_the_tokens(text):
    tokens = BILINGUAL.analyze(text)
    found = compounds(text, tokens)
    assert all(0 <= first < last < len(tokens) for first, last in found)
    assert all(one[1] < two[0] for one, two in pairwise(found))
