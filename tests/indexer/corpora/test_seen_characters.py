"""Characters as they are compared."""

import pytest

from indexer.corpora.normal_forms import as_in_words, as_seen, normal_letters, numbers_in, words_in_order


@pytest.mark.parametrize(
    "character", "\u0000\u0001\u0085\u00ad\u0301\u0640\u1160\u200b\u2028\u2800\ufff9\U000e0041"
)
def test_characters_that_are_not_seen_are_dropped(character):
    assert as_seen(character) == as_in_words(character) == ""


@pytest.mark.parametrize(("character", "seen"), [("о", "o"), ("ν", "v"), ("é", "e"), ("й", "и"), ("٣", "3")])
def test_characters_that_look_alike_are_one(character, seen):
    assert as_seen(character) == seen


@pytest.mark.parametrize("character", ["μ", "논", "ß", "%", " ", "\n", "·"])
def test_others_stay(character):
    assert as_seen(character) == character


def test_words_are_compared_in_one_case_without_signs():
    assert words_in_order("Me\u200bthane, 24 PLOTS_of CO2\nｙ") == (
        "methane",
        "24",
        "plots",
        "of",
        "co2",
        "y",
    )


def test_letters_are_compared_without_borders_and_digits():
    assert normal_letters("Met·hane, 2 4 of CO2!") == "methaneofco"


def test_numbers_are_compared_with_the_beginning_of_the_next_word():
    assert numbers_in("24 plots, 37%. Then 3.5 cm\u00b2") == {
        ("24", "pl"),
        ("37", ""),
        ("3.5", "cm"),
        ("2", ""),
    }


def test_ascii_texts_are_compared_like_others():
    text = "A\u0001bc (d_e) 12%\tF-g\u007f."

    assert words_in_order(text) == words_in_order(f"{text} 가")[:-1] == ("abc", "d", "e", "12", "f", "g")
