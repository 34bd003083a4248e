"""Formulas and names that are one term although the analysis splits them."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.analysis import make_analyzer
from retriever.question.compounds import companion_patterns, compounds
from tests.counted_reads import CountedReads
from tests.retriever.order.by_hand import together

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


ANALYZER = make_analyzer("bilingual")


@pytest.mark.parametrize(
    ("text", "patterns"),
    [
        ("항생제의 내성", {"제": "항생 제"}),  # a suffix behind its word
        ("비선형 회귀", {"비": "비 선형"}),  # a prefix before its word
        ("회귀의 추정", {}),
        ("논의 물", {}),  # a syllable that is a word
        ("항생제와 제 의견", {}),  # it is a word too
        ("graph theory", {}),
        ("", {}),
    ],
)
def test_a_syllable_within_a_word_matches_beside_its_neighbour(text, patterns):
    found = companion_patterns(ANALYZER.tagged_tokens(text))

    assert found == {token: together(pattern) for token, pattern in patterns.items()}


def test_the_first_neighbour_in_the_question_decides():
    tagged = [(("항생", 0, 0, 2), "NNG"), (("제", 1, 2, 3), "XSN"), (("소화", 2, 4, 6), "NNG")]
    tagged += [(("제", 3, 6, 7), "XSN")]

    assert companion_patterns(tagged) == {"제": together("항생 제")}


def test_a_compound_beside_its_parts_is_no_neighbour():
    tagged = [(("공", 0, 0, 1), "NNG"), (("공기업", 0, 0, 3), "NNG"), (("기업", 1, 1, 3), "NNG")]

    assert companion_patterns(tagged) == {}


@pytest.mark.parametrize(
    ("text", "patterns"),
    [
        ("reduction of CO2", {"co": "co 2", "2": "co 2"}),
        ("covid-19 vaccines", {"19": "covid 19"}),  # a longer word matches alone
        ("코로나19 백신", {"19": "코로나 19"}),
        ("covid-19 in 19 countries", {}),  # the number is a word too
        ("5km of road", {}),  # a quantity
    ],
)
def test_the_number_of_a_name_matches_within_the_name(text, patterns):
    tagged = ANALYZER.tagged_tokens(text)

    found = companion_patterns(tagged, compounds(text, [token for token, _ in tagged]))

    assert found == {token: together(pattern) for token, pattern in patterns.items()}
