"""Tokens of a question that match only beside the token that they belong to."""

import pytest

from indexer.analysis import make_analyzer
from retriever.question.companions import companion_patterns
from retriever.question.compounds import compounds
from tests.retriever.order.by_hand import together

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
