"""Markdown in the text of a model."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.answers.answer import without_markup


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("- Methane fell by 37%.", "Methane fell by 37%."),
        ("* • **Methane** fell.", "Methane fell."),
        ("### The result", "The result"),
        ("**메탄**은 *37%* 줄었다.", "메탄은 37% 줄었다."),
        ("It (**not** rice) is ***dry***.", "It (not rice) is dry."),
    ],
)
def test_bullets_headings_and_emphasis_are_removed(written, read):
    assert without_markup(written) == read


@pytest.mark.parametrize(
    "text",
    [
        "-30 ℃ is cold.",
        "SARS-CoV-2 spreads 5 - 6 days.",
        "A* and B* search, C*-algebras.",
        "3 * 4 * 5 is 60.",
        "-",
        "#1 of 3",
    ],
)
def test_hyphens_minus_signs_and_lone_asterisks_stay(text):
    assert without_markup(text) == text


@given(st.text(alphabet="*_- #a가", max_size=40))
def test_nothing_but_marks_and_spaces_is_lost(text):
    assert [each for each in without_markup(text) if each not in "*_- #"] == [
        each for each in text if each not in "*_- #"
    ]
